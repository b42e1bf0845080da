/** Rewrites sealed segments frame by frame. A segment is replaced by a complete one only. */
import { Effect } from "effect"
import { zstdCompressSync } from "node:zlib"
import { stat } from "node:fs/promises"
import { failure } from "../../values/failure.ts"
import { onDisk, writeDurably } from "../../output/files.ts"
import { compression, damagedAt, readSealed, sealedPath, segmentsIn } from "./segments.ts"
import { type Frame, decode, encode } from "./frame.ts"

export interface Rewritten {
  readonly segment: number
  /** Compressed size. */
  readonly bytesBefore: number
  readonly bytesAfter: number
}

export interface RewriteOptions {
  /** Only segments below this number. Default: all that are sealed. */
  readonly below?: number
  /** Whether the segments are written; otherwise only their sizes are computed. */
  readonly apply: boolean
}

/** `change` returns the frame itself, another one in its place, or `undefined` to remove it. */
export const rewriteSegments = Effect.fn("vault.rewriteSegments")(function* (
  folder: string,
  change: (frame: Frame, segment: number) => Frame | undefined,
  { apply, below = Number.POSITIVE_INFINITY }: RewriteOptions
) {
  const { all, plain } = yield* onDisk(folder, "read", () => segmentsIn(folder))
  const rewritten: Array<Rewritten> = []
  for (const segment of all.filter((number) => !plain.includes(number) && number < below)) {
    const content = yield* onDisk(folder, "read", () => readSealed(folder, segment))
    if (content === undefined) continue
    const kept: Array<Buffer> = []
    let isChanged = false
    for (let start = 0; start < content.length;) {
      const frame = decode(content, start)
      if (frame === undefined)
        return yield* failure({ _tag: "VaultDamaged", folder, detail: damagedAt(segment, start).message })
      const changed = change(frame, segment)
      if (changed === frame) kept.push(content.subarray(start, frame.end))
      else isChanged = true
      if (changed !== frame && changed !== undefined) kept.push(encode(changed))
      start = frame.end
      // Other fibres get a turn between two frames.
      yield* Effect.yieldNow
    }
    if (!isChanged) continue
    const path = sealedPath(folder, segment)
    const { size: bytesBefore } = yield* onDisk(path, "read", () => stat(path))
    const compressed = zstdCompressSync(Buffer.concat(kept), { params: compression })
    rewritten.push({ segment, bytesBefore, bytesAfter: compressed.length })
    if (apply) yield* onDisk(path, "written", () => writeDurably(path, compressed))
  }
  return rewritten
})
