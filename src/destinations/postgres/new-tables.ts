/**
 * Tables that a database does not have yet: all of them in a first load. One message makes them, their rows are sent as they
 * are, and PostgreSQL decides whether it can hold them and index them. What it refuses is left to the load that looks at each
 * value before it sends it.
 */
import * as Effect from "effect/Effect"
import { isOfTable } from "./attempts.ts"
import { indexChanges } from "./indexes.ts"
import type { ReleaseTable } from "./release-tables.ts"
import { areSmall, insertAll, plainColumns } from "./rows.ts"
import type { Server, ServerError } from "./server.ts"
import type { tableStatements } from "./tables.ts"

interface NewTable {
  readonly table: ReleaseTable
  readonly statements: Pick<ReturnType<typeof tableStatements>, "alterations" | "comments">
}

const begin = "SAVEPOINT sluice_new"
const end = "RELEASE SAVEPOINT sluice_new"

/** Returns the names of the tables that are complete. Nothing is left of the others. */
export const loadNew = Effect.fn("postgres.loadNew")(function* (
  server: Server,
  tables: ReadonlyArray<NewTable>,
  file: string
) {
  const loaded = new Set<string>()
  const creation = tables.flatMap(({ statements: { alterations, comments }, table }) => [
    ...alterations,
    ...comments,
    ...(table.rows === 0 ? indexesOf(table) : [])
  ])
  if (tables.length === 0 || (yield* isRefused(server, server.run([begin, ...creation, end, begin])))) return loaded
  const filled = tables.flatMap(({ table }) => (table.rows === 0 ? [] : [table]))
  for (const { table } of tables) if (table.rows === 0) loaded.add(table.name)
  // A server with autovacuum looks at new rows by itself within a minute, so that readers wait no longer for the load.
  const [setting] = yield* server.rows<{ automatic: boolean }>(
    "SELECT current_setting('autovacuum')::bool AND current_setting('track_counts')::bool AS automatic"
  )
  const plain = yield* plainColumns(filled)
  const isSmall = areSmall(filled)
  for (const [index, table] of filled.entries()) {
    const inserted = insertAll(server, table, { file, plain: plain[index]!, isSmall })
    const analysis = setting?.automatic ? [] : [`ANALYZE ${table.path}`]
    // The next table begins in the message that ends this one.
    const work = Effect.andThen(inserted, server.run([...indexesOf(table), ...analysis, end, begin]))
    if (yield* isRefused(server, work)) yield* server.run([`DROP TABLE ${table.path}`, begin])
    else loaded.add(table.name)
  }
  yield* server.run([end])
  return loaded
})

/** Whether PostgreSQL refuses something, of which nothing is left then. */
const isRefused = <E, R>(server: Server, work: Effect.Effect<void, ServerError | E, R>) =>
  work.pipe(
    Effect.as(false),
    Effect.catchIf(isOfTable, () => Effect.as(server.run([`ROLLBACK TO ${begin}`, end]), true))
  )

/** As if each value fitted into an index and each row had a key of its own: otherwise, PostgreSQL refuses the statements. */
const indexesOf = (table: ReleaseTable): ReadonlyArray<string> => {
  const permitted = { isKeyed: table.key.length > 0, columns: new Map() }
  return indexChanges(table, permitted, { existing: [], isNew: true, isWhole: true }).after
}
