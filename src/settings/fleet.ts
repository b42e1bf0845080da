/** The settings of the fleet as its commands use them. */
import * as Redacted from "effect/Redacted"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import { type SettingProblem, SettingsError } from "./errors.ts"
import { durationMs } from "../values/duration.ts"
import { type Environment, type Flags, readSettings } from "./read.ts"
import { secretReader } from "./secrets.ts"
import { missing } from "./settings.ts"

export interface FleetSettings {
  readonly database: Redacted.Redacted
  /** The folder of the output folders. */
  readonly folder: string
  /** Where they are kept, if it is not the folder. */
  readonly bucket: Effect.Effect<Bucket | undefined, SettingsError>
  /** References with `{location}`. */
  readonly token: string | undefined
  readonly refreshToken: string | undefined
  readonly agencyToken: Effect.Effect<Redacted.Redacted, SettingsError>
  readonly parallel: number
  readonly schedule: { readonly fields: string; readonly timeZone: string; readonly jitterMs: number } | undefined
  readonly baseUrl: string | undefined
  readonly companyId: string | undefined
  readonly windowMs: number
  /** Where a setting is written, for an error of its value. */
  readonly placeOf: (path: string) => string
}

export interface Bucket {
  /** `s3://bucket/prefix` */
  readonly place: string
  readonly key: Redacted.Redacted
  readonly secret: Redacted.Redacted
  readonly region: string
  readonly endpoint: string | undefined
}

export const fleetSettings = Effect.fn("settings.fleet")(function* (
  flags: Flags,
  environment: Environment
): Effect.fn.Return<FleetSettings, SettingsError> {
  const { placeOf, problems, values } = readSettings(flags, environment)
  const { account, budget, fleet } = values
  const secret = secretReader(environment)
  const read = (
    key: "database" | "agency_token" | "s3_key" | "s3_secret"
  ): Result.Result<Redacted.Redacted, SettingProblem> =>
    fleet[key] === undefined ? Result.fail(missing(`fleet.${key}`)) : secret(fleet[key], `fleet.${key}`)
  /** Read when it is needed, because a reference may run a command. */
  const needed = (key: Parameters<typeof read>[0]) =>
    Effect.suspend(() => {
      const value = read(key)
      return Result.isSuccess(value)
        ? Effect.succeed(value.success)
        : Effect.fail(new SettingsError({ problems: [value.failure] }))
    })
  const isBucket = fleet.state.startsWith("s3://")
  const database = read("database")
  const all = [...problems, ...(Result.isFailure(database) ? [database.failure] : [])]
  if (Result.isFailure(database) || all.length > 0) return yield* new SettingsError({ problems: all })
  return {
    database: database.success,
    folder: resolve(isBucket ? fleet.cache : fleet.state),
    bucket: Effect.gen(function* () {
      if (!isBucket) return undefined
      const [key, secret] = [yield* needed("s3_key"), yield* needed("s3_secret")]
      return { place: fleet.state, key, secret, region: fleet.s3_region, endpoint: fleet.s3_endpoint }
    }),
    token: fleet.token,
    refreshToken: fleet.refresh_token,
    agencyToken: needed("agency_token"),
    parallel: fleet.parallel,
    schedule:
      fleet.schedule === undefined
        ? undefined
        : { fields: fleet.schedule, timeZone: fleet.time_zone, jitterMs: durationMs(fleet.jitter)! },
    baseUrl: account.base_url,
    companyId: account.company_id,
    windowMs: budget.window_seconds * 1000,
    placeOf
  }
})
