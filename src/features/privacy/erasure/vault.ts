/** The vault without erased people: for syncs, which do not store them again, and of what is stored already. */
import { Effect, Layer } from "effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import type { SchemaPolicies } from "../../../catalog/schema-policy.ts"
import { bringUpToDate } from "../../../run/sync-account.ts"
import { positionStatements } from "../../../stores/warehouse/meta/vault-offset.ts"
import type { Resource } from "../../../catalog/resource.ts"
import type { Failure } from "../../../values/failure.ts"
import type { Frame } from "../../../stores/vault/frame.ts"
import { rewriteSegments } from "../../../stores/vault/rewrite.ts"
import { Vault } from "../../../stores/vault/vault.ts"
import { type Redact, redactor } from "./redact-frame.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { readSuppression } from "./suppression.ts"

/** A vault that stores no record of an erased person. `onRemoved` gets the number of those that were left out. */
export const withoutErased = <E, R>(
  vault: Layer.Layer<Vault, E, R>,
  output: string,
  resources: ReadonlyArray<Resource>,
  onRemoved: (count: number) => void
): Layer.Layer<Vault, E | Failure, R | Warehouse> =>
  Layer.effect(
    Vault,
    Effect.gen(function* () {
      const inner = yield* Vault
      const suppression = yield* readSuppression(output)
      if (suppression === undefined) return inner
      const redact = redactor(resources, suppression)
      return Vault.of({
        ...inner,
        append: (frame) => {
          const { frame: kept, removed } = redact(frame)
          onRemoved(removed)
          return kept === undefined ? Effect.void : inner.append(kept)
        }
      })
    })
  ).pipe(Layer.provide(vault))

/**
 * Seals the vault when everything of it is loaded: later it would be loaded from segments that have changed. Returns its end.
 */
export const sealLoaded = Effect.fn("erasure.seal")(function* (
  catalogue: Catalogue,
  folder: string,
  policies: SchemaPolicies
) {
  const [warehouse, vault] = [yield* Warehouse, yield* Vault]
  yield* bringUpToDate(catalogue, folder, policies)
  yield* vault.seal
  yield* warehouse.transaction(positionStatements(vault.end()))
  yield* warehouse.run("CHECKPOINT")
  return vault.end()
})

export interface RewrittenSegment {
  readonly segment: number
  /** Records and responses that were removed. */
  readonly removed: number
  /** Records that lost their person only. */
  readonly anonymised: number
}

/** Rewrites the sealed segments that contain records of erased people. */
export const rewriteVault = Effect.fn("erasure.rewriteVault")(function* (
  folder: string,
  redact: Redact,
  options: { readonly apply: boolean }
) {
  const bySegment = new Map<number, RewrittenSegment>()
  const count = (frame: Frame, segment: number) => {
    const { anonymised = 0, frame: kept, removed } = redact(frame)
    const counted = bySegment.get(segment) ?? { segment, removed: 0, anonymised: 0 }
    bySegment.set(segment, {
      segment,
      removed: counted.removed + removed,
      anonymised: counted.anonymised + anonymised
    })
    return kept
  }
  const rewritten = yield* rewriteSegments(folder, count, options)
  return rewritten.map(({ segment }) => bySegment.get(segment)!)
})
