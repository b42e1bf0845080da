/** A vault that is only looked at: opening one for writing cuts off a torn end. */
import { Effect, Layer } from "effect"
import { readFile } from "node:fs/promises"
import { type Failure, failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import { damagedAt } from "./damage.ts"
import type { Position } from "./position.ts"
import { framesIn, plainPath, readSealed } from "./segments.ts"
import { type Read, Vault } from "./vault.ts"

/** `end`: a place behind a frame, up to which it is read. */
export const vaultReader = (folder: string, end: Position): Layer.Layer<Vault> => {
  let held: { readonly number: number; readonly content: Buffer } | undefined
  const segment = async (number: number) => {
    if (held?.number !== number)
      held = { number, content: (await readSealed(folder, number)) ?? (await readFile(plainPath(folder, number))) }
    return held.content
  }
  const refused = Effect.die(new Error("a vault that is only looked at is not written"))
  return Layer.succeed(
    Vault,
    Vault.of({
      append: () => refused,
      seal: refused,
      appendedBytes: () => 0,
      end: () => end,
      read: Effect.fnUntraced(function* (from, bytes): Effect.fn.Return<Read, Failure> {
        const content = yield* onDisk(plainPath(folder, from.segment), "read", () => segment(from.segment))
        if (from.offset >= content.length)
          return { frames: [], next: { segment: from.segment + 1, offset: 0 }, bytes: 0 }
        const { frames, end: read } = framesIn(content, from.offset, bytes)
        if (frames.length === 0)
          return yield* failure({
            _tag: "VaultDamaged",
            folder,
            detail: damagedAt(from.segment, from.offset).message
          })
        const here = from.segment === end.segment ? frames.filter((frame) => frame.end <= end.offset) : frames
        const last = here.length === frames.length ? read : end.offset
        return { frames: here, next: { segment: from.segment, offset: last }, bytes: last - from.offset }
      })
    })
  )
}
