/** The settings as a command uses them: the output, and each location with its credentials and limits. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import type { CustomFieldClasses } from "../catalog/personal-data.ts"
import type { ApiSettings } from "./api.ts"
import { type AlarmSettings, alarmsOf } from "./alarms.ts"
import { type SettingProblem, SettingsError } from "./errors.ts"
import { commaSeparated } from "./kinds.ts"
import { type LakeSettings, lakeOf, lakeProblems } from "./lake.ts"
import { outputPaths } from "../output/paths.ts"
import { type Environment, type Flags, type ListedLocation, type Settings, readSettings } from "./read.ts"
import { secretReader, credentialsOf } from "./secrets.ts"
import { type SignalSettings, signalsOf } from "./signals.ts"
import { type FileFormat, type PublishSettings, fileFormats, folderProblems, publishSettingsOf } from "./targets.ts"
import type { OptionalSettings } from "../catalog/optional-settings.ts"
import { type SettingValues, allSettings, flagText, optionalOf } from "./table.ts"

export interface OutputSettings {
  readonly folder: string
  /** The formats of the published files. */
  readonly formats: ReadonlyArray<FileFormat>
  /** Absent unless the formats include the lake. */
  readonly lake?: LakeSettings | undefined
  readonly csvProfile: SettingValues["output"]["csv_profile"]
  readonly memoryMb: number
  readonly models?: ModelSettings
  /** The folder of the user's own definitions. */
  readonly pipelines?: string | undefined
  /** Classes of personal data of custom fields, by key. */
  readonly customFieldClasses?: CustomFieldClasses
  /** Periods such as `24 months`, by table. */
  readonly retention?: Readonly<Record<string, string>>
  readonly publishing?: PublishSettings
  /** The secret of events, or a reference to it. */
  readonly listenSecret?: string | undefined
  /** Periods such as `24 months`. */
  readonly prune?: { readonly history: string | undefined; readonly compactVaultAfter: string | undefined }
}

export interface ModelSettings {
  readonly build: boolean
  /** The folder of the user's own models. */
  readonly folder: string | undefined
}

/** The settings that schema-policy.ts checks against the catalogue, and the lines of the file that contain them. */
export interface SchemaSettings {
  readonly schema: SettingValues["schema"] & Pick<Settings, "placeOf">
}
type Output = OutputSettings &
  SchemaSettings & {
    readonly publishing: PublishSettings
    readonly alarms: AlarmSettings
    readonly signals: SignalSettings
  }

export interface AccountSettings {
  readonly location: string
  readonly company: string | undefined
  readonly optional: OptionalSettings
  /** See `deletions.max_share`. */
  readonly deletionShareMax: number
  readonly api: ApiSettings
  /** Texts that no output may contain. */
  readonly secrets: ReadonlyArray<string>
}

/** The settings of a command that sends no requests. It reports problems of the other settings too. */
export const outputSettings = Effect.fn("settings.output")(function* (
  flags: Flags,
  environment: Environment
): Effect.fn.Return<Output, SettingsError> {
  const settings = checkedFolders(readSettings(flags, environment))
  if (settings.problems.length > 0) return yield* new SettingsError({ problems: settings.problems })
  return outputOf(settings, environment)
})

/** The settings of a command that reports on the output: it needs no credentials, and knows the locations if they are set. */
export const reportSettings = Effect.fn("settings.report")(function* (
  flags: Flags,
  environment: Environment
): Effect.fn.Return<
  {
    readonly output: Output
    readonly optional: OptionalSettings
    readonly locations: ReadonlyArray<string>
    readonly namedLocations: ReadonlySet<string>
  },
  SettingsError
> {
  const settings = checkedFolders(readSettings(flags, environment))
  if (settings.problems.length > 0) return yield* new SettingsError({ problems: settings.problems })
  const locations = locationsOf(settings).map(({ id }) => id)
  const { namedLocations, values } = settings
  return { output: outputOf(settings, environment), optional: optionalOf(values.account), locations, namedLocations }
})

/** The settings of a command that reads locations: those that the flag or the variable names, or those of the file. */
export const syncSettings = Effect.fn("settings.sync")(function* (
  flags: Flags,
  environment: Environment
): Effect.fn.Return<
  {
    readonly output: Output
    readonly accounts: ReadonlyArray<AccountSettings>
    readonly namedLocations: ReadonlySet<string>
  },
  SettingsError
> {
  const { accounts, output, problems, settings } = checkSettings(flags, environment)
  const { namedLocations } = settings
  return problems.length === 0 ? { output, accounts, namedLocations } : yield* new SettingsError({ problems })
})

/** All settings and every problem of them. A setting with a wrong value has its default. */
export const checkSettings = (flags: Flags, environment: Environment) => {
  const settings = checkedFolders(readSettings(flags, environment))
  const output = outputOf(settings, environment)
  const { accounts, problems } = accountsOf(settings, output.folder, environment)
  return { settings, output, accounts, problems: allProblems(settings, [...problems, ...lakeProblems(output.lake)]) }
}

/** Omits missing settings if the file cannot be read, because it may contain them, and those with a wrong value. */
const allProblems = ({ problems }: Settings, missing: ReadonlyArray<SettingProblem>): ReadonlyArray<SettingProblem> => {
  if (problems.some(({ _tag }) => /^(FileNotFound|FileUnreadable|InvalidToml)$/.test(_tag))) return problems
  const wrong = new Set(problems.flatMap((problem) => ("path" in problem ? [problem.path] : [])))
  const pathOf = (problem: SettingProblem) => ("path" in problem ? problem.path : "account.token")
  return [...problems, ...missing.filter((problem) => !wrong.has(pathOf(problem)))]
}

const checkedFolders = (settings: Settings): Settings => ({
  ...settings,
  problems: [...settings.problems, ...folderProblems(settings)]
})

const outputOf = (settings: Settings, environment: Environment): Output => {
  const { output, machine, models, personal_data, listen, pipelines, prune, retention, schema } = settings.values
  return {
    folder: resolve(output.folder),
    formats: fileFormats(output.formats),
    lake: lakeOf(settings, environment),
    csvProfile: output.csv_profile,
    memoryMb: machine.memory_mb,
    models: { build: models.build, folder: models.folder === undefined ? undefined : resolve(models.folder) },
    pipelines: pipelines.folder === undefined ? undefined : resolve(pipelines.folder),
    customFieldClasses: personal_data.custom_fields,
    retention: retention.periods,
    listenSecret: listen.secret,
    prune: { history: prune.history, compactVaultAfter: prune.compact_vault_after },
    publishing: publishSettingsOf(settings, environment),
    alarms: alarmsOf(settings),
    signals: signalsOf(settings, environment),
    schema: { ...schema, placeOf: settings.placeOf }
  }
}

const accountsOf = (
  settings: Settings,
  folder: string,
  environment: Environment
): { readonly accounts: ReadonlyArray<AccountSettings>; readonly problems: ReadonlyArray<SettingProblem> } => {
  const { account, budget, deletions, output } = settings.values
  const locations = locationsOf(settings)
  const problems: Array<SettingProblem> = [
    ...(account.base_url === undefined ? [missing("account.base_url")] : []),
    ...(locations.length === 0 ? [missing("account.location_id")] : [])
  ]
  const secret = secretReader(environment)
  // Credentials are checked even without a location, so that everything missing is reported at once.
  const accounts = (locations.length === 0 ? [{ id: "" }] : locations).flatMap(({ id, token, company_id }: Listed) => {
    const reference =
      token === undefined
        ? { reference: account.token, path: "account.token" }
        : { reference: token, path: `locations.${id}.token` }
    const credentials = credentialsOf(account, reference, outputPaths(folder).tokens, secret)
    if (Result.isFailure(credentials)) {
      problems.push(...credentials.failure)
      return []
    }
    return {
      location: id,
      company: company_id ?? account.company_id,
      deletionShareMax: deletions.max_share,
      optional: optionalOf(account),
      api: {
        baseUrl: account.base_url ?? "",
        credentials: credentials.success,
        fileMbMax: output.file_mb_max,
        limits: {
          burst: budget.burst,
          windowMs: budget.window_seconds * 1000,
          reservePerDay: budget.reserve_per_day
        }
      },
      secrets: (credentials.success.kind === "private"
        ? [credentials.success.token]
        : [credentials.success.clientSecret, credentials.success.refreshToken]
      ).map(Redacted.value)
    } satisfies AccountSettings
  })
  return { accounts, problems: unique(problems) }
}

type Listed = ListedLocation & { readonly id: string }

/** A location from the flag or the variable uses the token that the file lists for it, if any. */
const locationsOf = ({ values, sources, locations }: Settings): ReadonlyArray<Listed> => {
  const listed = locations.filter((location): location is Listed => location.id !== undefined)
  const source = sources.find(({ path }) => path === "account.location_id")
  const named = values.account.location_id ?? ""
  if (source?.from === "flag" || source?.from === "environment")
    return commaSeparated(named).map((id) => ({ ...listed.find((one) => one.id === id), id }))
  return listed.length > 0 || named === "" ? listed : [{ id: named }]
}

export const missing = (path: string): SettingProblem => {
  const { description, environment, flag } = allSettings.find((setting) => setting.path === path)!
  return {
    _tag: "Missing",
    path,
    description,
    ...(environment && { environment }),
    ...(flag && { flag: flagText(flag) })
  }
}

/** Locations that share the account's settings report the same problem. */
const unique = (problems: ReadonlyArray<SettingProblem>): ReadonlyArray<SettingProblem> => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()
]
