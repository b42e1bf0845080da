/**
 * Erases a person from an output folder: the list of erased people first, then the vault, the warehouse, the published files
 * and those of the records, and at last a search of every file. Each step can be repeated, so a killed erasure continues from its job.
 */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { forgetValues } from "../../../alarms/state.ts"
import type { Catalogue } from "../../../catalog/discover.ts"
import { keySeparator } from "../../../catalog/tables.ts"
import { checksumOf, onDisk, writeDurably } from "../../../output/files.ts"
import { removeExports } from "../subject/own-exports.ts"
import { removeLeftovers, setAsideIn } from "../../../output/leftovers.ts"
import type { GivenExport, Place } from "../../../stores/ledger/given.ts"
import type { RecordFilter } from "../../../stages/load/scan/scan-page.ts"
import { replayInto } from "../../../run/replay.ts"
import type { SchemaPolicies } from "../../../catalog/schema-policy.ts"
import { publishNow } from "../../../run/release.ts"
import { fileNameOf } from "../../../output/names.ts"
import { outputPaths } from "../../../output/paths.ts"
import { workOf } from "../../../destinations/destinations.ts"
import type { OutputSettings } from "../../../settings/settings.ts"
import { type Target, hasOwnRelease } from "../../../settings/targets.ts"
import { lastRun } from "../../../stores/warehouse/meta/runs.ts"
import { prepare } from "../../../stores/warehouse/schema.ts"
import { removeUnnamed } from "../../../stores/warehouse/stored-files.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { type ErasureJob, type Identifier, type RecordKey, recordsIn, removeJob } from "./job.ts"
import { cleanPlaces } from "./places.ts"
import { redactor } from "./redact-frame.ts"
import { isCertain, searchFolders } from "./search.ts"
import { suppress } from "./suppression.ts"
import { type RewrittenSegment, rewriteVault, sealLoaded } from "./vault.ts"
import { replaceWarehouse, writeWithoutErased } from "./warehouse.ts"
import { outputFiles } from "../../../output/contents.ts"
import { isBelow, removeBelow } from "../../../output/remove.ts"

/** The steps that need the lock of the warehouse. The caller provides the warehouse and the vault, and closes them. */
export const eraseStored = Effect.fn("erasure.stored")(function* (
  catalogue: Catalogue,
  output: OutputSettings,
  policies: SchemaPolicies,
  job: ErasureJob
) {
  const { resources } = catalogue
  const { folder } = output
  const paths = outputPaths(folder)
  yield* removeLeftovers(folder, true)
  // An earlier version may have written the tables.
  yield* prepare(catalogue)
  const suppression = yield* suppress(folder, job.identifiers)
  const end = yield* sealLoaded(catalogue, folder, policies)
  const ids = job.identifiers.flatMap((one) => (one.kind === "contact" ? [one.id] : []))
  const segments = yield* rewriteVault(paths.vault, redactor(resources, suppression, ids), { apply: true })
  const { sha256: before } = yield* onDisk(paths.warehouse, "read", () => checksumOf(paths.warehouse))
  const records = recordsIn(job.identifiers)
  const scratch = join(paths.temporary, "kept")
  if (records.kept.length > 0) {
    yield* onDisk(scratch, "created", () => mkdir(scratch, { recursive: true, mode: 0o700 }))
    yield* replayInto(catalogue, output, policies)(scratch, end, amongRecords(records.kept), Effect.void)
  }
  yield* writeWithoutErased(paths.warehouse, output, catalogue, {
    ...records,
    keptRows: join(scratch, "replayed.duckdb"),
    texts: job.texts
  })
  return { segments, before }
})

/** A retention period erases contacts as records. */
const contactOf = (one: Identifier): ReadonlyArray<{ readonly location: string; readonly id: string }> =>
  one.kind === "contact"
    ? [one]
    : one.kind === "record" && one.table === "contacts"
      ? [{ location: one.location, id: one.key }]
      : []

/** The zip file of an export has what the folder beside it has, which is searched. */
const isCopy = (folder: string, file: string): boolean =>
  file.startsWith(`${outputFiles.exports.name}/`) &&
  file.endsWith(".zip") &&
  existsSync(join(folder, file.slice(0, -".zip".length)))

const amongRecords = (records: ReadonlyArray<RecordKey>): RecordFilter => {
  const known = new Set(records.map(({ key, location, table }) => [table, location, key].join("/")))
  return ({ table }, location, key) => known.has([table, location, key.map(String).join(keySeparator)].join("/"))
}

export interface CompleteOptions {
  /** Where data was given away, according to the ledger. */
  readonly given: { readonly places: ReadonlyArray<Place>; readonly exports: ReadonlyArray<GivenExport> }
  /** ISO 8601. */
  readonly now: string
  /** Further folders to publish into. */
  readonly targets: ReadonlyArray<Target>
}

/** The steps after the old warehouse was closed. */
export const completeErasure = Effect.fn("erasure.complete")(function* (
  catalogue: Catalogue,
  output: OutputSettings,
  job: ErasureJob,
  { segments, before }: { readonly segments: ReadonlyArray<RewrittenSegment>; readonly before: string },
  { given, now, targets }: CompleteOptions
) {
  const { folder, memoryMb } = output
  const paths = outputPaths(folder)
  yield* replaceWarehouse(paths.warehouse)
  const renewed = yield* Effect.gen(function* () {
    // The definitions may be newer than the last sync.
    yield* prepare(catalogue)
    const run = yield* lastRun()
    const released = run && (yield* publishNow(catalogue, output, { run: run.id, full: true, targets }))
    const delivered = targets.filter(({ name }) => released?.targets.some((one) => one.name === name))
    const forgotten = yield* Effect.filter(delivered, (to) =>
      Effect.flatMap(workOf(to), ({ forget }) => forget?.(to) ?? Effect.succeed(true))
    )
    return {
      files: yield* removeUnnamed(catalogue.resources, folder, job.files),
      releases: new Set([
        ...(released?.due === "due" ? [released.folder] : []),
        ...(released?.targets ?? []).flatMap((target) => target.folder ?? [])
      ]),
      cleaned: new Set(forgotten.map(({ destination }) => destination.place))
    }
  }).pipe(Effect.provide(Warehouse.layer(paths.warehouse, { ...output, access: "write" })))
  const { folders, places, releasesRemoved } = yield* cleanPlaces(
    folder,
    [
      { name: "published", folder: paths.published },
      ...targets.filter((target) => hasOwnRelease(target, output.formats)),
      ...given.places
    ],
    renewed
  )
  const exportsRemoved = yield* removeExports(folder, job.identifiers.flatMap(contactOf))
  const setAside = yield* onDisk(folder, "removed", async () => {
    const found = await setAsideIn(folder)
    for (const { path } of found) await removeBelow(dirname(path), path)
    return found.map(({ path }) => relative(folder, path))
  })
  yield* onDisk(paths.alarms, "written", () => forgetValues(folder))
  yield* onDisk(paths.temporary, "removed", () => removeBelow(folder, paths.temporary))
  const records = recordsIn(job.identifiers)
  const search = yield* searchFolders(
    folder,
    folders.filter((one) => !isBelow(one, folder)),
    { texts: job.texts, records: records.removed, resources: catalogue.resources },
    (file) => file === outputFiles.erasure.name || isCopy(folder, file)
  ).pipe(Effect.provide(Warehouse.layer(paths.warehouse, { memoryMb, access: "read" })))
  const { sha256: after } = yield* onDisk(paths.warehouse, "read", () => checksumOf(paths.warehouse))
  const certificate = {
    id: job.id,
    startedAt: job.startedAt,
    finishedAt: now,
    reason: job.reason,
    /** Records that are gone, and records that stay without the person. */
    records: records.removed.length,
    recordsKept: records.kept.length,
    rows: job.rows,
    rowsKept: job.kept,
    /** Records that stay because the rule could not judge them; `isErased` says nothing of them. */
    unjudged: job.unjudged ?? [],
    /** Files that were removed; those that other records have as well stay. */
    files: renewed.files,
    segments,
    releasesRemoved,
    /** Damaged warehouses and incomplete writes, which may contain the person. */
    setAsideRemoved: setAside,
    /** The places that ever received a release or rows. */
    places: places.filter(({ name, state }) => name !== "published" || state === "left"),
    search,
    /** Files that were exported before and are out of reach. */
    earlierExports: given.exports
      .filter(({ id }) => id === undefined || !exportsRemoved.has(id))
      .map(({ at, name }) => ({ at, name })),
    /** SHA-256 of the warehouse. */
    warehouse: { before, after },
    /**
     * Whether everything in reach was searched, and neither an address of the person nor a row of their records was found.
     * What is out of reach is named in `places` and `earlierExports`.
     */
    isErased:
      !search.found.some(isCertain) && search.unsearched.length === 0 && places.every(({ state }) => state !== "left")
  }
  const path = join(outputPaths(folder).certificates, `erasure-${fileNameOf(job.id)}.json`)
  yield* onDisk(path, "written", () => writeDurably(path, `${JSON.stringify(certificate, null, 1)}\n`))
  yield* removeJob(folder)
  return { certificate, path }
})
