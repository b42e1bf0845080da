/** Every setting that counts and where it came from: flag, environment, file or default. Secrets are only said to be set. */
import { Effect } from "effect"
import {
  type AccountSettings,
  type Flags,
  type OutputSettings,
  defaultFile,
  environmentNames,
  fileSettings
} from "../settings.ts"
import type { Failure } from "../failure.ts"

export interface Source {
  /** As in the settings file. */
  readonly key: string
  readonly value: string
  readonly from: string
}

const flagNames: Readonly<Record<string, keyof Flags>> = {
  "account.base_url": "baseUrl",
  "account.location_id": "location",
  "output.folder": "output"
}
const flagTexts = { baseUrl: "--base-url", location: "--location", output: "--output", config: "--config" } as const

const variables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(environmentNames).map(([variable, key]) => [`account.${key}`, variable])),
  "output.folder": "SLUICE_OUTPUT",
  "output.formats": "SLUICE_FORMATS",
  "output.file_mb_max": "SLUICE_FILE_MB_MAX"
}

const secretKeys: ReadonlySet<string> = new Set(["account.token", "account.client_secret", "account.refresh_token"])

/** What is in force where it could be worked out, and what is written where it could not. */
export const sourcesOf = Effect.fn("doctor.sources")(function* (
  flags: Flags,
  environment: Readonly<Record<string, string | undefined>>,
  output: OutputSettings,
  account: AccountSettings | undefined
): Effect.fn.Return<ReadonlyArray<Source>, Failure> {
  const sections = Object.entries(yield* fileSettings(flags))
  const written = new Map<string, unknown>(
    sections.flatMap(([section, values]) =>
      Object.entries(values ?? {}).map(([key, value]) => [`${section}.${key}`, value] as const)
    )
  )
  const inForce = valuesOf(output, account)
  return [...new Set([...Object.keys(variables), ...inForce.keys(), ...written.keys()])].flatMap((key) => {
    const flag = flagNames[key]
    const variable = variables[key]
    const [sent, from] =
      flag !== undefined && flags[flag]
        ? [flags[flag], `flag ${flagTexts[flag]}`]
        : variable !== undefined && environment[variable]
          ? [environment[variable], `environment ${variable}`]
          : written.has(key)
            ? [written.get(key), `file ${flags.config ?? defaultFile}`]
            : [undefined, "default"]
    const value = inForce.get(key) ?? sent
    if (value === undefined) return []
    return [{ key, value: secretKeys.has(key) ? "set" : shown(value), from }]
  })
})

const valuesOf = (output: OutputSettings, account: AccountSettings | undefined): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ["output.folder", output.folder],
    ["output.formats", output.formats],
    ["output.csv_profile", output.csvProfile],
    ["output.file_mb_max", output.fileMbMax],
    ["machine.memory_mb", output.memoryMb],
    ...(account
      ? ([
          ["account.base_url", account.api.baseUrl],
          ["budget.reserve_per_day", account.api.limits.reservePerDay],
          ["budget.burst", account.api.limits.burst],
          ["budget.window_seconds", account.api.limits.windowMs / 1000]
        ] as const)
      : [])
  ])

const shown = (value: unknown): string =>
  Array.isArray(value)
    ? value.length === 0
      ? "none"
      : value.join(", ")
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value)
