/** The value of every setting: a flag overrides the environment, which overrides the file, which overrides the default. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import {
  type Secret,
  type Setting,
  type SettingFlags,
  type UnavailableSecret,
  camelCase,
  commaSeparated,
  flagText
} from "../values/setting.ts"
import { wrong } from "../values/finding.ts"
import { wrongProxies } from "../network/proxy.ts"
import { closest, suggestion } from "./closest.ts"
import type { SettingProblem } from "./errors.ts"
import { type SettingsFile, readFile } from "./file.ts"
import { isPlainSecret, secretReader, shownSecret } from "./secrets.ts"
import {
  type ListName,
  type ListedItems,
  type PlacedSetting,
  type SettingValues,
  allSettings,
  listNames,
  listOf,
  placeOfItem
} from "./sections.ts"

export interface Flags extends SettingFlags {
  readonly config?: string | undefined
  /** Read no settings file, not even the default one. */
  readonly noFile?: true
}
export type Environment = Readonly<Record<string, string | undefined>>

export interface SettingSource {
  readonly path: string
  /** What people are shown, without secrets. */
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
  readonly lists: ListedItems
  /** Reads a secret, or a reference to it; `path` is for the problem. */
  readonly secretOf: (reference: string, path: string) => Secret
  /** Every location that a flag, a variable or the file names, also if another source overrides it. */
  readonly namedLocations: ReadonlySet<string>
  /** Whether the file contains a secret itself, and not a reference to it. */
  readonly hasPlainSecret: boolean
  /** Every setting that has a value, with those of the lists behind the others. */
  readonly sources: ReadonlyArray<SettingSource>
  readonly problems: ReadonlyArray<SettingProblem>
}

/** Reads each source once. A wrong value becomes a problem, and the next source counts. */
export const readSettings = (flags: Flags, environment: Environment): Settings => {
  const { file, problems: problemsOfFile } = readFile(flags.noFile ? null : flags.config)
  const problems = [
    ...problemsOfFile,
    ...wrongProxies().map((path) =>
      wrong(path, { _tag: "WrongValue", path, expected: "an address such as http://proxy.example.com:3128" })
    )
  ]
  const values: Record<string, Record<string, unknown>> = {}
  const sources: Array<SettingSource> = []
  const namedLocations = new Set<string>()
  const readSecret = secretReader(environment)
  const secretOf = (reference: string, path: string): Secret => ({
    reference,
    read: (isAgain) => readSecret(reference, path, isAgain)
  })
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
    const used = (values[camelCase(section)] ??= {})
    if (value === undefined) continue
    const text = textOf(value)
    used[camelCase(key)] = setting.secret ? secretOf(text, path) : setting.toValue(value)
    // Only the commands that need a secret run a command for it.
    if (setting.secret && !text.startsWith("cmd:")) problems.push(...unusable(readSecret(text, path)))
    sources.push({ path, shown: setting.secret ? shownSecret(text) : text, from, name })
  }
  const lists = Object.fromEntries(
    listNames.map((list) => [list, listedItems(list, file, problems, sources)])
    // The schemas from which the types are derived have checked every value.
  ) as ListedItems
  for (const { id } of lists.locations) if (id !== undefined) namedLocations.add(id)
  const secretsInFile = [
    ...allSettings.filter(({ secret }) => secret).map(({ section, key }) => file.sections[section]?.[key]),
    ...listNames.flatMap((list) =>
      lists[list].flatMap((item) =>
        Object.entries(item).flatMap(([key, value]) => (listOf(list).settings[key]?.secret ? [value] : []))
      )
    )
  ]
  const hasPlainSecret = secretsInFile.some((value) => typeof value === "string" && isPlainSecret(value))
  const { name, placeOf } = file
  // The schemas have checked these values, too.
  const checked = values as unknown as SettingValues
  return { file: name, placeOf, values: checked, lists, secretOf, namedLocations, hasPlainSecret, sources, problems }
}

/** A secret that cannot be read is a problem only of the commands that need it. */
export const unusable = (read: Result.Result<unknown, UnavailableSecret>): ReadonlyArray<UnavailableSecret> =>
  Result.isFailure(read) && read.failure.what._tag === "SecretUnusable" ? [read.failure] : []

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
  problems: Array<SettingProblem>,
  sources: Array<SettingSource>
): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const { isNamed, settings, required } = listOf(list)
  return lists[list].map((item, index) => {
    const right: Record<string, unknown> = isNamed ? { name: item["name"] } : {}
    for (const [key, setting] of Object.entries(settings)) {
      const path = `${placeOfItem(list, index, item["name"])}.${key}`
      const value = item[key]
      const name = placeOf(path)
      if (value !== undefined && Schema.is(setting.schema)(value)) {
        right[key] = value
        const shown = [value].flat().join(", ")
        sources.push({ path, shown: setting.secret ? shownSecret(shown) : shown, from: "file", name })
      } else if (value !== undefined) problems.push(wrongValue(setting, path, value, name))
      else if (required.includes(key))
        problems.push(wrong(name, { _tag: "Missing", path, description: setting.description }))
    }
    return right
  })
}

const wrongValue = ({ secret, expected }: Setting, path: string, value: unknown, place: string): SettingProblem =>
  wrong(place, {
    _tag: "WrongValue",
    path,
    expected,
    ...(!secret && { value: typeof value === "number" ? String(value) : JSON.stringify(value) })
  })

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") || "none" : typeof value === "object" ? JSON.stringify(value) : String(value)

const variables: ReadonlySet<string> = new Set(allSettings.flatMap(({ environment }) => environment ?? []))
/** What the token of a location is called in a fleet, whose processes get it as SLUICE_TOKEN. */
export const fleetTokenVariable = "SLUICE_FLEET_TOKEN_NAME"
/** Variables of the launcher, of the tests and of the fleet. */
const notSettings: ReadonlySet<string> = new Set([
  "SLUICE_COMMAND",
  "SLUICE_SEED",
  "SLUICE_FLEET_TETHER",
  "SLUICE_STARTED_BY",
  fleetTokenVariable
])

/** One sentence for each that is similar to a setting. A value is not shown, because it may be a token. */
export const unknownVariables = (environment: Environment): ReadonlyArray<string> =>
  Object.keys(environment)
    .filter((name) => name.startsWith("SLUICE_") && !variables.has(name) && !notSettings.has(name))
    // A variable to which a setting refers is no misspelling. A settings file may refer to any other name.
    .filter((name) => !Object.values(environment).includes(`env:${name}`))
    .flatMap((name) => {
      const near = closest(name, variables)
      return near === undefined ? [] : [`Warning: the environment variable ${name} is not a setting${suggestion(near)}`]
    })
