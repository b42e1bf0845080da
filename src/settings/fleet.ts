/** The fleet: many locations on many workers. Everything is off without a database. */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import {
  type Secret,
  type Section,
  type ValuesOf,
  duration,
  folder,
  place,
  positiveNumber,
  setting,
  text
} from "../values/setting.ts"
import type { OptionalSettings } from "../catalog/optional-settings.ts"
import { type ApiSettings, type budgetSection, type filesSection, accountSection, optionalOf } from "./account.ts"
import { type SettingProblem, SettingsError, missing } from "./errors.ts"
import type { Bucket } from "../stores/objects/bucket.ts"
import { bucketSettingsOf } from "../destinations/bucket/settings.ts"

export const fleetSection = {
  database: setting(text, {
    environment: "SLUICE_FLEET_DATABASE",
    secret: true,
    description: "Address of the PostgreSQL database of the fleet, or a reference to it: postgres://user@host/name.",
    example: "env:FLEET_DATABASE"
  }),
  state: setting(place, {
    environment: "SLUICE_FLEET_STATE",
    description:
      "Where the output folder of each location is: a folder that every worker reaches, or s3://bucket/prefix.",
    default: "fleet"
  }),
  cache: setting(folder, {
    environment: "SLUICE_FLEET_CACHE",
    description: "Folder of this machine in which the output folders are, if state is a bucket.",
    default: "fleet"
  }),
  ...bucketSettingsOf("FLEET"),
  token: setting(text, {
    environment: "SLUICE_FLEET_TOKEN",
    secret: true,
    description: "Reference to the token of each location, with {location} in the place of its id.",
    example: "file:/run/secrets/{location}"
  }),
  refresh_token: setting(text, {
    environment: "SLUICE_FLEET_REFRESH_TOKEN",
    secret: true,
    description:
      "Instead of tokens: reference to the first refresh token of each location, with {location}; the OAuth app is in [account].",
    example: "file:/run/secrets/refresh/{location}"
  }),
  agency_token: setting(text, {
    environment: "SLUICE_FLEET_AGENCY_TOKEN",
    secret: true,
    description: "Token that lists the locations for ./sluice fleet locations import, or a reference to it.",
    example: "env:AGENCY_TOKEN"
  }),
  parallel: setting(positiveNumber, {
    environment: "SLUICE_FLEET_PARALLEL",
    description: "Locations that a worker reads side by side; each needs the memory of a sync.",
    default: 4
  }),
  schedule: setting(text, {
    description: "When the workers queue a sync of every location, as five fields of a crontab. Without it, never.",
    example: "30 2 * * *"
  }),
  time_zone: setting(text, {
    description: "Time zone of that schedule.",
    default: "UTC"
  }),
  jitter: setting(duration, {
    description: "Time over which the locations of a night are spread.",
    default: "60m"
  })
} satisfies Section

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
  /** How the service is asked for the locations of the agency. Fails if the settings have no address. */
  readonly api: Effect.Effect<Omit<ApiSettings, "credentials">, SettingsError>
  readonly companyId: string | undefined
  readonly optional: OptionalSettings
  readonly windowMs: number
  /** Where a setting is written, for an error of its value. */
  readonly placeOf: (path: string) => string
}

interface Values {
  readonly account: ValuesOf<typeof accountSection>
  readonly budget: ValuesOf<typeof budgetSection>
  readonly files: ValuesOf<typeof filesSection>
  readonly fleet: ValuesOf<typeof fleetSection>
}

/** Fails if the database is missing. */
export const fleetOf = (
  { account, budget, files, fleet }: Values,
  placeOf: FleetSettings["placeOf"]
): Result.Result<FleetSettings, SettingProblem> =>
  Result.gen(function* () {
    const isBucket = fleet.state.startsWith("s3://")
    const windowMs = budget.windowSeconds * 1000
    return {
      database: yield* read(fleet.database, "database"),
      folder: isBucket ? fleet.cache : resolve(fleet.state),
      bucket: Effect.gen(function* () {
        if (!isBucket) return undefined
        const [key, secret] = [yield* needed(fleet.s3Key, "s3_key"), yield* needed(fleet.s3Secret, "s3_secret")]
        const { s3Encryption: encryption, s3Endpoint: endpoint, s3Region: region, state: place } = fleet
        return { place, key, secret, region, endpoint, encryption }
      }),
      token: fleet.token?.reference,
      refreshToken: fleet.refreshToken?.reference,
      agencyToken: needed(fleet.agencyToken, "agency_token"),
      parallel: fleet.parallel,
      schedule:
        fleet.schedule === undefined
          ? undefined
          : { fields: fleet.schedule, timeZone: fleet.timeZone, jitterMs: fleet.jitter },
      api:
        account.baseUrl === undefined
          ? Effect.fail(new SettingsError({ problems: [missing("account.base_url", accountSection.base_url)] }))
          : Effect.succeed({
              baseUrl: account.baseUrl,
              fileBytesMax: files.maxBytes,
              limits: { ...budget, windowMs },
              isNew: () => true
            }),
      baseUrl: account.baseUrl,
      companyId: account.companyId,
      optional: optionalOf({ account, files }),
      windowMs,
      placeOf
    }
  })

const read = (
  secret: Secret | undefined,
  key: keyof typeof fleetSection
): Result.Result<Redacted.Redacted, SettingProblem> =>
  secret?.read() ?? Result.fail(missing(`fleet.${key}`, fleetSection[key]))

/** Read when it is needed, because a reference may run a command. */
const needed = (...secret: Parameters<typeof read>) =>
  Effect.mapError(
    Effect.suspend(() => Effect.fromResult(read(...secret))),
    (problem) => new SettingsError({ problems: [problem] })
  )
