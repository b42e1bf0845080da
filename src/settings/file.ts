/** The settings file: TOML, with every section and key checked against the table. */
import * as Result from "effect/Result"
import { parse } from "effect/encoding/Toml"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { closest } from "./closest.ts"
import type { SettingProblem } from "./errors.ts"
import { type ListName, allSettings, listNames, listOf, placeOfItem, sections } from "./sections.ts"
import { wrong } from "../values/finding.ts"
import type { Section, Setting } from "../values/setting.ts"

export const defaultFile = join("config", "sluice.toml")

type Table = Readonly<Record<string, unknown>>

export interface SettingsFile {
  readonly name: string
  /** By section, without unknown sections. */
  readonly sections: Readonly<Record<string, Table>>
  readonly lists: Readonly<Record<ListName, ReadonlyArray<Table>>>
  /** The file with the line of a setting, such as `config/sluice.toml:3` for `account.base_url`. */
  readonly placeOf: (path: string) => string
}

export interface ReadFile {
  readonly file: SettingsFile
  readonly problems: ReadonlyArray<SettingProblem>
  /** One sentence for each setting of 1.0.0 that has no effect any more. */
  readonly outdated: ReadonlyArray<string>
}

/** Reads the named file, or the default file, which may be absent; with `null`, none. */
export const readFile = (named: string | null | undefined): ReadFile => {
  const name = named ?? defaultFile
  const file = { name, sections: {}, lists: listsOf(() => []), placeOf: () => name }
  const nothing: ReadFile = { file, problems: [], outdated: [] }
  const failed = (problem: SettingProblem): ReadFile => ({ ...nothing, problems: [problem] })
  if (named === null) return nothing
  if (!existsSync(name)) return named === undefined ? nothing : failed(wrong(name, { _tag: "FileNotFound" }))
  let content: string
  try {
    content = readFileSync(name, "utf8")
  } catch (cause) {
    return failed(
      wrong(name, { _tag: "FileUnreadable", cause: cause instanceof Error ? cause.message : String(cause) })
    )
  }
  const parsed = parse(content)
  return Result.isFailure(parsed)
    ? failed(invalidToml(name, parsed.failure.message))
    : checkedNames(name, parsed.success, (path) => {
        const line = lineOf(content, path.split(/\.|\[(\d+)\]\.?/).filter(Boolean))
        return line === undefined ? name : `${name}:${line}`
      })
}

const invalidToml = (name: string, message: string): SettingProblem => {
  const [, what = message, line, column] = /^(.*?),? at line (\d+), column (\d+)\.?$/s.exec(withoutValue(message)) ?? []
  return wrong(line === undefined ? name : `${name}:${line}:${column}`, { _tag: "InvalidToml", message: what })
}

/** Removes the value from a message: it may be a token without quotes. */
const withoutValue = (message: string): string =>
  message.replace(/^(Invalid value|Invalid date-time|Integer out of range) '.*'/s, "$1, or a text without quotes,")

const renamed: Readonly<Record<string, string>> = {
  "output.file_mb_max": "files.max_bytes",
  lake: "publish.lake"
}

/** Of 1.0.0, with what is so now. From 2.0.0 on, they are unknown. */
const removed: Readonly<Record<string, string>> = {
  "alarms.volume_nights": "a night is compared with the last 14",
  "alarms.volume_min_rows": "a difference of fewer than 50 rows is no alarm",
  "alarms.request_factor": "a sync may send three times the planned requests",
  "alarms.disk_days": "the warning comes 14 days before the disk is full",
  "alarms.token_days": "the warning comes 14 days before the token expires"
}

const checkedNames = (name: string, content: Table, placeOf: SettingsFile["placeOf"]): ReadFile => {
  const problems: Array<SettingProblem> = []
  const outdated: Array<string> = []
  const unknown = (path: string, names: ReadonlyArray<string>) => {
    // A right key in a wrong section is far from its right path.
    const key = path.split(".")[1]
    const near =
      renamed[path] ?? closest(path, names) ?? names.find((name) => key !== undefined && name.split(".")[1] === key)
    problems.push(wrong(placeOf(path), { _tag: "UnknownSetting", path, closest: near }))
  }
  // The value is not shown, because it may contain secrets.
  const misshapen = (path: string, expected: string) =>
    problems.push(wrong(placeOf(path), { _tag: "WrongValue", path, expected }))

  const folder = dirname(resolve(name))
  /** Of a section or an item of a list. `names`: the keys that a misspelt one may stand for. */
  const checkedValues = (place: string, values: Table, settings: Section, names: ReadonlyArray<string>): Table => {
    const isKnown = (key: string) => Object.hasOwn(settings, key)
    for (const key of Object.keys(values)) {
      const path = `${place}.${key}`
      const now = removed[path]
      if (now) outdated.push(`${placeOf(path)}: ${path} has no effect any more, and 2.0.0 refuses it: ${now}.`)
      else if (!isKnown(key)) unknown(path, names)
    }
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, placed(value, isKnown(key) ? settings[key]! : {}, folder)])
    )
  }
  const paths = allSettings.map(({ path }) => path)
  const known: Record<string, Table> = {}
  for (const [section, values] of Object.entries(content)) {
    if (listNames.some((list) => list === section)) continue
    if (!Object.hasOwn(sections, section)) unknown(section, [...Object.keys(sections), ...listNames])
    else if (!isTable(values)) misshapen(section, `a section, [${section}]`)
    else known[section] = checkedValues(section, values, sections[section as keyof typeof sections], paths)
  }

  const itemsOf = (list: ListName): ReadonlyArray<Table> => {
    const { isNamed, item, settings } = listOf(list)
    const sent = content[list] ?? []
    const listed = isNamed && isTable(sent) ? named(sent) : sent
    const items = Array.isArray(listed) ? listed.filter(isTable) : []
    if (!Array.isArray(listed) || items.length < listed.length)
      misshapen(list, `${isNamed ? `[${list}.NAME]` : `[[${list}]]`}, once for each ${item}`)
    return items.map((one, index) => {
      const { name } = one
      const place = placeOfItem(list, index, name)
      const own = Object.keys(settings).map((key) => `${place}.${key}`)
      // The name of a section is no setting in it.
      const values = isNamed ? (sent as Readonly<Record<string, Table>>)[String(name)]! : one
      return { ...checkedValues(place, values, settings, own), ...(isNamed && { name }) }
    })
  }
  return { file: { name, sections: known, lists: listsOf(itemsOf), placeOf }, problems, outdated }
}

/** Paths in the settings and in references to secrets are relative to the file, so that they do not depend on where a command is run. */
const placed = (value: unknown, { isPlace, secret }: Pick<Setting, "isPlace" | "secret">, folder: string): unknown => {
  if (typeof value !== "string" || value === "") return value
  if (secret && value.startsWith("file:")) return `file:${resolve(folder, value.slice("file:".length))}`
  // Addresses and other references begin with a name and a colon.
  return isPlace && !/^\w+:/.test(value) ? resolve(folder, value) : value
}

/** The sections of a list, each with its name. */
const named = (sections: Table): ReadonlyArray<unknown> =>
  Object.entries(sections).map(([name, one]) => (isTable(one) ? { ...one, name } : one))

const listsOf = (itemsOf: (list: ListName) => ReadonlyArray<Table>): SettingsFile["lists"] =>
  // The names are all of them.
  Object.fromEntries(listNames.map((list) => [list, itemsOf(list)])) as SettingsFile["lists"]

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)

/**
 * The line, from 1, that contains the setting with this path, such as `["account", "base_url"]` or `["locations", "0",
 * "id"]`; else the line of the inline table or the section around it.
 */
const lineOf = (content: string, path: ReadonlyArray<string>): number | undefined => {
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
  /** Of a section or of an item of a list. */
  readonly isHeader: boolean
}

/** A key at the beginning of a line: `key`, `section.key`, `"quoted key"`. */
const key = String.raw`(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')`
export const keyPattern = String.raw`${key}(?:\s*\.\s*${key})*`
const header = new RegExp(String.raw`^\s*(\[\[?)\s*(${keyPattern})\s*\]\]?\s*(?:#.*)?$`)
const assignment = new RegExp(String.raw`^\s*(${keyPattern})\s*=`)

/** The keys of a file in their order. */
export const keysOf = (content: string): ReadonlyArray<KeyLine> => {
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
      found.push({ keys: section, line, isHeader: true })
      continue
    }
    const [, path] = assignment.exec(text) ?? []
    if (path !== undefined) found.push({ keys: [...section, ...partsOf(path)], line, isHeader: false })
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
