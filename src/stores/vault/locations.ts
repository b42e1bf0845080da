/** The locations whose entries are in a vault. Reads the folder only, so it needs no lock. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import { namesIn } from "../../output/folder.ts"
import { type Failure, failure, fileFailure } from "../../values/failure.ts"
import { Damage, damagedAt, plainPath, readSealed } from "./segments.ts"
import { decode, isTorn } from "./frame.ts"

export interface VaultShare {
  readonly entries: number
  /** Their size before compression. */
  readonly bytes: number
}

/** By location. An incomplete write at the end is left out; fails if anything else cannot be read. */
export const locationsInVault = (folder: string): Effect.Effect<ReadonlyMap<string, VaultShare>, Failure> =>
  Effect.tryPromise({
    try: async () => {
      const shares = new Map<string, VaultShare>()
      const names = await namesIn(folder)
      for (const segment of new Set(names.filter((name) => /^\d+\.ndjson(\.zst)?$/.test(name)).map(Number.parseFloat)))
        for (const { location, bytes } of await entriesOf(folder, segment)) {
          const { entries, bytes: before } = shares.get(location) ?? { entries: 0, bytes: 0 }
          shares.set(location, { entries: entries + 1, bytes: before + bytes })
        }
      return shares
    },
    catch: (cause) =>
      cause instanceof Damage
        ? failure({ _tag: "VaultDamaged", folder, detail: cause.message })
        : fileFailure(folder, "read", cause)
  })

const entriesOf = async (folder: string, segment: number) => {
  const sealed = await readSealed(folder, segment).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code?.startsWith("Z") ? new Damage(`segment ${segment} cannot be unpacked: ${cause.message}`) : cause
  })
  const content = sealed ?? (await readFile(plainPath(folder, segment)))
  const found: Array<{ readonly location: string; readonly bytes: number }> = []
  for (let start = 0; start < content.length;) {
    const frame = decode(content, start)
    if (frame === undefined) {
      if (sealed === undefined && isTorn(content, start, false)) break
      throw damagedAt(segment, start)
    }
    found.push({ location: frame.entry.location, bytes: frame.end - start })
    start = frame.end
  }
  return found
}
