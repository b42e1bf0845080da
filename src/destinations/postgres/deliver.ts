/**
 * Brings the database of a target up to date with the target's current release. Beside the releases, `loaded.duckdb` is the
 * file that the database got last: the changes since then are the difference of two files, whatever happened in between.
 */
import * as Effect from "effect/Effect"
import { constants } from "node:fs"
import { copyFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { onDisk } from "../../output/files.ts"
import { snapshotName } from "../../output/paths.ts"
import type { Delivery, Receiver } from "../contract.ts"
import type { PostgresDestination } from "./settings.ts"
import { loadedLocations } from "../../stores/warehouse/meta/run-resources.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { failure } from "../../values/failure.ts"
import { previousRelease, snapshotSum } from "../../stages/publish/manifest.ts"
import { type Loaded, isLoaded, loadRelease } from "./load.ts"
import { removeRows } from "./removal.ts"
import { type Paths, keepLoaded, loadedIn, pathsIn } from "./state.ts"
import { ownerOf } from "../../output/folder.ts"
import { outputPaths } from "../../output/paths.ts"
import { removeBelow } from "../../output/remove.ts"
import { releaseTables } from "./release-tables.ts"
import { loadedName, recordsName } from "./rows.ts"
import { connect, patiently } from "./server.ts"

/** Returns the tables that were changed in the database. Fails after all others were, if some could not be. */
export const deliver = Effect.fn("postgres.deliver")(function* (
  { destination, folder, name: target }: Receiver<PostgresDestination>,
  { few, full, isMasked, models, output, releases, tables }: Delivery
) {
  const release = yield* previousRelease(releases)
  // A release that was just published is complete.
  if (release === undefined) return []
  const { manifest } = release
  const owner = yield* ownerOf(output.folder)
  const content = snapshotSum(manifest)
  const { schema } = destination
  // The files of a release that is written anew have no table of a failed model either.
  const kept = !isMasked && !full ? manifest.problems.map(({ model }) => `bi.${model}`) : []
  const locations = (yield* loadedLocations()).toSorted()
  const paths = yield* pathsIn(dirname(folder))
  const { changed, notes, waiting } = yield* Effect.gen(function* () {
    const server = yield* connect(destination)
    if (!full && (yield* isLoaded(server, { content, locations, owner, schema }))) return nothing
    // A copy, because a reader may have locked the file.
    yield* onDisk(paths.current, "written", () =>
      copyFile(join(release.folder, snapshotName), paths.current, constants.COPYFILE_FICLONE)
    )
    const loadedContent = full ? undefined : yield* loadedIn(paths)
    const isKnown = few !== undefined && few.since === loadedContent
    if (isKnown) yield* writeRecords(paths.records)
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
        attachLoaded: attachLoaded(paths),
        few: isKnown ? yield* readRecords(paths.records, few.tables) : new Set<string>(),
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
  }).pipe(Effect.scoped, (work) => patiently(target, work))
  yield* keepLoaded(paths, content)
  for (const note of notes)
    yield* Effect.annotateLogs(Effect.logWarning("PostgreSQL cannot hold everything as it is"), { target, note })
  if (waiting.length > 0) return yield* failure({ _tag: "TablesWait", target, tables: waiting })
  return changed
})

const nothing: Loaded = { changed: [], notes: [], waiting: [] }

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

const attachLoaded = Effect.fnUntraced(function* ({ loaded }: Paths) {
  const warehouse = yield* Warehouse
  return yield* Effect.isSuccess(warehouse.run(`ATTACH ${literal(loaded)} AS ${loadedName} (READ_ONLY)`))
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
