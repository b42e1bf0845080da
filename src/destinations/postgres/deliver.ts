/**
 * Brings the database of a target up to date with the target's current release. Beside the releases, `loaded.duckdb` is the
 * file that the database got last: the changes since then are the difference of two files, whatever happened in between.
 */
import * as Effect from "effect/Effect"
import { constants, existsSync } from "node:fs"
import { copyFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { onDisk } from "../../output/files.ts"
import { snapshotName } from "../../output/paths.ts"
import type { Receiver } from "../contract.ts"
import type { Permitted } from "../guarded.ts"
import type { PostgresDestination } from "./settings.ts"
import { loadedLocations } from "../../stores/warehouse/meta/run-resources.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { failure } from "../../values/failure.ts"
import { snapshotSum } from "../../stages/publish/manifest.ts"
import { countRows, loadRelease } from "./load.ts"
import { removeRows } from "./removal.ts"
import { behind, keepLoaded, noteIn, pathsIn, storedState } from "./state.ts"
import { ownerOf } from "../../output/folder.ts"
import { outputPaths } from "../../output/paths.ts"
import { removeBelow } from "../../output/remove.ts"
import { releaseTables } from "./release-tables.ts"
import { recordsName } from "./rows.ts"
import { connect, patiently } from "./server.ts"

/** Our own version, and the rows of each table, against those after the load. */
export const look = Effect.fn("postgres.look")(function* (
  { destination, folder, name: target }: Receiver<PostgresDestination>,
  { owner }: { readonly owner: string }
) {
  const { schema } = destination
  const note = yield* noteIn(yield* pathsIn(dirname(folder)))
  const looking = Effect.gen(function* () {
    const server = yield* connect(destination)
    const state = yield* storedState(server, schema)
    const mine = state.filter((one) => one.owner === owner)
    const own = mine.find((one) => one.table_name === "")
    if (own === undefined) return undefined
    const counts = yield* countRows(server, schema, state, own)
    // What was loaded by another machine, or restored from a backup, is another version, which the next load replaces.
    const expected = note?.content === own.version ? Object.entries(note.rows ?? {}) : []
    const missing = expected.flatMap(([table, rows]) => (counts[table] === rows ? [] : [table]))
    return { owner: undefined, run: own.run_id, missing, mine, own, counts }
  })
  return yield* patiently(target, Effect.scoped(looking))
})

type There = NonNullable<Effect.Success<ReturnType<typeof look>>>

/** One transaction brings it up to date. It fails after all other tables were changed, if some could not be. */
export const stage = Effect.fn("postgres.stage")(function* (
  { destination, folder, name: target }: Receiver<PostgresDestination>,
  { few, found, full, isMasked, models, output, owner, release, tables }: Permitted<There>
) {
  const { manifest } = release!
  const content = snapshotSum(manifest)
  const { schema } = destination
  // The files of a release that is written anew have no table of a failed model either.
  const kept = !isMasked && !full ? manifest.problems.map(({ model }) => `bi.${model}`) : []
  const locations = (yield* loadedLocations()).toSorted()
  const isComplete = found?.missing.length === 0 && found.mine.every(({ version }) => version !== behind)
  const paths = yield* pathsIn(dirname(folder))
  if (isComplete && found.own.version === content && found.own.shape === locations.join(",")) {
    // A run may have ended after the database had the file, and before it was kept.
    if (existsSync(paths.current)) yield* keepLoaded(paths, { content, rows: found.counts })
    return undefined
  }
  // A copy, because a reader may have locked the file.
  yield* onDisk(paths.current, "written", () =>
    copyFile(join(release!.folder, snapshotName), paths.current, constants.COPYFILE_FICLONE)
  )
  const loadedContent = full ? undefined : (yield* noteIn(paths))?.content
  const isKnown = few !== undefined && few.since === loadedContent
  if (isKnown) yield* writeRecords(paths.records)
  const loading = Effect.gen(function* () {
    const server = yield* connect(destination)
    const load = Effect.gen(function* () {
      return yield* loadRelease(server, {
        target,
        schema,
        tables: yield* releaseTables(schema, manifest, tables, models),
        kept: new Set(kept),
        owner,
        locations,
        content,
        loadedContent,
        loadedFile: paths.loaded,
        few: isKnown ? yield* readRecords(paths.records, few.tables) : new Set<string>(),
        missing: new Set(found?.missing),
        run: manifest.run,
        full,
        file: paths.rows
      })
    })
    return yield* Effect.provide(
      load,
      Warehouse.layer(paths.current, { access: "read", isRelease: true, memoryMb: output.memoryMb }),
      // Each attempt opens the file again.
      { local: true }
    )
  })
  return Effect.gen(function* () {
    const { changed, notes, rows, waiting } = yield* patiently(target, Effect.scoped(loading))
    yield* keepLoaded(paths, { content, rows })
    for (const note of notes)
      yield* Effect.annotateLogs(Effect.logWarning("PostgreSQL cannot hold everything as it is"), { target, note })
    if (waiting.length > 0) return yield* failure({ _tag: "TablesWait", target, tables: waiting })
    return changed
  })
})

/** Removes from a database what this output folder has loaded into it. */
export const withdraw = Effect.fn("postgres.withdraw")(function* (
  { destination: { schema, url }, folder, name: target }: Receiver<PostgresDestination>,
  output: string
) {
  const owner = yield* ownerOf(output)
  const removed = Effect.flatMap(connect({ url }), (server) => removeRows(server, { owner, schema }))
  yield* patiently(target, Effect.scoped(removed))
  yield* onDisk(folder, "removed", () => removeBelow(outputPaths(output).destinations, dirname(folder)))
})

/** From the warehouse, for the connection that has the release open. */
const writeRecords = Effect.fnUntraced(function* (path: string) {
  const records = "SELECT DISTINCT resource, key FROM meta.changed_keys"
  yield* (yield* Warehouse).run(`COPY (${records}) TO ${literal(path)} (FORMAT parquet)`)
})

const readRecords = Effect.fnUntraced(function* (path: string, tables: ReadonlySet<string>) {
  yield* (yield* Warehouse).run(`CREATE TEMP TABLE ${recordsName} AS FROM read_parquet(${literal(path)})`)
  return tables
})
