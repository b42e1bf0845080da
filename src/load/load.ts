/**
 * Vault to warehouse: a batch of pages becomes rows, child rows and rejects, and with the last of them the counts, the
 * state of every pass and the place in the vault are committed. So whatever crashes, progress is never ahead of data;
 * rows that come again change nothing, and nothing counts twice.
 */
import { Effect } from "effect"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { evolving } from "../catalog/schema-policy.ts"
import type { Resource } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import { type Position, beginning, isBefore } from "../vault/position.ts"
import { Vault } from "../vault/vault.ts"
import { loadedPosition, positionStatements } from "../warehouse/meta/vault-offset.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import type { RecordFilter } from "./staging-files.ts"
import { type Batch, type ShouldContinue, prepareBatch } from "./batch.ts"

export interface Loader {
  /** Takes in everything that the vault holds when it is called. */
  readonly load: Effect.Effect<void, Failure>
  /** Takes in what comes, in batches that end where nothing more is waited for. */
  readonly loadContinuously: (more: ShouldContinue) => Effect.Effect<void, Failure>
  /** Where pages are being made ready; nowhere while a batch waits for the one before it. */
  readonly reading: () => Position | undefined
  /** Bytes of the vault taken in since the loader was made. */
  readonly loadedBytes: () => number
  /** The vault ends before the place up to which it was taken in. */
  readonly isVaultTruncated: boolean
}

export const makeLoader = Effect.fn("load.make")(function* (
  resources: ReadonlyArray<Resource>,
  temporary: string,
  policies = evolving,
  filter?: RecordFilter
): Effect.fn.Return<Loader, Failure, Vault | Warehouse> {
  const [vault, warehouse] = [yield* Vault, yield* Warehouse]
  let place = (yield* loadedPosition()) ?? beginning
  const isVaultTruncated = isBefore(vault.end(), place)
  if (isVaultTruncated) {
    // The vault was removed, or an older copy put in its place: all it holds is loaded, and what comes is not.
    place = vault.end()
    yield* warehouse.transaction(positionStatements(place))
  }
  let loadedBytes = 0
  let batches = 0
  let reading: Position | undefined

  // Two folders in turn: the files of one batch are written while those of the other are read.
  const prepare = (from: Position, more: ShouldContinue) =>
    prepareBatch({ resources, policies, filter }, join(temporary, String(batches++ % 2)), from, (place, bytes) => {
      reading = place
      return more(place, bytes)
    }).pipe(
      Effect.ensuring(Effect.sync(() => (reading = undefined))),
      Effect.provideService(Vault, vault),
      Effect.provideService(Warehouse, warehouse)
    )
  const commit = ({ transactions, next, bytes }: Batch) =>
    // Many tables, as in a rebuild or the first batch of several locations: their beginnings alone would fill the memory.
    Effect.forEach(
      transactions,
      (statements) =>
        Effect.andThen(
          warehouse.transaction(statements),
          warehouse.checkpointIfAbove(transactions.length > 1 ? 1 / 8 : 1 / 2)
        ),
      { discard: true }
    ).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          place = next
          loadedBytes += bytes
        })
      ),
      // Interrupted in between, the next load would take the batch in again and count it twice.
      Effect.uninterruptible
    )

  const loadContinuously = Effect.fnUntraced(function* (more: ShouldContinue) {
    let batch = yield* prepare(place, more)
    while (batch) {
      // One batch is made ready beside the commit of the other.
      ;[batch] = yield* Effect.all([prepare(batch.next, more), commit(batch)], { concurrency: 2 })
    }
  })
  const load = Effect.andThen(
    loadContinuously((place) => Effect.sync(() => isBefore(place, vault.end()))),
    onDisk(temporary, "removed", () => rm(temporary, { recursive: true, force: true }))
  )
  return { load, loadContinuously, reading: () => reading, loadedBytes: () => loadedBytes, isVaultTruncated }
})
