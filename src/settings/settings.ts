/** The settings as a command uses them: the output, and each location with its credentials and limits. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import { type AlarmSettings, silencesOf } from "../alarms/silence.ts"
import { deniedIn } from "../output/denied.ts"
import { outputPaths } from "../output/paths.ts"
import { wrong } from "../values/finding.ts"
import { commaSeparated } from "../values/setting.ts"
import { accountSection, credentialsOf, optionalOf, type StatedCurrencies } from "./account.ts"
import type { OptionalSettings } from "../catalog/optional-settings.ts"
import { type SettingProblem, SettingsError, missing, settingOf } from "./errors.ts"
import { fleetOf } from "./fleet.ts"
import { namedSecret } from "./secrets.ts"
import { pseudonymKey } from "./masking.ts"
import { type Environment, type Flags, type Settings, fleetTokenVariable, readSettings, unusable } from "./read.ts"
import type { SchemaSettings } from "./schema-policy.ts"
import type { ListedItems, SettingValues } from "./sections.ts"
import { type SignalSettings, signalsOf } from "./signals.ts"
import type { WithheldSettings } from "./withheld.ts"
import { type FileFormat, type ListedTarget, type PublishSettings, targetConflicts, targetsOf } from "./targets.ts"

type Values = SettingValues

export interface OutputSettings
  extends
    Pick<Values["output"], "folder">,
    Readonly<Values["machine"]>,
    Partial<Pick<Values, "models">>,
    WithheldSettings {
  readonly wanted?: WantedSettings
  readonly currencies?: StatedCurrencies
  readonly files?: Values["files"]
  /** The formats of the published files. */
  readonly formats: ReadonlyArray<FileFormat>
  /** The folder of the user's own definitions. */
  readonly pipelines?: Values["pipelines"]["folder"]
  /** Classes of personal data of custom fields, by key. */
  readonly customFieldClasses?: Values["personalData"]["customFields"]
  readonly publishing?: PublishSettings
  /** The secret of events, or a reference to it. */
  readonly listenSecret?: string | undefined
}

/** What the settings ask for, and what of them to change if a location refuses. */
export interface WantedSettings {
  /** Those that the flag or the variable names, or those of the file. */
  readonly locations: ReadonlyArray<string>
  /** Those that are named anywhere. */
  readonly named: ReadonlySet<string>
  readonly optional: OptionalSettings
  /** By location: the setting of its token and its reference, without a secret. */
  readonly tokenNames: ReadonlyMap<string, string>
}

export type CommandSettings = OutputSettings &
  SchemaSettings & {
    /** All settings, by section. */
    readonly values: Values
    readonly wanted: WantedSettings
    readonly publishing: PublishSettings
    readonly alarms: AlarmSettings
    readonly signals: SignalSettings
  }

/** The settings of a command that sends no requests. It reports problems of the other settings too. */
export const outputSettings = Effect.fn("settings.output")(function* (flags: Flags, environment: Environment) {
  const settings = checkedFolders(readSettings(flags, environment))
  if (settings.problems.length > 0) return yield* new SettingsError({ problems: settings.problems })
  return outputOf(settings, environment)
})

/** The settings of a command that reads locations: those that the flag or the variable names, or those of the file. */
export const syncSettings = Effect.fn("settings.sync")(function* (flags: Flags, environment: Environment) {
  const { accounts, output, problems } = checkSettings(flags, environment)
  return problems.length === 0 ? { output, accounts } : yield* new SettingsError({ problems })
})

/** All settings and every problem of them. A setting with a wrong value has its default. */
export const checkSettings = (flags: Flags, environment: Environment) => {
  const settings = checkedFolders(readSettings(flags, environment))
  const output = outputOf(settings, environment)
  const { accounts, problems } = accountsOf(settings, output.folder, environment)
  const ofTargets = output.publishing.targets.flatMap(({ destination }) =>
    destination.secrets.flatMap((secret) => unusable(secret.read()))
  )
  return { settings, output, accounts, problems: allProblems(settings, [...problems, ...ofTargets]) }
}

/** Omits missing settings if the file cannot be read, because it may contain them, and those with a wrong value. */
const allProblems = ({ problems }: Settings, missing: ReadonlyArray<SettingProblem>): ReadonlyArray<SettingProblem> => {
  if (problems.some(({ what }) => /^(FileNotFound|FileUnreadable|InvalidToml)$/.test(what._tag))) return problems
  const wrong = new Set(problems.map(settingOf))
  return [...problems, ...missing.filter((problem) => !wrong.has(settingOf(problem)))]
}

const checkedFolders = (settings: Settings): Settings => {
  const { placeOf, problems, values } = settings
  const folder = resolve(values.output.folder)
  const conflicts = targetConflicts({ targets: listedTargets(settings), placeOf, secretOf: settings.secretOf }, folder)
  return { ...settings, problems: [...problems, ...deniedFolder(folder), ...conflicts] }
}

const listedTargets = ({ lists }: Pick<Settings, "lists">): ReadonlyArray<ListedTarget> =>
  lists.publish.map((item, index) => ({ item, at: (key) => `publish[${index}].${key}` }))

const deniedFolder = (folder: string): ReadonlyArray<SettingProblem> => {
  const path = "output.folder"
  const expected = "a path without ?, which no file of DuckDB can have in its path"
  if (/\?/.test(folder)) return [wrong(path, { _tag: "WrongValue", path, expected, value: folder })]
  const denied = deniedIn(folder)
  return denied === undefined
    ? []
    : [wrong("output.folder", { _tag: "FolderDenied", path: "output.folder", folder, denied })]
}

const outputOf = (settings: Settings, environment: Environment): CommandSettings => {
  const { lists, placeOf, secretOf, values } = settings
  const { alarms, budget, listen, machine, masking, models, output, personalData, signals } = values
  const folder = resolve(output.folder)
  const locations = locationsOf(settings)
  const key = () => pseudonymKey(masking, [output.folder, ...lists.publish.flatMap((target) => target.folder ?? [])])
  return {
    values,
    wanted: {
      locations: locations.map(({ id }) => id),
      named: settings.namedLocations,
      optional: optionalOf(values),
      tokenNames: new Map(locations.map((one) => [one.id, tokenNameOf(one, settings, environment)]))
    },
    ...machine,
    folder,
    formats: output.formats,
    files: values.files,
    models,
    currencies: currenciesOf({ lists, values }),
    pipelines: values.pipelines.folder,
    customFieldClasses: personalData.customFields,
    withheld: { tables: lists.tables, personalData, placeOf, key },
    listenSecret: listen.secret?.reference,
    publishing: {
      targets: targetsOf({ targets: listedTargets(settings), placeOf, secretOf }, output.formats, folder),
      key
    },
    alarms: {
      limits: { ...alarms, requestsPerDay: alarms.requestsPerDay - budget.reservePerDay },
      silences: silencesOf(lists.silence)
    },
    signals: signalsOf(signals, values.schedule),
    schema: { ...values.schema, placeOf }
  }
}

export const currenciesOf = ({ lists, values }: Pick<Settings, "lists" | "values">): StatedCurrencies => ({
  account: values.account.currency,
  byLocation: new Map(lists.locations.flatMap(({ currency, id }) => (id && currency ? [[id, currency] as const] : [])))
})

/** The settings of the commands of the fleet. */
export const fleetSettings = Effect.fn("settings.fleet")(function* (flags: Flags, environment: Environment) {
  const { placeOf, problems, values } = readSettings(flags, environment)
  const fleet = fleetOf(values, placeOf)
  const all = [...problems, ...(Result.isFailure(fleet) ? [fleet.failure] : [])]
  return Result.isSuccess(fleet) && all.length === 0 ? fleet.success : yield* new SettingsError({ problems: all })
})

export type AccountSettings = ReturnType<typeof accountsOf>["accounts"][number]
/** Whose data are requested, and which of them. */
export type Account = Pick<AccountSettings, "location" | "company" | "optional">

const accountsOf = (settings: Settings, folder: string, environment: Environment) => {
  const { secretOf, values } = settings
  const { account, budget, deletions, files } = values
  const locations = locationsOf(settings)
  const problems: Array<SettingProblem> = [
    ...(account.baseUrl === undefined ? [missing("account.base_url", accountSection.base_url)] : []),
    ...(locations.length === 0 ? [missing("account.location_id", accountSection.location_id)] : [])
  ]
  // Credentials are checked even without a location, so that everything missing is reported at once.
  const accounts = (locations.length === 0 ? [{ id: "" }] : locations).flatMap(({ id, token, company_id }: Listed) => {
    const own = token === undefined ? {} : { token: secretOf(token, `locations.${id}.token`) }
    const credentials = credentialsOf({ ...account, ...own }, outputPaths(folder).tokens)
    if (Result.isFailure(credentials)) {
      problems.push(...credentials.failure)
      return []
    }
    return {
      location: id,
      company: company_id ?? account.companyId,
      tokenName: tokenNameOf({ id, token }, settings, environment),
      /** See `deletions.max_share`. */
      deletionShareMax: deletions.maxShare,
      optional: optionalOf(values),
      api: {
        baseUrl: account.baseUrl ?? "",
        location: id,
        version: account.apiVersion,
        credentials: credentials.success,
        fileBytesMax: files.maxBytes,
        limits: { ...budget, windowMs: budget.windowSeconds * 1000 }
      },
      /** Texts that no output may contain. */
      secrets: (credentials.success.kind === "private"
        ? [credentials.success.token]
        : [credentials.success.clientSecret, credentials.success.refreshToken]
      ).map(Redacted.value)
    }
  })
  return { accounts, problems: unique(problems) }
}

/**
 * What to set if the service refuses the token of a location: the setting and its reference, without a secret. A variable of the
 * settings is their name, unless a fleet has set it for the location.
 */
const tokenNameOf = (
  { id, token }: Pick<Listed, "id"> & { readonly token?: string | undefined },
  { sources, values }: Settings,
  environment: Environment
): string => {
  if (token !== undefined) return namedSecret(`locations.${id}.token`, token)
  const [key, secret] =
    values.account.token === undefined
      ? (["refresh_token", values.account.refreshToken] as const)
      : (["token", values.account.token] as const)
  const source = sources.find(({ path }) => path === `account.${key}`)
  const ofFleet = environment[fleetTokenVariable]
  if (source?.from !== "environment") return namedSecret(`account.${key}`, secret?.reference ?? "")
  const name = ofFleet === undefined ? source.name : key === "token" ? ofFleet : `fleet.${key}`
  return namedSecret(name, secret?.reference ?? "")
}

type Listed = ListedItems["locations"][number] & { readonly id: string }

/** A location from the flag or the variable uses the token that the file lists for it, if any. */
const locationsOf = ({ values, sources, lists }: Settings): ReadonlyArray<Listed> => {
  const listed = lists.locations.filter((location): location is Listed => location.id !== undefined)
  const source = sources.find(({ path }) => path === "account.location_id")
  const named = values.account.locationId ?? ""
  if (source?.from === "flag" || source?.from === "environment")
    return commaSeparated(named).map((id) => ({ ...listed.find((one) => one.id === id), id }))
  return listed.length > 0 || named === "" ? listed : [{ id: named }]
}

/** Locations that share the account's settings report the same problem. */
const unique = (problems: ReadonlyArray<SettingProblem>): ReadonlyArray<SettingProblem> => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()
]
