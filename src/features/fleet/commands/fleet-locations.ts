/** `sluice fleet locations`: which locations the fleet has. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { id, text } from "../../../catalog/fields.ts"
import { at, written } from "../../../catalog/json.ts"
import { company, cursorOr, get, size } from "../../../catalog/request.ts"
import { byOffset, defineList } from "../../../catalog/resource.ts"
import { Api } from "../../../stages/api/api.ts"
import { readList } from "../../../stages/extract/read-list.ts"
import { isLocationId, isStoredReference } from "./reference.ts"
import { type NewLocation, addLocations, removeLocations } from "./roster.ts"
import { inMemory } from "../../../stores/warehouse/in-memory.ts"
import type { FleetSettings } from "../../../settings/fleet.ts"
import type { Flags } from "../../../settings/read.ts"
import { fleetSettings } from "../../../settings/settings.ts"
import { Environment } from "../../../values/environment.ts"
import { CommandError, explained, usageError } from "../../../console/errors.ts"
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

/** The list of an agency's locations, of which the documents state no maximum page size. */
const agencyLocations = defineList({
  table: "locations",
  description: "The locations of an agency.",
  source: "A 4.6 GET /locations/search",
  scope: "locations.readonly",
  full: [
    byOffset(get("/locations/search", { companyId: company, skip: cursorOr(0), limit: size }), {
      records: "locations",
      pageSize: 100
    })
  ],
  fields: { id: id("Location id"), name: text("Name of the account") }
})

const tokenName = "fleet.agency_token"
const fromAgency = Effect.fnUntraced(function* ({ agencyToken, api, companyId, optional }: FleetSettings) {
  const settings = yield* api
  const token = yield* agencyToken
  ;(yield* Output).keepSecret(Redacted.value(token))
  return yield* readList(agencyLocations, { company: companyId, optional }).pipe(
    Stream.mapEffect(locationOf),
    Stream.runCollect,
    Effect.provide(Api.layer({ ...settings, credentials: { kind: "private", token } })),
    Effect.catchTags({
      BadCredentials: unlisted,
      Forbidden: unlisted,
      RequestRejected: unlisted,
      WrongLocation: unlisted
    }),
    Effect.mapError(explained({ location: "", tokenName }))
  )
})

const locationOf = (record: unknown) => {
  const [location, name] = [at(record, "id"), at(record, "name")]
  return typeof location === "string"
    ? Effect.succeed<NewLocation>({ location, ...(typeof name === "string" && { name }) })
    : unlisted({ message: `a location has the id ${written(location)}` })
}

const unlisted = ({ message }: { readonly message: string }) =>
  Effect.fail(
    new CommandError({
      ends: "credentials",
      message: `The locations of the agency could not all be listed, and none was added: ${message}.`,
      next: `Check ${tokenName} and account.company_id, or import a CSV file.`
    })
  )

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
