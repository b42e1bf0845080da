/** What the service, a bucket, a manifest or a stranger names becomes a path only by the functions for it, and removals have one place. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { sourceTexts } from "./support/source-text.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
/** The place of removals with all content. */
const removing = "src/output/remove.ts"

/** How the program calls what others have named. */
const received =
  /(?<![\w.]|\bthis\.)(?:\w+\.)*(id|ids|contact|contactId|conversation|conversationId|location|locationId|message|messageId|person|subject|user|record|key|object|chunk|title|email|phone)\b(?!\()/
/** What makes names of it. */
const safe = /\b(fileNameOf|fileNamesOf|checksumOf|hash|createHash|contentHash)\(/

interface Call {
  readonly of: string
  readonly text: string
  readonly line: number
  /** Whether the first argument is put together. */
  readonly isMade: boolean
}

/** The calls of functions, with their arguments; strings have no content then, and only the expressions in templates stay. */
const callsIn = (source: string, functions: string): ReadonlyArray<Call> =>
  Array.from(source.matchAll(new RegExp(`(?<![.\\w])(${functions})\\(`, "g")), ({ index, 0: begin, 1: of }) => {
    let depth = 1
    let end = index + begin.length
    for (; depth > 0 && end < source.length; end++) depth += source[end] === "(" ? 1 : source[end] === ")" ? -1 : 0
    const sent = source.slice(index + begin.length, end - 1)
    const text = sent
      .replaceAll(/"[^"\n]*"|'[^'\n]*'/g, '""')
      .replaceAll(/`[^`]*`/g, (template) =>
        Array.from(template.matchAll(/\$\{([^}]*)\}/g), ([, one]) => one).join(" , ")
      )
    const isMade = /^\s*(`[^`]*\$\{|[^,]* \+ )/.test(sent)
    return { of: of!, text, isMade, line: source.slice(0, index).split("\n").length }
  })

/** Paths that are put together without `join`, as the first argument of what opens, writes or moves files. */
const putTogether = (code: string): ReadonlyArray<Call> =>
  callsIn(
    code,
    "open|openSync|write|writeFile|writeFileSync|writeDurably|writeAtomically|readFile|readFileSync|mkdir|rename|copyFile|symlink|onDisk|removeBelow"
  ).flatMap(({ isMade, text, ...call }) => (isMade ? [{ ...call, isMade, text: text.split(",")[0]! }] : []))

const withoutComments = (source: string): string =>
  sourceTexts(source)
    .filter(({ text }) => /^\/[/*]/.test(text))
    .reduce((code, { text }) => code.replace(text, () => text.replaceAll(/[^\n]/g, "")), source)

const problemsIn = (path: string, source: string): ReadonlyArray<string> => {
  const code = withoutComments(source)
  const removals = path === removing ? [] : callsIn(code, "rm|rmSync|rmdir|rmdirSync|unlink|unlinkSync")
  return [
    ...removals.flatMap(({ line, of, text }) =>
      /recursive|join\(|resolve\(|rmdir/.test(of + text) ? [`${path}:${line}: ${of}: use removeBelow`] : []
    ),
    ...[...callsIn(code, "join|resolve|new URL"), ...putTogether(code)].flatMap(({ line, of, text }) => {
      const found = safe.test(text) ? null : received.exec(text)
      return found ? [`${path}:${line}: ${of}: ${found[0]}: use fileNameOf`] : []
    })
  ]
}

describe("a name that others have chosen", () => {
  it("becomes a path by one function, and what is removed with its content is removed by one", () => {
    const files = globSync("src/**/*.ts", { cwd: root })
    assert.isAbove(files.length, 300)
    assert.deepStrictEqual(
      files.flatMap((path) => problemsIn(path, readFileSync(`${root}/${path}`, "utf8"))),
      []
    )
  })

  it.each([
    ["await rm(join(exports, name), { force: true })", "a.ts:1: rm: use removeBelow"],
    ["await rm(path, { recursive: true, force: true })", "a.ts:1: rm: use removeBelow"],
    ["rmSync(\n  path,\n  { recursive: true }\n)", "a.ts:1: rmSync: use removeBelow"],
    ["const path =\n  join(paths.exports, `subject-${contact.id}`)", "a.ts:2: join: contact.id: use fileNameOf"],
    ["resolve(folder, row.location)", "a.ts:1: resolve: row.location: use fileNameOf"],
    ['glob("/*"); join(folder, contact.id) /* x */', "a.ts:1: join: contact.id: use fileNameOf"],
    ["write(`conversations/${conversation.id}.html`, text)", "a.ts:1: write: conversation.id: use fileNameOf"],
    ['open(folder + "/" + location, "w")', "a.ts:1: open: location: use fileNameOf"],
    ["new URL(`${root}/${object}`)", "a.ts:1: new URL: object: use fileNameOf"]
  ])("is reported in %s", (source, problem) => {
    assert.deepStrictEqual(problemsIn("a.ts", source), [problem])
  })

  it.each([
    "await rm(path, { force: true })",
    "join(exports, `subject-${fileNameOf(contact.id)}`)",
    'join(folder, "location.json") // join(folder, contact.id)',
    "/* join(folder, contact.id) */",
    "writeFile(`${path}.part`, JSON.stringify(contact.id))"
  ])("is not reported in %s", (source) => {
    assert.deepStrictEqual(problemsIn("a.ts", source), [])
  })
})
