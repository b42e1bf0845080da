/** A vault for reading only, because opening one for writing removes a torn write at its end. */
import { Effect, Layer } from "effect"
import { readFile } from "node:fs/promises"
import { Signal } from "../../values/signal.ts"
import { failure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { damagedAt, framesIn, plainPath, readSealed } from "./segments.ts"
import type { Position } from "./position.ts"
import { Vault } from "./vault.ts"

/** `end`: the position up to which frames are read. */
export const vaultReader = (folder: string, end: Position): Layer.Layer<Vault> => {
  let cached: { readonly number: number; readonly content: Buffer } | undefined
  const segment = async (number: number) => {
    if (cached?.number !== number)
      cached = { number, content: (await readSealed(folder, number)) ?? (await readFile(plainPath(folder, number))) }
    return cached.content
  }
  const readOnly = Effect.die(new Error("the vault is open for reading only"))
  return Layer.succeed(
    Vault,
    Vault.of({
      append: () => readOnly,
      seal: readOnly,
      appendedBytes: () => 0,
      end: () => end,
      grown: new Signal(),
      read: Effect.fnUntraced(function* (from, bytes) {
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
        const included = from.segment === end.segment ? frames.filter((frame) => frame.end <= end.offset) : frames
        const last = included.length === frames.length ? read : end.offset
        return { frames: included, next: { segment: from.segment, offset: last }, bytes: last - from.offset }
      })
    })
  )
}
