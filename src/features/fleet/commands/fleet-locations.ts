/** `sluice fleet locations`: which locations the fleet has. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { commonHeaders } from "../../../stages/api/http.ts"
import { isLocationId, isStoredReference } from "./reference.ts"
import { type NewLocation, addLocations, removeLocations } from "./roster.ts"
import { inMemory } from "../../../stores/warehouse/in-memory.ts"
import { SettingsError, missing } from "../../../settings/errors.ts"
import { accountSection } from "../../../settings/account.ts"
import type { FleetSettings } from "../../../settings/fleet.ts"
import type { Flags } from "../../../settings/read.ts"
import { fleetSettings } from "../../../settings/settings.ts"
import { Environment } from "../../../values/environment.ts"
import { CommandError, usageError } from "../../../console/errors.ts"
import { report } from "./fleet.ts"
import { withDatabase } from "./fleet-database.ts"
import { Output } from "../../../console/streams.ts"
import { messageOf } from "../../../values/thrown.ts"

type LocationFlags = Pick<Flags, "config" | "baseUrl">

export const locationsAdd = Effect.fn("command.locationsAdd")(function* (
  flags: LocationFlags & { readonly ids: ReadonlyArray<string>; readonly token: string | undefined }
) {
  const locations = flags.ids.map((location) => ({ location, token: flags.token }))
  return yield* add(yield* fleetSettings(flags, yield* Environment), locations)
})

export const locationsImport = Effect.fn("command.locationsImport")(function* (
  flags: LocationFlags & { readonly file: string | undefined }
) {
  const settings = yield* fleetSettings(flags, yield* Environment)
  const { file } = flags
  const found = yield* file === undefined ? fromAgency(settings) : fromFile(file)
  return yield* add(settings, found)
})

export const locationsRemove = Effect.fn("command.locationsRemove")(function* (
  flags: LocationFlags & { readonly ids: ReadonlyArray<string> }
) {
  const settings = yield* fleetSettings(flags, yield* Environment)
  const removed = yield* withDatabase(settings, removeLocations(flags.ids))
  return report("fleet-locations", removed, flags.ids.length, (count) => `${count} removed`)
})

const add = Effect.fnUntraced(function* (settings: FleetSettings, locations: ReadonlyArray<NewLocation>) {
  for (const { location, token } of locations) {
    if (!isLocationId(location))
      return yield* usage(`${JSON.stringify(location)} is not the id of a location: letters, digits, - and _ only.`)
    // The text may be the token itself, so the message does not repeat it.
    if (token !== undefined && !isStoredReference(token))
      return yield* usage(
        `The token of ${location} is not a reference env:NAME or file:/path. The database contains no tokens, and no commands.`
      )
  }
  const added = yield* withDatabase(settings, addLocations(locations))
  return report("fleet-locations", added, locations.length, (count) => `${count} added`)
})

const usage = (message: string) => Effect.fail(usageError(message, "./sluice fleet locations add --help"))

const fromAgency = Effect.fnUntraced(function* ({ agencyToken, baseUrl, companyId }: FleetSettings) {
  if (baseUrl === undefined)
    return yield* new SettingsError({ problems: [missing("account.base_url", accountSection.base_url)] })
  const token = Redacted.value(yield* agencyToken)
  ;(yield* Output).keepSecret(token)
  return yield* Effect.tryPromise({
    try: () => agencyLocations(baseUrl, token, companyId),
    catch: (cause) =>
      new CommandError({
        ends: "later",
        message: `The locations of the agency could not be listed: ${messageOf(cause)}.`,
        next: "Check fleet.agency_token and account.company_id, or import a CSV file."
      })
  })
})

/** A CSV file with a header, in any order of its columns. */
const fromFile = (file: string) =>
  Effect.tryPromise({
    try: () =>
      inMemory(async (connection) => {
        const read = await connection.runAndReadAll("FROM read_csv($file, header = true, all_varchar = true)", { file })
        return read.getRowObjectsJson().map(({ location, name, token }): NewLocation => ({
          location: String(location ?? ""),
          ...(typeof name === "string" && { name }),
          ...(typeof token === "string" && { token })
        }))
      }),
    catch: (cause) =>
      usageError(
        `${file} could not be read as CSV: ${messageOf(cause).split("\n")[0]}`,
        "Write a header with the column location, and optionally name and token."
      )
  })

/** `GET /locations/search` has no total, so the end is a page without a new location. */
const pageSize = 100
/** More than any agency has, in case the service repeats itself with other ids. */
const pagesMax = 1000

/** Rejects with a sentence about the response. */
const agencyLocations = async (baseUrl: string, token: string, companyId: string | undefined) => {
  const found = new Map<string, NewLocation>()
  for (let page = 0; page < pagesMax; page++) {
    const query = new URLSearchParams({ skip: String(page * pageSize), limit: String(pageSize) })
    if (companyId !== undefined) query.set("companyId", companyId)
    const before = found.size
    for (const { id, name } of await pageOf(`${baseUrl}/locations/search?${query}`, token))
      if (id !== undefined) found.set(id, { location: id, name })
    if (found.size === before) break
  }
  return [...found.values()]
}

type Page = ReadonlyArray<{ readonly id?: string; readonly name?: string }>
const pageOf = async (url: string, token: string): Promise<Page> => {
  const headers = { ...commonHeaders, authorization: `Bearer ${token}`, "accept-encoding": "gzip" }
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) })
  if (!response.ok)
    throw new Error(`GET /locations/search answered ${response.status}: ${(await response.text()).slice(0, 200)}`)
  const body = (await response.json()) as { readonly locations?: unknown }
  if (!Array.isArray(body.locations)) throw new Error("GET /locations/search answered without a list of locations")
  return body.locations
}
