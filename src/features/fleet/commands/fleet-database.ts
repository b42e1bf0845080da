/** Connects a fleet command to its database. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type Database, DatabaseError } from "../database.ts"
import { databaseLayer } from "./connect.ts"
import type { FleetSettings } from "../../../settings/fleet.ts"
import { openObjects } from "../state/objects.ts"
import { CommandError } from "../../../console/errors.ts"
import { Output } from "../../../console/streams.ts"

/** One statement at a time is enough for a command, which decides nothing. */
export const commandLayer = (database: Redacted.Redacted) =>
  databaseLayer(database, { max: 2, supervise: false, schedule: false, registerInstance: false })

export const withDatabase = <A, E>({ database }: FleetSettings, work: Effect.Effect<A, E | DatabaseError, Database>) =>
  Effect.flatMap(Output, ({ keepSecret }) => {
    keepSecret(Redacted.value(database))
    return work.pipe(Effect.provide(commandLayer(database)), unavailable)
  })

export const unavailable = <A, E, R>(work: Effect.Effect<A, E | DatabaseError, R>) =>
  Effect.mapError(work, (error): Exclude<E, DatabaseError> | CommandError =>
    error instanceof DatabaseError
      ? new CommandError({
          ends: "later",
          message: `The database of the fleet does not answer as expected: ${error.detail}.`,
          next: "Check fleet.database and the server, then run the same command again."
        })
      : (error as Exclude<E, DatabaseError>)
  )

/** Where the folders of locations are, if it is a bucket. */
export const openState = Effect.fnUntraced(function* (settings: FleetSettings) {
  const bucket = yield* settings.bucket
  const { keepSecret } = yield* Output
  for (const secret of [bucket?.key, bucket?.secret]) if (secret !== undefined) keepSecret(Redacted.value(secret))
  return bucket && (yield* Effect.promise(() => openObjects(bucket)))
})
