/** The settings file: TOML, with every section and key checked against the table. */
import * as Result from "effect/Result"
import { parse } from "effect/encoding/Toml"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { closest } from "./closest.ts"
import type { SettingProblem } from "./errors.ts"
import { allSettings, locationSettings, sections } from "./table.ts"

export const defaultFile = join("config", "sluice.toml")

type Table = Readonly<Record<string, unknown>>

export interface SettingsFile {
  readonly name: string
  /** By section, without unknown sections. */
  readonly sections: Readonly<Record<string, Table>>
  readonly locations: ReadonlyArray<Table>
}

export interface ReadFile {
  readonly file: SettingsFile
  readonly problems: ReadonlyArray<SettingProblem>
}

/** Reads the named file, or the default file, which may be absent. */
export const readFile = (named: string | undefined): ReadFile => {
  const name = named ?? defaultFile
  const nothing = { name, sections: {}, locations: [] }
  const failed = (problem: SettingProblem): ReadFile => ({ file: nothing, problems: [problem] })
  if (!existsSync(name))
    return named === undefined ? { file: nothing, problems: [] } : failed({ _tag: "FileNotFound", file: name })
  let content: string
  try {
    content = readFileSync(name, "utf8")
  } catch (cause) {
    return failed({ _tag: "FileUnreadable", file: name, cause: cause instanceof Error ? cause.message : String(cause) })
  }
  const parsed = parse(content)
  return Result.isFailure(parsed)
    ? failed({ _tag: "InvalidToml", file: name, message: withoutValue(parsed.failure.message) })
    : checkedNames(name, parsed.success)
}

/** Removes the value from a message: it may be a token without quotes. */
const withoutValue = (message: string): string =>
  message.replace(/^(Invalid value|Invalid date-time|Integer out of range) '.*'/s, "$1, or a text without quotes,")

const checkedNames = (file: string, content: Table): ReadFile => {
  const problems: Array<SettingProblem> = []
  const unknown = (path: string, names: Iterable<string>) => {
    const name = closest(path, names)
    problems.push({ _tag: "UnknownSetting", file, path, ...(name !== undefined && { closest: name }) })
  }
  // The value is not shown, because it may contain secrets.
  const misshapen = (path: string, expected: string) =>
    problems.push({ _tag: "WrongValue", path, source: file, expected })

  const known: Record<string, Table> = {}
  for (const [section, values] of Object.entries(content)) {
    if (section === "locations") continue
    if (!Object.hasOwn(sections, section)) unknown(section, [...Object.keys(sections), "locations"])
    else if (!isTable(values)) misshapen(section, `a section, [${section}]`)
    else {
      known[section] = values
      for (const key of Object.keys(values))
        if (!allSettings.some((setting) => setting.section === section && setting.key === key))
          unknown(
            `${section}.${key}`,
            allSettings.map(({ path }) => path)
          )
    }
  }

  const listed = content["locations"] ?? []
  const locations = Array.isArray(listed) ? listed.filter(isTable) : []
  if (!Array.isArray(listed) || locations.length < listed.length)
    misshapen("locations", "[[locations]], once for each location")
  for (const [index, location] of locations.entries()) {
    const place = `locations[${index}]`
    for (const key of Object.keys(location))
      if (!Object.hasOwn(locationSettings, key))
        unknown(
          `${place}.${key}`,
          Object.keys(locationSettings).map((name) => `${place}.${name}`)
        )
  }
  return { file: { name: file, sections: known, locations }, problems }
}

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)
