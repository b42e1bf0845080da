/** The lake: the rows of the warehouse, committed as snapshots. */
import * as Effect from "effect/Effect"
import type { Work } from "../contract.ts"
import { guarded } from "../guarded.ts"
import { look, stage } from "./commit.ts"
import { checkLake } from "./compare.ts"
import type { LakeDestination } from "./settings.ts"
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { rename, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { onDisk, probeFolder } from "../../output/files.ts"
import { removeBelow } from "../../output/remove.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { Failure } from "../../values/failure.ts"
import { openLake } from "./lake.ts"
import { purgeLake } from "./maintain.ts"
import { allTables, removalMessage, schemas } from "./tables.ts"

export const work: Work<LakeDestination> = {
  part: "lake",
  checkOf: () => "lake",
  needs: "It needs its DuckDB extensions, and a catalog and a place of data that can be written.",
  probe: ({ destination }) => probe(destination),
  deliver: guarded({ words: ({ destination }) => ({ to: destination.place, unit: "table" }), look, stage }),
  compare: ({ destination }, { catalogue }) => checkLake(catalogue, destination),
  // Object storage is out of reach.
  forget: ({ destination }) => Effect.as(removeEarlierVersions(destination), !destination.place.startsWith("s3://")),
  remove: ({ destination }, { location }) => removeFromLake(destination, location),
  keeps: "its rows are deleted; earlier versions keep them until ./sluice lake maintain --apply removes these"
}

/** Writes a table, and takes it back by an error. A catalog that does not exist yet is tried elsewhere, and not created. */
const probe = Effect.fn("lake.probe")(function* (settings: LakeDestination) {
  const [access, name] = [settings.access(), `.sluice-${randomUUID()}`]
  const { catalog, s3 } = Result.isSuccess(access) ? access.success : {}
  const path = catalog?.kind === "file" ? catalog.path : undefined
  if (path !== undefined) yield* probeFolder(dirname(path))
  if (!s3) yield* probeFolder(settings.place)
  let tried = settings
  if (path !== undefined && !existsSync(path)) {
    const folder = join(tmpdir(), name)
    yield* Effect.addFinalizer(() => Effect.promise(() => removeBelow(tmpdir(), folder)))
    const elsewhere = { kind: "file", path: join(folder, "catalog") } as const
    const place = s3 ? settings.place : join(folder, "data")
    tried = { ...settings, place, access: () => Result.succeed({ catalog: elsewhere, s3 }) }
  }
  const { transaction } = yield* openLake(tried, "write")
  // A folder would keep empty folders of a table with rows.
  const table = `CREATE TABLE lake."${name}" ${s3 ? "AS SELECT 1 AS id" : "(id INTEGER)"}`
  const isTaken = ({ message }: Failure) => message.includes(`${name} is taken back`)
  yield* Effect.catchIf(transaction([table, `SELECT error('${name} is taken back')`]), isTaken, () => Effect.void)
})

/**
 * Removes the earlier versions of the lake, after an erasure has committed the present rows. An embedded catalog becomes a new
 * file, because DuckDB does not clear freed blocks.
 */
const removeEarlierVersions = Effect.fn("lake.removeEarlierVersions")(function* (settings: LakeDestination) {
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

/** What the removal of a location does with the lake. Earlier versions keep it until `lake maintain` removes them. */
const removeFromLake = Effect.fn("lake.removeLocation")(function* (settings: LakeDestination, location: string) {
  yield* Effect.scoped(
    Effect.gen(function* () {
      const lake = yield* openLake(settings, "write")
      const { lake: existing } = yield* allTables(lake)
      // Tables of others may have the column too.
      const statements = [...schemas, "sluice"].flatMap((schema) =>
        [...existing].flatMap(([path, columns]) =>
          path.startsWith(`${schema}.`) && columns.has("location_id")
            ? [
                `DELETE FROM lake.${schema}.${name(path.slice(schema.length + 1))} WHERE location_id = ${literal(location)}`
              ]
            : []
        )
      )
      const message = `CALL lake.set_commit_message(${literal(location)}, ${literal(removalMessage)})`
      yield* lake.transaction([...statements, message])
    })
  )
})
