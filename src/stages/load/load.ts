/**
 * Vault to warehouse: a batch of pages becomes rows, child rows and rejects. The transaction with the last of them also
 * commits the counts, the checkpoint of every partition and the position in the vault. So progress is never ahead of the
 * data after a crash; rows that are loaded again change nothing, and nothing is counted twice.
 */
import { Effect } from "effect"
import { dirname, join } from "node:path"
import { evolving } from "../../catalog/schema-policy.ts"
import type { Resource } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import { Signal } from "../../values/signal.ts"
import { onDisk } from "../../output/files.ts"
import { removeBelow } from "../../output/remove.ts"
import { type Position, beginning, isBefore } from "../../stores/vault/position.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { loadedPosition, positionStatements } from "../../stores/warehouse/meta/vault-offset.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { KnownPages } from "./known-pages.ts"
import { KnownRows } from "./known-rows.ts"
import type { RecordFilter } from "./scan/scan-page.ts"
import { type Batch, type ShouldContinue, prepareBatch } from "./batch.ts"

export interface Loader {
  /** Loads everything in the vault at the time of the call. */
  readonly load: Effect.Effect<void, Failure>
  /** Loads pages as they arrive, until `shouldContinue` returns false for an empty batch. */
  readonly loadContinuously: (shouldContinue: ShouldContinue) => Effect.Effect<void, Failure>
  /** Position of the batch in preparation; `undefined` while a prepared batch waits for the commit of the one before. */
  readonly reading: () => Position | undefined
  /** Bytes loaded since the loader was created. */
  readonly loadedBytes: () => number
  /** Notified of every page that is read and every batch that is committed. */
  readonly progressed: Signal
  readonly known: KnownRows
  /** The vault for the readings of a run, which stores no record of a page that says nothing new. */
  readonly storingNews: (vault: Vault["Service"]) => Vault["Service"]
  /** The vault ends before the position up to which it was loaded. */
  readonly isVaultTruncated: boolean
}

export const makeLoader = Effect.fn("load.make")(function* (
  resources: ReadonlyArray<Resource>,
  temporary: string,
  policies = evolving,
  filter?: RecordFilter
) {
  const [vault, warehouse] = [yield* Vault, yield* Warehouse]
  let position = (yield* loadedPosition()) ?? beginning
  const known = yield* KnownRows.make()
  const pages = filter === undefined ? yield* KnownPages.make(known, resources, policies) : undefined
  const isVaultTruncated = isBefore(vault.end(), position)
  if (isVaultTruncated) {
    // The vault was removed or replaced by an older copy: its present content is loaded, later frames are not.
    position = vault.end()
    yield* warehouse.transaction(positionStatements(position))
  }
  let loadedBytes = 0
  let batches = 0
  const progressed = new Signal()
  let reading: Position | undefined

  // Two alternating folders: the files of one batch are written while those of the other are read.
  const prepare = (from: Position, shouldContinue: ShouldContinue) =>
    prepareBatch(
      { resources, policies, filter, pages },
      known,
      join(temporary, String(batches++ % 2)),
      from,
      (position, bytes) => {
        reading = position
        progressed.notify()
        return shouldContinue(position, bytes)
      }
    ).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          reading = undefined
          progressed.notify()
        })
      ),
      Effect.provideService(Vault, vault),
      Effect.provideService(Warehouse, warehouse)
    )
  const commit = ({ transactions, next, bytes, tables }: Batch) =>
    // Many tables, as in a rebuild or the first batch of several locations: their first blocks alone would fill the memory.
    Effect.forEach(
      transactions,
      (work) =>
        Effect.andThen(
          warehouse.transaction(work),
          warehouse.checkpointIfAbove(transactions.length > 1 ? 1 / 4 : 1 / 2)
        ),
      { discard: true }
    ).pipe(
      known.commits.withPermits(1),
      Effect.tap(() =>
        Effect.sync(() => {
          position = next
          loadedBytes += bytes
          known.commit(tables)
          progressed.notify()
        })
      ),
      // An interruption in between would make the next load count the batch twice.
      Effect.uninterruptible
    )

  const loadContinuously = (shouldContinue: ShouldContinue) =>
    Effect.gen(function* () {
      let batch = yield* prepare(position, shouldContinue)
      while (batch) {
        // The next batch is prepared while this one is committed.
        ;[batch] = yield* Effect.all([prepare(batch.next, shouldContinue), commit(batch)], { concurrency: 2 })
      }
      // What is known includes the rows of a batch that was prepared and not committed.
    }).pipe(
      Effect.onError(() =>
        Effect.sync(() => {
          known.reset()
          pages?.reset()
        })
      )
    )
  const load = Effect.andThen(
    loadContinuously((position) => Effect.sync(() => isBefore(position, vault.end()))),
    onDisk(temporary, "removed", () => removeBelow(dirname(temporary), temporary))
  )
  return {
    load,
    loadContinuously,
    known,
    storingNews: (vault: Vault["Service"]) => pages?.storingNews(vault) ?? vault,
    reading: () => reading,
    loadedBytes: () => loadedBytes,
    progressed,
    isVaultTruncated
  }
})
