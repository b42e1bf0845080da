/** Every flipped bit is found, wherever it is, and none is taken for a write that a crash cut off. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { type Entry, type PageEntry, foreignIn } from "../../src/vault/entry.ts"
import { decode, encode, isTorn, validUntil } from "../../src/vault/frame.ts"
import { beginning } from "../../src/vault/position.ts"
import { Vault } from "../../src/vault/vault.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"
import { checkpoint } from "../support/checkpoint.ts"

const entry: PageEntry = {
  kind: "page",
  run: "20261122T125407722Z",
  at: 1,
  location: "loc-1",
  resource: "opportunities",
  partition: "all",
  request: { parameters: { crc: 5 } },
  records: "opportunities",
  hasBigNumbers: false,
  checkpoint: { ...checkpoint, cursor: ',"crc":1}' }
}
const bodies = Array.from({ length: 12 }, (_, n) => (n % 4 === 0 ? "" : `{"opportunities":[{"id":"${n}"}]}`))
const segment = Buffer.concat(bodies.map((body) => encode({ entry, body })))
/** As versions before this one wrote it. */
const earlier = (body: string) =>
  Buffer.from(`${JSON.stringify({ ...entry, bytes: Buffer.byteLength(body), crc32: crc32(body) })}\n${body}\n`)

const flipped = (bytes: Buffer, bit: number) => {
  const copy = Buffer.from(bytes)
  copy[bit >> 3]! ^= 1 << (bit & 7)
  return copy
}

describe("one flipped bit", () => {
  it("in an open segment is damage: never whole, and never a torn end", () => {
    for (let bit = 0; bit < segment.length * 8; bit++) {
      const damaged = flipped(segment, bit)
      const end = validUntil(damaged)
      assert.isTrue(end < damaged.length && !isTorn(damaged, end, true), `bit ${bit & 7} of byte ${bit >> 3}`)
    }
    assert.isAbove(segment.length * 8, 10_000)
  })

  it("in a sealed segment is damage, or changes nothing that is read", () => {
    const sealed = zstdCompressSync(segment, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })
    const transformed = (bytes: Buffer) => {
      try {
        return zstdDecompressSync(bytes)
      } catch {
        return undefined
      }
    }
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const content = transformed(flipped(sealed, bit))
      assert.isTrue(
        content === undefined || content.equals(segment) || validUntil(content) < content.length,
        `bit ${bit}`
      )
    }
  })

  it.live("is told by the next opening or reading of the vault, which then has changed nothing", () =>
    Effect.gen(function* () {
      const random = randomFrom(11)
      for (let n = 0; n < 60; n++) {
        const folder = newFolder()
        const file = join(folder, "000001.ndjson")
        const damaged = flipped(segment, Math.floor(random() * segment.length * 8))
        writeFileSync(file, damaged)
        const result = yield* Effect.result(Effect.scoped(Effect.provide(readAll, Vault.layer(folder))))
        assert.match(JSON.stringify(result), /"VaultDamaged".*segment 1 is damaged at byte \d+/)
        assert.deepStrictEqual(readdirSync(folder), ["000001.ndjson"])
        assert.isTrue(readFileSync(file).equals(damaged))
      }
    })
  )

  it.live("is not sealed", () =>
    Effect.gen(function* () {
      for (const crash of [true, false]) {
        const folder = newFolder()
        const file = join(folder, "000001.ndjson")
        writeFileSync(file, crash ? flipped(segment, 5000) : segment)
        // A crash came between a full segment and its compression; or the damage comes while the vault is open.
        if (crash) writeFileSync(join(folder, "000002.ndjson"), "")
        const sealing = Effect.gen(function* () {
          const vault = yield* Vault
          writeFileSync(file, flipped(segment, 5000))
          yield* vault.seal
        })
        const result = yield* Effect.result(Effect.scoped(Effect.provide(sealing, Vault.layer(folder))))
        assert.match(JSON.stringify(result), /segment 1 is damaged at byte \d+/)
        assert.isFalse(existsSync(`${file}.zst`))
        assert.isTrue(existsSync(file))
      }
    })
  )
})

const readAll = Effect.gen(function* () {
  const vault = yield* Vault
  for (let place = beginning; ;) {
    const { next, bytes } = yield* vault.read(place, 1000)
    if (bytes === 0) return
    place = next
  }
})

describe("a write that was cut off", () => {
  it("is a torn end, at every byte, of this version and of earlier ones", () => {
    for (const last of [encode({ entry, body: "{}" }), earlier("{}")])
      for (let size = 1; size < last.length; size++) {
        const torn = Buffer.concat([segment, last.subarray(0, size)])
        assert.strictEqual(validUntil(torn), segment.length)
        assert.isTrue(isTorn(torn, segment.length, true), `at ${size}`)
      }
  })
})

describe("anything in place of a write that was not synced", () => {
  const last = encode({ entry, body: '{"opportunities":[{"id":"last"}]}' })
  const garbage = Buffer.from('{"kind":"page","bytes":12,"crc32":1}\nhalf a bo\0dy')

  it("is a torn end where nothing of it was loaded, and damage where it was", () => {
    for (let size = 0; size < last.length; size++)
      for (const rest of [garbage, Buffer.alloc(last.length - size)]) {
        const torn = Buffer.concat([segment, last.subarray(0, size), rest])
        assert.strictEqual(validUntil(torn), segment.length)
        assert.isTrue(isTorn(torn, segment.length, false), `${rest.length} bytes at ${size}`)
      }
    assert.isFalse(isTorn(Buffer.concat([segment, last.subarray(0, -9), garbage]), segment.length, true))
  })

  it("is damage where a whole frame follows, loaded or not", () => {
    const damaged = Buffer.concat([segment, last.subarray(0, -9), garbage, Buffer.from("\n"), last])
    assert.isFalse(isTorn(damaged, segment.length, false))
  })

  it.live("is set aside when the vault is opened, with the place up to which it is loaded", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      writeFileSync(join(folder, "000001.ndjson"), Buffer.concat([segment, last.subarray(0, -9), garbage]))
      const open = (offset: number) =>
        Effect.result(Effect.scoped(Effect.provide(readAll, Vault.layer(folder, { segment: 1, offset }))))
      assert.match(JSON.stringify(yield* open(segment.length + last.length)), /segment 1 is damaged at byte/)
      assert.strictEqual((yield* open(segment.length))._tag, "Success")
      assert.deepStrictEqual(readdirSync(folder), ["000001.ndjson", `000001.ndjson.torn-${segment.length}`])
    })
  )
})

describe("a frame of an earlier version", () => {
  it("is read, and a longer body than there is counts as cut off only where no frame follows", () => {
    const frames = Buffer.concat([earlier("{}"), segment])
    assert.strictEqual(validUntil(frames), frames.length)
    assert.deepStrictEqual(decode(frames, 0)?.entry, entry)
    const [before, after] = frames.toString("latin1").split('"bytes":2,')
    const longer = Buffer.from(`${before}"bytes":99999,${after}`, "latin1")
    assert.strictEqual(validUntil(longer), 0)
    assert.isFalse(isTorn(longer, 0, true))
  })
})

describe("a frame that no run of this account wrote", () => {
  it("is told by its kind, resource or location", () => {
    const known = { resources: new Set(["opportunities"]), locations: new Set(["loc-1"]) }
    assert.isUndefined(foreignIn(entry, known))
    const strange: ReadonlyArray<readonly [object, RegExp]> = [
      [{ kind: "pagf" }, /kind pagf/],
      [{ resource: "opportunitiez" }, /resource opportunitiez/],
      [{ location: "loc-2" }, /location loc-2/]
    ]
    for (const [change, told] of strange) assert.match(foreignIn({ ...entry, ...change } as Entry, known)!, told)
  })
})
