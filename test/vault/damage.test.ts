/** Every flipped bit is detected, and none is mistaken for a write that a crash interrupted. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { type Entry, type PageEntry, foreignIn } from "../../src/stores/vault/entry.ts"
import { encode, isTorn, validUntil } from "../../src/stores/vault/frame.ts"
import { beginning } from "../../src/stores/vault/position.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
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
const flipped = (bytes: Buffer, bit: number) => {
  const copy = Buffer.from(bytes)
  copy[bit >> 3]! ^= 1 << (bit & 7)
  return copy
}

describe("one flipped bit", () => {
  it("in an open segment is damage, and neither valid nor an incomplete write", { tags: ["slow"] }, () => {
    for (let bit = 0; bit < segment.length * 8; bit++) {
      const damaged = flipped(segment, bit)
      const end = validUntil(damaged)
      assert.isTrue(end < damaged.length && !isTorn(damaged, end, true), `bit ${bit & 7} of byte ${bit >> 3}`)
    }
    assert.isAbove(segment.length * 8, 10_000)
  })

  it("in a sealed segment is damage, or does not change the content", () => {
    const sealed = zstdCompressSync(segment, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })
    const decompressed = (bytes: Buffer) => {
      try {
        return zstdDecompressSync(bytes)
      } catch {
        return undefined
      }
    }
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const content = decompressed(flipped(sealed, bit))
      assert.isTrue(
        content === undefined || content.equals(segment) || validUntil(content) < content.length,
        `bit ${bit}`
      )
    }
  })

  it.live("is reported when the vault is opened or read, and the folder is not changed", () =>
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

  it.live("prevents the segment from being sealed", () =>
    Effect.gen(function* () {
      for (const crash of [true, false]) {
        const folder = newFolder()
        const file = join(folder, "000001.ndjson")
        writeFileSync(file, crash ? flipped(segment, 5000) : segment)
        // Either a crash came before the compression of a full segment, or the damage occurs while the vault is open.
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
  for (let position = beginning; ;) {
    const { next, bytes } = yield* vault.read(position, 1000)
    if (bytes === 0) return
    position = next
  }
})

describe("an interrupted write", () => {
  it("is recognised after every byte", () => {
    const last = encode({ entry, body: "{}" })
    for (let size = 1; size < last.length; size++) {
      const torn = Buffer.concat([segment, last.subarray(0, size)])
      assert.strictEqual(validUntil(torn), segment.length)
      assert.isTrue(isTorn(torn, segment.length, true), `at ${size}`)
    }
  })

  it("is a frame only with the checksum of its header", () => {
    const header = JSON.stringify({ ...entry, bytes: 2, crc32: crc32("{}") })
    const frames = Buffer.concat([Buffer.from(`${header}\n{}\n`), segment])
    assert.strictEqual(validUntil(frames), 0)
    assert.isFalse(isTorn(frames, 0, true))
  })
})

describe("garbage in position of a write that was not synced", () => {
  const last = encode({ entry, body: '{"opportunities":[{"id":"last"}]}' })
  const garbage = Buffer.from('{"kind":"page","bytes":12,"crc32":1}\nhalf a bo\0dy')

  it("is an incomplete write if it has not been loaded, and damage if it has", () => {
    for (let size = 0; size < last.length; size++)
      for (const rest of [garbage, Buffer.alloc(last.length - size)]) {
        const torn = Buffer.concat([segment, last.subarray(0, size), rest])
        assert.strictEqual(validUntil(torn), segment.length)
        assert.isTrue(isTorn(torn, segment.length, false), `${rest.length} bytes at ${size}`)
      }
    assert.isFalse(isTorn(Buffer.concat([segment, last.subarray(0, -9), garbage]), segment.length, true))
  })

  it("is damage if a complete frame follows", () => {
    const damaged = Buffer.concat([segment, last.subarray(0, -9), garbage, Buffer.from("\n"), last])
    assert.isFalse(isTorn(damaged, segment.length, false))
  })

  it.live("is set aside when the vault is opened, but damage if the vault is loaded beyond it", () =>
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

describe("a frame of another account", () => {
  it("is recognised by its kind, resource or location", () => {
    const known = { resources: new Set(["opportunities"]), locations: new Set(["loc-1"]) }
    assert.isUndefined(foreignIn(entry, known))
    const foreign: ReadonlyArray<readonly [object, RegExp]> = [
      [{ kind: "pagf" }, /kind pagf/],
      [{ resource: "opportunitiez" }, /resource opportunitiez/],
      [{ location: "loc-2" }, /location loc-2/]
    ]
    for (const [change, problem] of foreign) assert.match(foreignIn({ ...entry, ...change } as Entry, known)!, problem)
  })
})
