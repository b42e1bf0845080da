/** What an erasure does with the lake, after the present rows were committed. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { rename, rm } from "node:fs/promises"
import { onDisk } from "../../output/files.ts"
import type { LakeSettings } from "./settings.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { openLake } from "./lake.ts"
import { purgeLake } from "./maintain.ts"

/** Removes the earlier versions of the lake. An embedded catalog becomes a new file, because DuckDB does not clear freed blocks. */
export const removeEarlierVersions = Effect.fn("lake.removeEarlierVersions")(function* (settings: LakeSettings) {
  yield* Effect.scoped(Effect.flatMap(openLake(settings, "write"), purgeLake))
  const access = settings.access()
  if (Result.isFailure(access) || access.success.catalog.kind !== "file") return
  const { path } = access.success.catalog
  const copy = `${path}.new`
  const { run } = yield* Warehouse
  yield* onDisk(copy, "removed", () => rm(copy, { force: true }))
  yield* run(`ATTACH ${literal(path)} AS catalog_before (READ_ONLY); ATTACH ${literal(copy)} AS catalog_after`)
  yield* run("COPY FROM DATABASE catalog_before TO catalog_after; DETACH catalog_before; DETACH catalog_after")
  yield* onDisk(path, "replaced", () => rename(copy, path))
})
