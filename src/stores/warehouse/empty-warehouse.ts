/**
 * An empty warehouse, from which new ones are copied: to create all tables costs a fifth of a second, more than most small
 * accounts cost otherwise. It is made when it is first needed, and kept in the user's cache folder.
 */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { cacheFolder, cachedFile } from "../../output/cache.ts"
import { fingerprintOf, prepare } from "./schema.ts"
import { Warehouse } from "./warehouse.ts"

/** The path of the empty warehouse for these definitions; `undefined` if it cannot be stored. */
export const emptyWarehouse = Effect.fn("warehouse.empty")((catalogue: Catalogue, cache = cacheFolder()) =>
  cachedFile(
    { kind: "empty", fingerprint: fingerprintOf(catalogue) },
    (path) => prepare(catalogue).pipe(Effect.provide(Warehouse.layer(path, { access: "write", memoryMb: 128 }))),
    cache
  )
)
