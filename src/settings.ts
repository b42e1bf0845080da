/** Settings: flag over environment over file over default, one schema for all, secrets by reference. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { existsSync, readFileSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"
import { parse } from "smol-toml"
import type { ApiSettings } from "./api/api.ts"
import { policies } from "./catalog/schema-policy.ts"
import type { Asked } from "./catalog/asked.ts"
import { askedSettings, words } from "./asked.ts"
import { type Failure, settingFailure } from "./failure.ts"
import { credentialSettings } from "./secrets.ts"

const Positive = Schema.Number.check(Schema.isGreaterThan(0))
const Words = Schema.Array(Schema.String)
/** None: the warehouse alone. */
const Formats = Schema.Array(Schema.Literals(["duckdb", "parquet", "csv"]))

const Policy = Schema.Literals(policies)

/** The settings file, and the names the other sources are brought to. */
const File = Schema.Struct({
  account: Schema.optional(
    Schema.Struct({
      base_url: Schema.optional(Schema.String),
      location_id: Schema.optional(Schema.String),
      company_id: Schema.optional(Schema.String),
      token: Schema.optional(Schema.String),
      client_id: Schema.optional(Schema.String),
      client_secret: Schema.optional(Schema.String),
      refresh_token: Schema.optional(Schema.String),
      object_keys: Schema.optional(Words),
      recurring_task_ids: Schema.optional(Words),
      /** Days of free slots to read ahead. */
      free_slot_days: Schema.optional(Schema.Number.check(Schema.isGreaterThanOrEqualTo(0))),
      /** Each contact is read by itself too: a request for each that is new or changed. */
      contact_details: Schema.optional(Schema.Boolean),
      /** The messages of each conversation are read by themselves too. */
      conversation_messages: Schema.optional(Schema.Boolean)
    })
  ),
  /** Several locations of one base URL; those without a token use the account's. */
  locations: Schema.optional(
    Schema.Array(
      Schema.Struct({
        id: Schema.String,
        token: Schema.optional(Schema.String),
        company_id: Schema.optional(Schema.String)
      })
    )
  ),
  budget: Schema.optional(
    Schema.Struct({
      /** Requests of each day left to other programs. */
      reserve_per_day: Schema.optional(Schema.Number.check(Schema.isGreaterThanOrEqualTo(0))),
      burst: Schema.optional(Positive),
      window_seconds: Schema.optional(Positive)
    })
  ),
  output: Schema.optional(
    Schema.Struct({
      folder: Schema.optional(Schema.String),
      formats: Schema.optional(Formats),
      csv_profile: Schema.optional(Schema.Literals(["machine", "spreadsheet"])),
      /** A larger recording is not kept. */
      file_mb_max: Schema.optional(Positive)
    })
  ),
  schema: Schema.optional(
    Schema.Struct({
      /** What becomes of unknown fields; see catalog/policy.ts. */
      policy: Schema.optional(Policy),
      resources: Schema.optional(Schema.Record(Schema.String, Policy)),
      accepted: Schema.optional(Words)
    })
  ),
  deletions: Schema.optional(
    Schema.Struct({
      /** Share of a table's rows that may vanish at once; beyond it none is marked deleted. */
      max_share: Schema.optional(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
    })
  ),
  machine: Schema.optional(
    Schema.Struct({
      /** What DuckDB may hold; with less than this an account of all tables does not fit. The process takes some 400 more. */
      memory_mb: Schema.optional(Schema.Number.check(Schema.isGreaterThanOrEqualTo(96)))
    })
  )
})
type File = typeof File.Type

export const environmentNames = {
  SLUICE_BASE_URL: "base_url",
  SLUICE_TOKEN: "token",
  SLUICE_LOCATION_ID: "location_id",
  SLUICE_COMPANY_ID: "company_id",
  SLUICE_CLIENT_ID: "client_id",
  SLUICE_CLIENT_SECRET: "client_secret",
  SLUICE_REFRESH_TOKEN: "refresh_token",
  SLUICE_OBJECT_KEYS: "object_keys",
  SLUICE_RECURRING_TASK_IDS: "recurring_task_ids",
  SLUICE_FREE_SLOT_DAYS: "free_slot_days",
  SLUICE_CONTACT_DETAILS: "contact_details",
  SLUICE_CONVERSATION_MESSAGES: "conversation_messages"
} as const

export interface Flags {
  readonly config?: string | undefined
  readonly baseUrl?: string | undefined
  readonly location?: string | undefined
  readonly output?: string | undefined
}

export interface OutputSettings {
  readonly folder: string
  readonly formats: typeof Formats.Type
  readonly csvProfile: "machine" | "spreadsheet"
  readonly fileMbMax: number
  readonly memoryMb: number
}
export interface AccountSettings {
  readonly location: string
  readonly company: string | undefined
  readonly asked: Asked
  /** See `deletions.max_share`. */
  readonly deletionShareMax: number
  readonly api: ApiSettings
  /** Texts that must not appear anywhere. */
  readonly secrets: ReadonlyArray<string>
}

type Environment = Readonly<Record<string, string | undefined>>

/** Where output goes; enough for commands that make no request. */
export const outputSettings = Effect.fn("settings.output")(function* (flags: Flags, environment: Environment) {
  const { output, machine } = yield* fileSettings(flags)
  const named = environment["SLUICE_FORMATS"]
  const formats = yield* Schema.decodeUnknownEffect(Formats)(words(named === "none" ? "" : named)).pipe(
    Effect.mapError(() =>
      settingFailure(`SLUICE_FORMATS: ${named} is no list of duckdb, parquet and csv, and not none`)
    )
  )
  const fileMbMax = Number(environment["SLUICE_FILE_MB_MAX"] || (output?.file_mb_max ?? 256))
  if (!(fileMbMax > 0))
    return yield* settingFailure(`SLUICE_FILE_MB_MAX: ${environment["SLUICE_FILE_MB_MAX"]} is no number of megabytes`)
  return {
    folder: resolve(flags.output ?? environment["SLUICE_OUTPUT"] ?? output?.folder ?? "output"),
    formats: named ? formats : (output?.formats ?? ["duckdb", "parquet", "csv"]),
    csvProfile: output?.csv_profile ?? "machine",
    fileMbMax,
    memoryMb: machine?.memory_mb ?? 128
  } satisfies OutputSettings
})

/** Whose locations are read, and with what: those named by flag or environment, with commas, or those of the file. */
export const accountSettings = Effect.fn("settings.accounts")(function* (
  flags: Flags,
  environment: Environment
): Effect.fn.Return<ReadonlyArray<AccountSettings>, Failure> {
  const file = yield* fileSettings(flags)
  const named = words(flags.location ?? environment["SLUICE_LOCATION_ID"])
  const listed = named.length > 0 ? named.map((id) => ({ id })) : (file.locations ?? [undefined])
  return yield* Effect.forEach(listed, (location) =>
    locationSettings(
      file,
      location && { ...file.locations?.find(({ id }) => id === location.id), ...location },
      flags,
      environment
    )
  )
})

/** The same for a command that looks at one location. */
export const oneAccount = Effect.fnUntraced(function* (
  flags: Flags,
  environment: Environment
): Effect.fn.Return<AccountSettings, Failure> {
  const [account, ...others] = yield* accountSettings(flags, environment)
  return account && others.length === 0
    ? account
    : yield* settingFailure("this command looks at one location, and the settings name several: choose with --location")
})

const locationSettings = Effect.fnUntraced(function* (
  file: File,
  own: NonNullable<File["locations"]>[number] | undefined,
  flags: Flags,
  environment: Environment
): Effect.fn.Return<AccountSettings, Failure> {
  const { folder, fileMbMax } = yield* outputSettings(flags, environment)
  const account: Record<string, unknown> = { ...file.account }
  for (const [variable, key] of Object.entries(environmentNames))
    if (environment[variable]) account[key] = environment[variable]
  if (flags.baseUrl) account["base_url"] = flags.baseUrl
  if (own) account["location_id"] = own.id
  for (const key of ["token", "company_id"] as const) if (own?.[key] !== undefined) account[key] = own[key]
  const text = (key: string) => account[key] as string | undefined

  const baseUrl = yield* required(text("base_url"), "the address of the API", "SLUICE_BASE_URL", "account.base_url")
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
    return yield* settingFailure(`account.base_url: ${baseUrl} is no http(s) address`)
  const location = yield* required(text("location_id"), "the location", "SLUICE_LOCATION_ID", "account.location_id")
  const credentials = yield* credentialSettings(text, join(folder, "tokens.json"))
  return {
    location,
    company: text("company_id"),
    deletionShareMax: file.deletions?.max_share ?? 0.3,
    asked: yield* askedSettings(account),
    api: {
      baseUrl,
      credentials,
      fileMbMax,
      limits: {
        burst: file.budget?.burst ?? 100,
        windowMs: (file.budget?.window_seconds ?? 10) * 1000,
        reservePerDay: file.budget?.reserve_per_day ?? 1000
      }
    },
    secrets: (credentials.kind === "private"
      ? [credentials.token]
      : [credentials.clientSecret, credentials.refreshToken]
    ).map(Redacted.value)
  }
})

export const defaultFile = join("config", "sluice.toml")

export const fileSettings = Effect.fnUntraced(function* (flags: Flags): Effect.fn.Return<File, Failure> {
  const path = flags.config ?? defaultFile
  if (!existsSync(path)) return flags.config === undefined ? {} : yield* settingFailure(`there is no file ${path}`)
  const parsed = yield* Effect.try({
    try: () => parse(readFileSync(path, "utf8")),
    catch: (cause) => settingFailure(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`)
  })
  const file = yield* Schema.decodeUnknownEffect(File)(parsed, { onExcessProperty: "error", errors: "all" }).pipe(
    Effect.mapError((error) => settingFailure(`${path}: ${error.message.replaceAll(/\s*\n\s*/g, " ")}`))
  )
  const folder = file.output?.folder
  // A relative folder is meant from where the file is read, like every path on the command line.
  return folder === undefined || isAbsolute(folder)
    ? file
    : { ...file, output: { ...file.output, folder: resolve(folder) } }
})

const required = (value: string | undefined, what: string, variable: string, key: string) =>
  value === undefined || value === ""
    ? Effect.fail(settingFailure(`${what} is not set: ${variable} in the environment or ${key} in the file`))
    : Effect.succeed(value)
