/**
 * The last stage: brings the files that people open up to date with the warehouse, and replaces all of them at once or none.
 * The work is in proportion to what has changed: a file of a table that has not changed becomes a link to the file of the
 * previous release, and of a table with few changed rows only these are written where the format permits it.
 */
import { Effect } from "effect"
import { hash } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Failure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { snapshotName } from "../../output/paths.ts"
import type { FailedModel } from "../../stores/warehouse/meta/model-problems.ts"
import type { Ordered } from "./models/order.ts"
import { storedFingerprint } from "../../stores/warehouse/meta/schema-version.ts"
import { changedKeys } from "../../stores/warehouse/meta/content-versions.ts"
import { readingDays } from "../../stores/warehouse/meta/watermarks.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type TableName, changesSince } from "./changes.ts"
import { storedTables } from "../../stores/warehouse/columns.ts"
import type { Document } from "./contracts/data-package.ts"
import { contentsOf } from "./contents.ts"
import { type PublishedFile, type Totals, totalsOf } from "../../output/manifest.ts"
import { type WholeManifest, confirmRelease, failedModels, previousRelease, writeManifest } from "./manifest.ts"
import { modelVersions, putModels, viewShapes } from "./models.ts"
import { type Put, type ReleaseFormat, earlierFiles, putRows, putSnapshot, rowsOfTable } from "./put.ts"
import { currentRelease } from "./current.ts"
import { type Making, abandonRelease, beginRelease, commitRelease, durableFile } from "./release.ts"
import { type SnapshotStatements, checkpointIfMany, isSmall, pathOf, withAttached } from "./snapshot.ts"
import { type FormatName, formatNames, loadFormat } from "../../stores/formats/formats.ts"
import { joinedInOrder, storedOrder } from "../../stores/warehouse/parts.ts"

export interface PublishOptions {
  /** Becomes a link to the newest release; the releases are in a hidden folder next to it. */
  readonly folder: string
  readonly formats: ReadonlyArray<"duckdb" | FormatName>
  readonly run: string
  /** The id of the output folder, in the release of a target. */
  readonly owner?: string | undefined
  readonly schemaVersion: string
  readonly statements?: SnapshotStatements
  /** The models to build. */
  readonly models?: Ordered
  /** The rows are masked, perhaps by other rules than in the release before: no table of it stays for a failed model. */
  readonly isMasked?: boolean
  /** Makes the documents that describe the files of a release. */
  readonly documents?: (
    files: ReadonlyArray<PublishedFile>
  ) => Effect.Effect<ReadonlyArray<Document>, Failure, Warehouse>
  /** Write every file anew. */
  readonly full?: boolean
}

export interface Published {
  /** Models that could not be built. The release has an earlier table of some. */
  readonly problems: ReadonlyArray<FailedModel>
  /** Whether there is a new release; otherwise the current one shows the present content. */
  readonly isNew: boolean
  readonly files: ReadonlyArray<PublishedFile>
  readonly totals: Totals
  readonly folder: string
  readonly few?: FewChanges | undefined
}

/** What is known of the changes since the release before, if it has a DuckDB file. */
export interface FewChanges {
  /** SHA-256 of the DuckDB file of the release before. */
  readonly since: string
  /** Tables of which only rows of the records in `meta.changed_keys` have changed. */
  readonly tables: ReadonlySet<string>
}

/**
 * Needs disk space for one more release than the two that are kept. Every file contains the deleted rows, with `_deleted_at`.
 * If nothing has changed, there is no new release.
 */
export const publish = Effect.fn("publish")(function* (
  options: PublishOptions,
  tables: ReadonlyArray<TableName>
): Effect.fn.Return<Published, Failure, Warehouse> {
  const { folder, run, schemaVersion, formats, statements = { shared: [], own: [] } } = options
  // Finishes what was killed.
  yield* currentRelease(folder)
  const previous = options.full ? undefined : yield* previousRelease(folder)
  const changes = yield* changesSince(previous, tables)
  const models = options.models ?? { models: [], problems: [] }
  const versions = modelVersions(models, changes.versions, yield* readingDays)
  const { memoryMb } = yield* Warehouse
  const definitions = hash("sha256", JSON.stringify([yield* storedFingerprint(), statements])).slice(0, 32)
  if (previous && isCurrent(previous.manifest)) {
    yield* confirmRelease(previous)
    const known = failedModels(previous.manifest)
    const failed = [
      ...models.problems.map((one) => ({ ...one, kept: known.find(({ where }) => where === one.where)?.kept })),
      ...known.filter(({ where }) => where in versions)
    ]
    const { files, tables } = previous.manifest
    return { isNew: false, files, totals: totalsOf(tables), problems: failed, folder }
  }
  const release = yield* beginRelease(folder, run)
  return yield* Effect.gen(function* () {
    const { building } = release
    const stored = yield* storedTables
    const making: Making = { building, previous, stored, texts: new Map() }
    const filesBefore = earlierFiles(previous)
    const fileFormats = yield* Effect.forEach(
      formatNames.filter((name) => formats.includes(name)),
      (name) => Effect.map(loadFormat(name), (format): ReleaseFormat => ({ name, format }))
    )
    const snapshot = formats.includes("duckdb")
      ? yield* putSnapshot(changes.tables, statements, definitions, making)
      : undefined
    const isUpdated = snapshot?.fullBytes !== undefined
    const putAll = Effect.gen(function* () {
      const contents = yield* contentsOf(changes.tables, isUpdated, making)
      if (snapshot) yield* Effect.andThen(snapshot.fill, checkpointIfMany(stored, isUpdated))
      const put: Array<Put> = []
      for (const [resource, tables] of Map.groupBy(changes.tables, (table) => table.resource)) {
        const keys = yield* Effect.cached(changedKeys(resource))
        for (const table of tables) {
          const rows = () => rowsOfTable(table, stored, making.texts, snapshot !== undefined)
          const isWhole = isSmall(stored.of(pathOf("crm", table.wide ? { name: table.wide.table } : table)))
          const files = Effect.forEach(fileFormats, ({ format, name }) => {
            const before = filesBefore(name, table.name)
            const update = isWhole ? undefined : { table, keys }
            return putRows(rows, format, { folder: name, change: table.change, before, update }, building)
          })
          put.push(...(yield* table.wide ? joinedInOrder(files) : files))
        }
      }
      const totals = totalsOf(contents)
      if (snapshot) put.unshift({ path: snapshotName, table: "*", rows: totals.rows })
      const built = yield* putModels(
        models,
        versions,
        { fileFormats, filesBefore, hasDatabase: snapshot !== undefined, isUpdated, isMasked: options.isMasked },
        making
      )
      return { built, contents, totals, put: [...put, ...built.files] }
    })
    const { built, contents, put, totals } = yield* snapshot
      ? withAttached(join(building, snapshotName), stored, putAll, isUpdated)
      : putAll
    // Flushing a small file is mostly waiting, so several files are flushed concurrently.
    const files = yield* Effect.forEach(
      put,
      (file) => ("sha256" in file ? Effect.succeed(file) : durableFile(building, file)),
      { concurrency: 8 }
    )
    const fullBytes = snapshot ? (snapshot.fullBytes ?? files[0]?.bytes ?? 0) : 0
    const documents = options.documents ? yield* options.documents(files) : []
    for (const { path, text } of documents) {
      yield* onDisk(join(building, path), "written", () => writeFile(join(building, path), text, { mode: 0o600 }))
      files.push(yield* durableFile(building, { path, table: "*", rows: 0 }))
    }
    yield* writeManifest(building, {
      run,
      owner: options.owner,
      schemaVersion,
      formats,
      state: {
        definitions,
        versions: changes.versions,
        models: versions,
        views: viewShapes(models),
        fullBytes,
        ...(built.problems.length > 0 && { memoryMb })
      },
      problems: built.problems,
      tables: contents,
      files
    })
    yield* commitRelease(release)
    const since = previous?.manifest.files.find(({ path }) => path === snapshotName)?.sha256
    const some = changes.tables.flatMap(({ change, name }) => (change === "some" ? [name] : []))
    const few = since === undefined ? undefined : { since, tables: new Set(some) }
    return { isNew: true, files, totals, problems: built.problems, folder, few }
  }).pipe(
    storedOrder,
    Effect.onError(() => abandonRelease(release)),
    Effect.mapError(({ reason }) => new Failure({ reason, unpublished: folder }))
  )

  function isCurrent({ state, ...manifest }: WholeManifest): boolean {
    return (
      (state.memoryMb ?? memoryMb) >= memoryMb &&
      JSON.stringify([manifest.formats, state.definitions, state.versions, state.models ?? {}]) ===
        JSON.stringify([formats, definitions, changes.versions, versions])
    )
  }
})
