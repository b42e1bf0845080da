/** Connects a fleet command to its database. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Database, DatabaseError } from "../database.ts"
import { databaseLayer } from "./connect.ts"
import type { FleetSettings } from "../../../settings/fleet.ts"
import { CommandError } from "../../../run/console/errors.ts"
import { Output } from "../../../run/console/output.ts"

/** One statement at a time is enough for a command, which decides nothing. */
export const commandLayer = (database: Redacted.Redacted) =>
  databaseLayer(database, { max: 2, supervise: false, schedule: false, registerInstance: false })

export const withDatabase = <A, E>(
  { database }: FleetSettings,
  work: Effect.Effect<A, E | DatabaseError, Database>
): Effect.Effect<A, Exclude<E, DatabaseError> | CommandError, Output> =>
  Effect.flatMap(Output, ({ keepSecret }) => {
    keepSecret(Redacted.value(database))
    return work.pipe(Effect.provide(commandLayer(database)), unavailable)
  })

export const unavailable = <A, E, R>(
  work: Effect.Effect<A, E | DatabaseError, R>
): Effect.Effect<A, Exclude<E, DatabaseError> | CommandError, R> =>
  Effect.catchIf(
    work,
    (error): error is E & DatabaseError => (error as { readonly _tag?: string })._tag === "DatabaseError",
    ({ detail }) =>
      Effect.fail(
        new CommandError({
          ends: "later",
          message: `The database of the fleet does not answer as expected: ${detail}.`,
          next: "Check fleet.database and the server, then run the same command again."
        })
      )
  ) as Effect.Effect<A, Exclude<E, DatabaseError> | CommandError, R>
