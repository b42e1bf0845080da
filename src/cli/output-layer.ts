/** The warehouse and the vault of an output folder, opened by a command that writes them. */
import { Effect, Layer } from "effect"
import { outputPaths } from "../settings/paths.ts"
import type { OutputSettings } from "../settings/settings.ts"
import { beginning } from "../vault/position.ts"
import { Vault } from "../vault/vault.ts"
import { loadedPosition } from "../warehouse/meta/vault-offset.ts"
import { Warehouse } from "../warehouse/warehouse.ts"

/** The warehouse's lock comes first: it keeps a second run off the vault as well. */
export const outputLayer = (output: Pick<OutputSettings, "folder" | "memoryMb">) => {
  const { vault, warehouse } = outputPaths(output.folder)
  return Layer.provideMerge(
    Layer.unwrap(Effect.map(loadedPosition(), (loaded = beginning) => Vault.layer(vault, loaded))),
    Warehouse.layer(warehouse, { memoryMb: output.memoryMb, access: "write" })
  )
}
