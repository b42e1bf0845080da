/** Finds the lines of settings in a TOML file, which the parser does not report. The file must be valid TOML. */

/**
 * The line, from 1, that contains the setting with this path, such as `["account", "base_url"]` or `["locations", "0",
 * "id"]`; else the line of the inline table or the section around it.
 */
export const lineOf = (content: string, path: ReadonlyArray<string>): number | undefined => {
  let best: { readonly line: number; readonly length: number } | undefined
  for (const { keys, line } of keysOf(content)) {
    const common = commonLength(keys, path)
    // Keys of the same section are not the place of the setting, unless they contain it or it contains them.
    if (common < Math.min(keys.length, path.length)) continue
    if (common > (best?.length ?? 0)) best = { line, length: common }
  }
  return best?.line
}

interface KeyLine {
  readonly keys: ReadonlyArray<string>
  readonly line: number
}

/** A key at the beginning of a line: `key`, `section.key`, `"quoted key"`. */
const key = String.raw`(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')`
const keyPath = String.raw`${key}(?:\s*\.\s*${key})*`
const header = new RegExp(String.raw`^\s*(\[\[?)\s*(${keyPath})\s*\]\]?\s*(?:#.*)?$`)
const assignment = new RegExp(String.raw`^\s*(${keyPath})\s*=`)

const keysOf = (content: string): ReadonlyArray<KeyLine> => {
  const found: Array<KeyLine> = []
  const countByList = new Map<string, number>()
  let section: ReadonlyArray<string> = []
  for (const [index, text] of withoutLongTexts(content).split("\n").entries()) {
    const line = index + 1
    const [, bracket, name] = header.exec(text) ?? []
    if (name !== undefined) {
      section = partsOf(name)
      if (bracket === "[[") {
        const count = countByList.get(name) ?? 0
        countByList.set(name, count + 1)
        section = [...section, String(count)]
      }
      found.push({ keys: section, line })
      continue
    }
    const [, path] = assignment.exec(text) ?? []
    if (path !== undefined) found.push({ keys: [...section, ...partsOf(path)], line })
  }
  return found
}

/** Replaces the content of texts in three quotation marks, whose lines may look like settings. */
const withoutLongTexts = (content: string): string =>
  content.replaceAll(/"""[^]*?"""|'''[^]*?'''/g, (text) => text.replaceAll(/[^\n]/g, " "))

const partsOf = (path: string): ReadonlyArray<string> =>
  (path.match(new RegExp(key, "g")) ?? []).map((part) => part.replaceAll(/^["']|["']$/g, ""))

const commonLength = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): number => {
  const different = one.findIndex((part, index) => part !== other[index])
  return different < 0 ? one.length : different
}
