/** What a compaction of the vault removes, and the compaction itself. */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import type { Failure } from "../../values/failure.ts"
import type { Frame } from "../../stores/vault/frame.ts"
import { type Rewritten, rewriteSegments } from "../../stores/vault/rewrite.ts"
import { loadedPosition } from "../../stores/warehouse/meta/vault-offset.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { compactor } from "./compact.ts"

export interface Compaction {
  readonly records: number
  readonly segments: ReadonlyArray<Rewritten>
}

/** `before`: only pages received before this time are changed; epoch milliseconds. Segments that wait for the load are not. */
export const compactVault = Effect.fn("prune.compactVault")(function* (
  folder: string,
  { resources }: Catalogue,
  { apply, before }: { readonly before: number; readonly apply: boolean }
): Effect.fn.Return<Compaction, Failure, Warehouse> {
  const loaded = yield* loadedPosition()
  if (loaded === undefined) return { records: 0, segments: [] }
  const options = { apply, below: loaded.segment }
  const { compact, look, removed } = compactor(resources, before)
  const unchanged = (frame: Frame) => {
    look(frame)
    return frame
  }
  yield* rewriteSegments(folder, unchanged, { ...options, apply: false })
  const segments = yield* rewriteSegments(folder, compact, options)
  return { records: removed(), segments }
})
