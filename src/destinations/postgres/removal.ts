/** Removes rows of an output folder, and tables that nothing else uses. */
import * as Effect from "effect/Effect"
import { some } from "../../values/text.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { type ReleaseTable, modelSchema } from "./release-tables.ts"
import { type Server, ServerError, transaction } from "./server.ts"
import { postgresName } from "./shape.ts"
import { type StoredState, forgetState, shapeIn, storedState } from "./state.ts"
import { type Existing, existingTables, isNeeded, unlessRefused } from "./tables.ts"

/** An output folder and where its tables are. */
interface Owned {
  readonly owner: string
  readonly schema: string
}

/** Removes all rows of an output folder. */
export const removeRows = (server: Server, { owner, schema }: Owned) =>
  transaction(
    server,
    Effect.gen(function* () {
      const state = yield* storedState(server, schema)
      const mine = state.filter((one) => one.owner === owner)
      const existing = yield* existingTables(server, [schema, modelSchema(schema)])
      const others = state.filter((one) => one.owner !== owner)
      const scope = mine.find((one) => one.table_name === "")?.shape.split(",") ?? []
      for (const one of mine)
        if (one.table_name !== "") yield* removeTable(server, { owner, schema }, one, existing, others, scope)
      if (mine.length > 0) yield* server.run([forgetState(schema, owner, "")])
    })
  )

/**
 * Deletes the rows of this output folder. Not by TRUNCATE, after which a program that has begun to read sees an empty table.
 * Rows without a location that other output folders share stay.
 */
export const deleteAll = (
  server: Server,
  { path }: Pick<ReleaseTable, "path">,
  columns: Existing,
  scope: ReadonlyArray<string>,
  isAlone: boolean
): Effect.Effect<void, ServerError> =>
  isAlone
    ? server.run([`DELETE FROM ${path}`])
    : columns.has("location_id")
      ? server.run([`DELETE FROM ${path} WHERE location_id IN (${scope.map(literal).join(", ")})`])
      : Effect.void

/** Removes the rows of a table that the release does not have any more, and the table if nothing else uses it. */
export const removeTable = Effect.fnUntraced(function* (
  server: Server,
  { owner, schema }: Owned,
  { shape, table_name: former }: StoredState,
  existing: ReadonlyMap<string, Existing>,
  others: ReadonlyArray<StoredState>,
  scope: ReadonlyArray<string>
) {
  const made = shapeIn(shape).columns.map(([column]) => column)
  const isAlone = !others.some((one) => one.table_name === former)
  const [path, columns] =
    [...existing].find(([path]) => path === pathOfName(schema, former)) ?? ([undefined, undefined] as const)
  // Whoever may write the state may name any table in it: one is sluice's only with the columns that sluice has given it.
  const lacks = made.filter((column) => !columns?.has(column))
  if (path !== undefined && lacks.length > 0)
    return yield* Effect.fail(new ServerError({ message: foreignTable(path, schema, lacks) }, []))
  if (path !== undefined && made.length > 0) {
    yield* deleteAll(server, { path }, columns, scope, isAlone)
    // It stays, without rows, if something depends on it.
    if (isAlone) yield* unlessRefused(server, [`DROP TABLE ${path}`], isNeeded)
  }
  yield* server.run([forgetState(schema, owner, former)])
})

const foreignTable = (path: string, schema: string, lacks: ReadonlyArray<string>): string =>
  `${path} lacks ${some(lacks)}, which sluice has made there, so it may be another table, and nothing of it was removed. Drop it if it is that of sluice; otherwise, delete its row from ${name(schema)}."_sluice"`

export const pathOfName = (schema: string, table: string): string =>
  table.startsWith("bi.")
    ? `${name(modelSchema(schema))}.${name(postgresName(table.slice(3)))}`
    : `${name(schema)}.${name(postgresName(table))}`
