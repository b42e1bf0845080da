/** The locations of which an output folder holds anything: in its vault, its tables, its current release or its ledger. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { onDisk } from "../output/files.ts"
import { ledgerOf } from "../stores/ledger/file.ts"
import { linesOf } from "../stores/ledger/verify.ts"
import { outputPaths, snapshotName } from "../output/paths.ts"
import { locationsInVault } from "../stores/vault/locations.ts"
import { rowsByLocation } from "../stores/warehouse/locations.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"

/** Fails if anything cannot be read, because it may be of another location. */
export const heldLocations = Effect.fnUntraced(function* (folder: string) {
  const { published, vault, warehouse } = outputPaths(folder)
  const held = new Set((yield* locationsInVault(vault)).keys())
  for (const path of [warehouse, join(published, snapshotName)]) {
    if (!existsSync(path)) continue
    const tables = yield* rowsByLocation().pipe(
      Effect.provide(Warehouse.layer(path, { access: "read", anyFormat: true, memoryMb: 256 })),
      // A run that was stopped before it made the tables leaves an empty file.
      Effect.catchIf(
        ({ reason }) => reason._tag === "WarehouseNotFound" && path === warehouse,
        () => Effect.succeed([])
      )
    )
    for (const { location } of tables) held.add(location)
  }
  for (const { record } of yield* onDisk(ledgerOf(folder), "read", () => linesOf(ledgerOf(folder))))
    for (const location of namedIn(record?.detail["locations"])) held.add(location)
  return held
})

const namedIn = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.map(String) : [])
