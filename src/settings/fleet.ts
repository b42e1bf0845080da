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
  readonly state: string
  /** Reference with `{location}`. */
  readonly token: string | undefined
  readonly agencyToken: Effect.Effect<Redacted.Redacted, SettingsError>
  readonly parallel: number
  readonly schedule: { readonly fields: string; readonly timeZone: string; readonly jitterMs: number } | undefined
  readonly baseUrl: string | undefined
  readonly companyId: string | undefined
  readonly windowMs: number
  /** Where a setting is written, for an error of its value. */
  readonly placeOf: (path: string) => string
}

export const fleetSettings = Effect.fn("settings.fleet")(function* (
  flags: Flags,
  environment: Environment
): Effect.fn.Return<FleetSettings, SettingsError> {
  const { placeOf, problems, values } = readSettings(flags, environment)
  const { account, budget, fleet } = values
  const secret = secretReader(environment)
  const read = (key: "database" | "agency_token"): Result.Result<Redacted.Redacted, SettingProblem> =>
    fleet[key] === undefined ? Result.fail(missing(`fleet.${key}`)) : secret(fleet[key], `fleet.${key}`)
  const database = read("database")
  const all = [...problems, ...(Result.isFailure(database) ? [database.failure] : [])]
  if (Result.isFailure(database) || all.length > 0) return yield* new SettingsError({ problems: all })
  return {
    database: database.success,
    state: resolve(fleet.state),
    token: fleet.token,
    agencyToken: Effect.suspend(() => {
      const token = read("agency_token")
      return Result.isSuccess(token)
        ? Effect.succeed(token.success)
        : Effect.fail(new SettingsError({ problems: [token.failure] }))
    }),
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
