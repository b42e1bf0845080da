/** Rebuilds tables from the vault into a second warehouse, so that verify can compare them with the first. */
import { Effect, Layer } from "effect"
import { join } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import type { SchemaPolicies } from "../catalog/schema-policy.ts"
import { makeLoader } from "../stages/load/load.ts"
import type { RecordFilter } from "../stages/load/scan/scan-page.ts"
import { outputPaths } from "../output/paths.ts"
import type { OutputSettings } from "../settings/settings.ts"
import type { Failure } from "../values/failure.ts"
import type { Position } from "../stores/vault/position.ts"
import { vaultReader } from "../stores/vault/reader.ts"
import { emptyWarehouse, prepare } from "../stores/warehouse/schema.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"

/**
 * Creates `replayed.duckdb` in the folder `scratch` from the vault up to `end`. `filter` selects the records to load. `look` reads
 * it while it is open, as the warehouse.
 */
export const replayInto =
  (catalogue: Catalogue, { folder, memoryMb }: OutputSettings, policies: SchemaPolicies) =>
  <A>(scratch: string, end: Position, filter: RecordFilter | undefined, look: Effect.Effect<A, Failure, Warehouse>) =>
    Effect.gen(function* () {
      // Compressing a sample takes longer than writing it.
      if (filter) yield* (yield* Warehouse).run("SET force_compression = 'uncompressed'")
      // The log of a sample is short, and is read once.
      if (filter) yield* (yield* Warehouse).run("PRAGMA disable_checkpoint_on_shutdown")
      yield* prepare(catalogue)
      yield* (yield* makeLoader(catalogue.resources, outputPaths(scratch).temporary, policies, filter)).load
      return yield* look
    }).pipe(
      Effect.provide(
        Layer.merge(
          vaultReader(outputPaths(folder).vault, end),
          Layer.unwrap(
            Effect.map(emptyWarehouse(catalogue), (template) =>
              Warehouse.layer(join(scratch, "replayed.duckdb"), { access: "write", memoryMb, template })
            )
          )
        )
      )
    )
