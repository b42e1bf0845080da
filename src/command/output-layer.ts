/** The warehouse and the vault of an output folder, opened by a command that writes them. */
import { Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import type { Catalogue } from "../catalog/discover.ts"
import { RunFeatures } from "./features.ts"
import { guardLedger } from "../stores/ledger/guard.ts"
import { outputPaths } from "../output/paths.ts"
import type { PseudonymKey } from "../settings/masking.ts"
import type { OutputSettings } from "../settings/settings.ts"
import { withoutWithheld } from "../stages/extract/withheld-columns.ts"
import { beginning } from "../stores/vault/position.ts"
import { Vault } from "../stores/vault/vault.ts"
import { loadedPosition } from "../stores/warehouse/meta/vault-offset.ts"
import { emptyWarehouse } from "../stores/warehouse/schema.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"

/**
 * The warehouse's lock comes first: it keeps a second run off the vault as well. For a sync, the vault stores no record
 * of an erased person, and nothing that the settings keep out; `onRemoved` gets the number of those that were left out. Fails if the ledger lost records.
 */
export const outputLayer = (
  output: Pick<OutputSettings, "folder" | "memoryMb">,
  sync?: {
    readonly catalogue: Catalogue
    readonly hashKey: PseudonymKey | undefined
    readonly onRemoved: (count: number) => void
  }
) => {
  const { vault, warehouse } = outputPaths(output.folder)
  const opened = Layer.unwrap(
    Effect.map(Effect.andThen(guardLedger(output.folder), loadedPosition()), (loaded = beginning) =>
      Vault.layer(vault, loaded)
    )
  )
  return Layer.provideMerge(
    sync
      ? Layer.unwrap(
          Effect.map(RunFeatures, ({ withoutErased }) =>
            // Erased people are found by values that may be kept out.
            withoutErased(
              withoutWithheld(opened, sync.catalogue.resources, sync.hashKey),
              output.folder,
              sync.catalogue,
              sync.onRemoved
            )
          )
        )
      : opened,
    Layer.unwrap(
      // Only a new warehouse needs the empty one.
      Effect.map(
        sync && !existsSync(warehouse) ? emptyWarehouse(sync.catalogue) : Effect.succeed(undefined),
        (template) => Warehouse.layer(warehouse, { memoryMb: output.memoryMb, access: "write", template })
      )
    )
  )
}
