/**
 * Removes a location from an output folder:
 *
 *     job         what is to be removed, so that a killed removal can be repeated when its rows are gone
 *     vault       without its entries, so that a rebuild does not bring it back
 *     warehouse   a fresh file without its rows and its state
 *     releases    new ones without it; earlier ones go
 *     targets     what they have of it
 *     files       its files
 *
 * Each step can be repeated, and what other locations have stays as it is.
 */
import { Effect } from "effect"
import { rm } from "node:fs/promises"
import { basename, join } from "node:path"
import type { Catalogue } from "../../../catalog/discover.ts"
import type { SchemaPolicies } from "../../../catalog/schema-policy.ts"
import { workOf } from "../../../destinations/destinations.ts"
import { sealLoaded } from "../erasure/vault.ts"
import { replaceWarehouse, writeChanged } from "../erasure/warehouse.ts"
import type { Failure } from "../../../values/failure.ts"
import { onDisk, readJson, writeDurably } from "../../../output/files.ts"
import { removeLeftovers } from "../../../output/leftovers.ts"
import { currentRelease, withdraw } from "../../../stages/publish/current.ts"
import { publishNow } from "../../../run/release.ts"
import { outputPaths, releasesOf, snapshotName } from "../../../output/paths.ts"
import { removeBelow } from "../../../output/remove.ts"
import type { OutputSettings } from "../../../settings/settings.ts"
import type { Target } from "../../../settings/targets.ts"
import { locationsInVault } from "../../../stores/vault/locations.ts"
import { rewriteSegments } from "../../../stores/vault/rewrite.ts"
import { rowsByLocation, tablesWithLocations } from "../../../stores/warehouse/locations.ts"
import { renewVersion } from "../../../stores/warehouse/meta/content-versions.ts"
import { lastRun } from "../../../stores/warehouse/meta/runs.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { removeUnnamed } from "../../../stores/warehouse/stored-files.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { RemovalPlan, releasesIn } from "./plan.ts"

const jobPath = (folder: string): string => outputPaths(folder).locationRemoval

/** The removal that has begun and not ended. */
export const pendingRemoval = (folder: string): Effect.Effect<RemovalPlan | undefined, Failure> =>
  readJson(jobPath(folder), RemovalPlan)

/** The steps under the lock of the warehouse; the caller provides warehouse and vault, and closes them. */
export const removeStored = Effect.fn("location.removeStored")(function* (
  catalogue: Catalogue,
  output: OutputSettings,
  policies: SchemaPolicies,
  job: RemovalPlan
) {
  const { folder } = output
  const paths = outputPaths(folder)
  const { location } = job
  yield* onDisk(jobPath(folder), "written", () => writeDurably(jobPath(folder), JSON.stringify(job)))
  yield* removeLeftovers(folder, true)
  yield* sealLoaded(catalogue, folder, policies)
  yield* rewriteSegments(paths.vault, (frame) => (frame.entry.location === location ? undefined : frame), {
    apply: true
  })
  const tables = yield* tablesWithLocations
  yield* writeChanged(paths.warehouse, output, catalogue, [
    ...tables.map((table) => `DELETE FROM ${table} WHERE location_id = ${literal(location)}`),
    ...catalogue.resources.flatMap(({ table }) => renewVersion(table))
  ])
})

/** The steps after the old warehouse was closed. `found`: where the location still is. */
export const completeRemoval = Effect.fn("location.complete")(function* (
  catalogue: Catalogue,
  output: OutputSettings,
  targets: ReadonlyArray<Target>,
  { files, location }: RemovalPlan
) {
  const paths = outputPaths(output.folder)
  yield* replaceWarehouse(paths.warehouse)
  const problems = yield* Effect.gen(function* () {
    const run = yield* lastRun()
    const { due, problems } =
      run === undefined
        ? { due: "nothing read", problems: [] }
        : yield* publishNow(catalogue, output, { run: run.id, full: true, targets })
    const isLast = due === "nothing read"
    // Without formats, there is no new release in place of an older one.
    yield* removeReleases(paths.published, isLast || output.formats.length === 0)
    for (const to of targets) {
      const { remove } = yield* workOf(to)
      yield* remove(to, { location, isLast, output: output.folder })
    }
    for (const { folder } of targets) yield* removeReleases(folder, isLast)
    yield* removeUnnamed(catalogue.resources, output.folder, files)
    return problems
  }).pipe(Effect.provide(Warehouse.layer(paths.warehouse, { ...output, access: "write" })))
  const found = yield* placesOf(output, location)
  if (found.length === 0)
    yield* onDisk(jobPath(output.folder), "removed", () => rm(jobPath(output.folder), { force: true }))
  return { problems, found }
})

/** Earlier releases hold the location, and so does the current one if there is no new one. */
const removeReleases = Effect.fnUntraced(function* (published: string, isStale: boolean) {
  const releases = releasesOf(published)
  const current = yield* currentRelease(published).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "PublishedIsForeign",
      () => Effect.succeed(undefined)
    )
  )
  if (isStale && current !== undefined) yield* withdraw(published)
  const all = yield* releasesIn(published)
  yield* onDisk(published, "removed", async () => {
    for (const release of all) if (isStale || basename(release) !== current) await removeBelow(releases, release)
  })
})

/** Looks where the location was stored. */
const placesOf = Effect.fnUntraced(function* ({ folder, memoryMb }: OutputSettings, location: string) {
  const { published, vault, warehouse } = outputPaths(folder)
  const found = (yield* locationsInVault(vault)).has(location) ? [vault] : []
  for (const path of [warehouse, join(published, snapshotName)]) {
    const tables = yield* rowsByLocation().pipe(
      Effect.provide(Warehouse.layer(path, { access: "read", anyFormat: true, memoryMb })),
      Effect.catchIf(
        ({ reason }) => reason._tag === "WarehouseNotFound",
        () => Effect.succeed([])
      )
    )
    found.push(...tables.filter((one) => one.location === location).map(({ table }) => `${path} ${table}`))
  }
  return found
})
