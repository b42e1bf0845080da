/** The vault without erased people: for syncs, which do not store them again, and of what is stored already. */
import { Effect, Layer } from "effect"
import { constants, zstdCompressSync } from "node:zlib"
import { open, rename } from "node:fs/promises"
import { join } from "node:path"
import type { Resource } from "../catalog/resource.ts"
import { type Failure, failure } from "../failure.ts"
import { onDisk, syncFolder } from "../io/files.ts"
import { damagedAt } from "../vault/damage.ts"
import { decode, encode } from "../vault/frame.ts"
import { readSealed, segmentsIn } from "../vault/segments.ts"
import { Vault } from "../vault/vault.ts"
import { type Redact, redactor } from "./redact-frame.ts"
import { readSuppression } from "./suppression.ts"

/** A vault that stores no record of an erased person. `onRemoved` is told how many were left out. */
export const withoutErased = <E, R>(
  vault: Layer.Layer<Vault, E, R>,
  output: string,
  resources: ReadonlyArray<Resource>,
  onRemoved: (count: number) => void
): Layer.Layer<Vault, E | Failure, R> =>
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

export interface RewrittenSegment {
  readonly segment: number
  /** Records and responses that were removed. */
  readonly removed: number
  /** Records that lost their person only. */
  readonly anonymised: number
}

/** Rewrites the sealed segments that contain records of erased people. A segment is replaced by a complete one only. */
export const rewriteVault = Effect.fn("erasure.rewriteVault")(function* (
  folder: string,
  redact: Redact,
  options: { readonly apply: boolean }
): Effect.fn.Return<ReadonlyArray<RewrittenSegment>, Failure> {
  const { all, plain } = yield* onDisk(folder, "read", () => segmentsIn(folder))
  const rewritten: Array<RewrittenSegment> = []
  for (const segment of all.filter((number) => !plain.includes(number))) {
    const content = yield* onDisk(folder, "read", () => readSealed(folder, segment))
    if (content === undefined) continue
    const kept: Array<Buffer> = []
    let [removed, anonymised] = [0, 0]
    for (let start = 0; start < content.length;) {
      const frame = decode(content, start)
      if (frame === undefined)
        return yield* failure({ _tag: "VaultDamaged", folder, detail: damagedAt(segment, start).message })
      const result = redact(frame)
      removed += result.removed
      anonymised += result.anonymised ?? 0
      if (result.frame === frame) kept.push(content.subarray(start, frame.end))
      else if (result.frame !== undefined) kept.push(encode(result.frame))
      start = frame.end
      // Other fibres get a turn between two frames.
      yield* Effect.yieldNow
    }
    if (removed + anonymised === 0) continue
    rewritten.push({ segment, removed, anonymised })
    if (options.apply) yield* replaceSegment(folder, segment, Buffer.concat(kept))
  }
  return rewritten
})

const replaceSegment = (folder: string, segment: number, content: Buffer) => {
  const path = join(folder, `${String(segment).padStart(6, "0")}.ndjson.zst`)
  return onDisk(path, "written", async () => {
    const part = `${path}.part`
    {
      await using file = await open(part, "w", 0o600)
      await file.writeFile(zstdCompressSync(content, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }))
      await file.sync()
    }
    await rename(part, path)
    await syncFolder(folder)
  })
}
