/** The value of every setting: a flag overrides the environment, which overrides the file, which overrides the default. */
import * as Schema from "effect/Schema"
import type { ProfileName } from "./profiles.ts"
import type { SettingProblem } from "./errors.ts"
import { type SettingsFile, readFile } from "./file.ts"
import { commaSeparated } from "./kinds.ts"
import type { FileFormat } from "./targets.ts"
import { isPlainSecret, shownSecret } from "./secrets.ts"
import { type ListName, listOf } from "./lists.ts"
import type { Setting, SettingFlags } from "./setting.ts"
import { type PlacedSetting, type SettingValues, allSettings, flagText } from "./table.ts"

export interface Flags extends SettingFlags {
  readonly config?: string | undefined
  /** Read no settings file, not even the default one. */
  readonly noFile?: true
}
export type Environment = Readonly<Record<string, string | undefined>>

/** One of several locations, as the file lists it. */
export interface ListedLocation {
  readonly id?: string
  readonly token?: string
  readonly company_id?: string
}

/** A folder to publish into, as the file lists it. What is missing or wrong is reported and absent. */
export interface ListedTarget {
  readonly name?: string
  readonly folder?: string
  readonly profile?: ProfileName
  readonly formats?: ReadonlyArray<FileFormat>
  readonly tables?: ReadonlyArray<string>
}

/** An alarm that is not reported, as the file lists it. What is missing or wrong is reported and absent. */
export interface ListedSilence {
  readonly alarm?: string
  readonly reason?: string
  readonly until?: string
}

export interface SettingSource {
  readonly path: string
  /** For people, without secrets. */
  readonly shown: string
  readonly from: "flag" | "environment" | "file" | "default"
  /** The flag, the variable, or the file with the line. */
  readonly name: string
}

export interface Settings {
  /** The settings file, which may not exist. */
  readonly file: string
  /** See SettingsFile. */
  readonly placeOf: (path: string) => string
  readonly values: SettingValues
  readonly locations: ReadonlyArray<ListedLocation>
  /** Every location that a flag, a variable or the file names, also if another source overrides it. */
  readonly namedLocations: ReadonlySet<string>
  readonly targets: ReadonlyArray<ListedTarget>
  readonly silences: ReadonlyArray<ListedSilence>
  /** Whether the file contains a secret itself, and not a reference to it. */
  readonly hasPlainSecret: boolean
  /** Every setting that has a value. */
  readonly sources: ReadonlyArray<SettingSource>
  readonly problems: ReadonlyArray<SettingProblem>
}

/** Reads each source once. A wrong value becomes a problem, and the next source counts. */
export const readSettings = (flags: Flags, environment: Environment): Settings => {
  const { file, problems: problemsOfFile } = readFile(flags.noFile ? null : flags.config)
  const problems = [...problemsOfFile]
  const values: Record<string, Record<string, unknown>> = {}
  const sources: Array<SettingSource> = []
  const namedLocations = new Set<string>()
  for (const setting of allSettings) {
    const { section, key, path } = setting
    const isRight = Schema.is(setting.schema)
    const written = writtenIn(setting, flags, environment, file)
    if (path === "account.location_id")
      for (const { value } of written)
        if (typeof value === "string") commaSeparated(value).forEach((id) => namedLocations.add(id))
    // A wrong value is reported even if another source overrides it.
    for (const { value, name } of written) if (!isRight(value)) problems.push(wrongValue(setting, path, value, name))
    const { value, from, name } = written.find((one) => isRight(one.value)) ?? {
      value: setting.default,
      from: "default" as const,
      name: ""
    }
    ;(values[section] ??= {})[key] = value
    if (value !== undefined)
      sources.push({ path, shown: setting.secret ? shownSecret(textOf(value)) : textOf(value), from, name })
  }
  // The schemas of the lists have checked every value.
  const locations = listedItems("locations", file, problems) as ReadonlyArray<ListedLocation>
  const targets = listedItems("publish", file, problems) as ReadonlyArray<ListedTarget>
  const silences = listedItems("silence", file, problems) as ReadonlyArray<ListedSilence>
  for (const { id } of locations) if (id !== undefined) namedLocations.add(id)
  const secretsInFile = [
    ...allSettings.filter(({ secret }) => secret).map(({ section, key }) => file.sections[section]?.[key]),
    ...locations.map(({ token }) => token)
  ]
  const hasPlainSecret = secretsInFile.some((value) => typeof value === "string" && isPlainSecret(value))
  // The schemas from which the types are derived have checked every value.
  const checked = values as unknown as SettingValues
  const { name, placeOf } = file
  return {
    file: name,
    placeOf,
    values: checked,
    locations,
    namedLocations,
    targets,
    silences,
    hasPlainSecret,
    sources,
    problems
  }
}

type Written = Pick<SettingSource, "from" | "name"> & { readonly value: unknown }

/** The values of the setting in all sources, in their order of precedence. */
const writtenIn = (
  { flag, environment: variable, fromText, section, key, path }: PlacedSetting,
  flags: Flags,
  environment: Environment,
  file: SettingsFile
): ReadonlyArray<Written> => {
  const written: Array<Written> = []
  const given = flag && flags[flag]
  // An empty flag, for example from an unset shell variable, must not fall back to the default.
  if (flag && given !== undefined) written.push({ from: "flag", name: flagText(flag), value: fromText(given) })
  const variableText = variable && environment[variable]
  if (variable && variableText) written.push({ from: "environment", name: variable, value: fromText(variableText) })
  const value = file.sections[section]?.[key]
  if (value !== undefined) written.push({ from: "file", name: file.placeOf(path), value })
  return written
}

const listedItems = (
  list: ListName,
  { lists, placeOf }: SettingsFile,
  problems: Array<SettingProblem>
): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const { settings, required } = listOf(list)
  return lists[list].map((item, index) => {
    const right: Record<string, unknown> = {}
    for (const [key, setting] of Object.entries(settings)) {
      const path = `${list}[${index}].${key}`
      const value = item[key]
      if (value !== undefined && Schema.is(setting.schema)(value)) right[key] = value
      else if (value !== undefined) problems.push(wrongValue(setting, path, value, placeOf(path)))
      else if (required.includes(key))
        problems.push({ _tag: "Missing", place: placeOf(path), path, description: setting.description })
    }
    return right
  })
}

const wrongValue = ({ secret, expected }: Setting, path: string, value: unknown, place: string): SettingProblem => ({
  _tag: "WrongValue",
  path,
  place,
  expected,
  ...(!secret && { value: typeof value === "number" ? String(value) : JSON.stringify(value) })
})

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") || "none" : typeof value === "object" ? JSON.stringify(value) : String(value)
