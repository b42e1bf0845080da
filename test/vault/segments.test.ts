/** Sealed and open segments as others read and rewrite them: for rebuilds, exports, erasures and removals. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { type Frame, decode, encode, isTorn, validUntil } from "../../src/stores/vault/frame.ts"
import { locationsInVault } from "../../src/stores/vault/locations.ts"
import { type Position, beginning, bytesBetween, isBefore } from "../../src/stores/vault/position.ts"
import { vaultReader } from "../../src/stores/vault/reader.ts"
import { rewriteSegments } from "../../src/stores/vault/rewrite.ts"
import { plainPath, sealedPath, segmentsIn } from "../../src/stores/vault/segments.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { newFolder } from "../support/sluice.ts"
import { entry } from "./entry.ts"

const frame = (body: string, more: object = {}): Frame => ({ entry: { ...entry, ...more }, body })
const bytesOf = (...frames: ReadonlyArray<Frame>) => Buffer.concat(frames.map(encode))
/** Two sealed segments and an open one. */
const filled = () => {
  const folder = newFolder()
  writeFileSync(sealedPath(folder, 1), zstdCompressSync(bytesOf(frame("a"), frame("b", { location: "M" }))))
  writeFileSync(sealedPath(folder, 2), zstdCompressSync(bytesOf(frame("c"))))
  writeFileSync(plainPath(folder, 3), bytesOf(frame("d"), frame("e")))
  return folder
}
const length = (body: string) => encode(frame(body)).length

describe("positions", () => {
  const at = (segment: number, offset: number): Position => ({ segment, offset })
  it.each([
    [at(1, 5), at(1, 6), true],
    [at(1, 5), at(1, 5), false],
    [at(1, 6), at(1, 5), false],
    [at(1, 9), at(2, 0), true],
    [at(2, 0), at(1, 9), false]
  ])("%j is before %j: %o", (one, other, expected) => assert.strictEqual(isBefore(one, other), expected))

  it("are apart by bytes, of which a segment in between has as many as fit", () => {
    assert.strictEqual(bytesBetween(at(1, 10), at(1, 30), 100), 20)
    assert.strictEqual(bytesBetween(at(1, 10), at(3, 30), 100), 220)
  })
})

describe("a torn write of text with characters of several bytes", () => {
  const whole = encode(frame("Grüße, 東京 🌊", { partition: "Übersicht 東京", request: { query: "🌊" } }))
  it("is torn at every byte, and never a shorter frame", () => {
    const before = encode(frame("é"))
    for (let size = 0; size < whole.length; size++) {
      const torn = Buffer.concat([before, whole.subarray(0, size)])
      assert.strictEqual(validUntil(torn), before.length, `after ${size} bytes`)
      assert.isTrue(isTorn(torn, before.length, true), `after ${size} bytes`)
      assert.isUndefined(decode(torn, before.length))
    }
    assert.strictEqual(decode(whole, 0)!.body, "Grüße, 東京 🌊")
    assert.strictEqual(decode(whole, 0)!.end, whole.length)
    assert.strictEqual(validUntil(Buffer.concat([before, whole])), before.length + whole.length)
  })

  it("and a changed byte is damage, wherever it is", () => {
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 4
      assert.isUndefined(decode(damaged, 0), `byte ${at}`)
      assert.isFalse(isTorn(damaged, 0, true), `byte ${at}`)
    }
  })

  it("is not torn if a whole frame follows, even if nothing of it was loaded", () => {
    const halved = whole.subarray(0, 30)
    assert.isTrue(isTorn(Buffer.concat([halved, Buffer.from("\n")]), 0, false))
    assert.isFalse(isTorn(Buffer.concat([halved, Buffer.from("\n")]), 0, true))
    assert.isFalse(isTorn(Buffer.concat([halved, Buffer.from("\n"), whole]), 0, false))
  })
})

describe("the segments of a folder", () => {
  it("are in the order of their numbers, and a compressed one is not read twice", async () => {
    const folder = filled()
    for (const segment of [2, 10]) writeFileSync(plainPath(folder, segment), bytesOf(frame("late")))
    writeFileSync(`${plainPath(folder, 3)}.torn-5`, "x")
    assert.deepStrictEqual(await segmentsIn(folder), { all: [1, 2, 3, 10], plain: [3, 10] })
    assert.notInclude(readdirSync(folder), "000002.ndjson")
    assert.include(readdirSync(folder), "000003.ndjson")
  })
})

describe("a vault that is only read", () => {
  const readAll = (folder: string, end: Position, bytes = 1, from: Position = beginning) =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const bodies: Array<string> = []
      for (let at = from, steps = 0; isBefore(at, end) && steps < 50; steps++) {
        const { bytes: read, frames, next } = yield* vault.read(at, bytes)
        assert.strictEqual(read, frames.length === 0 ? 0 : next.offset - at.offset)
        bodies.push(...frames.map(({ body }) => body))
        at = next
      }
      return bodies
    }).pipe(Effect.provide(vaultReader(folder, end)))

  it.effect("returns each body once and in order, up to its end and no further", () =>
    Effect.gen(function* () {
      const folder = filled()
      const end = { segment: 3, offset: length("d") + length("e") }
      for (const bytes of [1, length("a") + 1, 100_000])
        assert.deepStrictEqual(yield* readAll(folder, end, bytes), ["a", "b", "c", "d", "e"])
      for (const bytes of [1, 100_000]) {
        assert.deepStrictEqual(yield* readAll(folder, { segment: 3, offset: length("d") }, bytes), ["a", "b", "c", "d"])
        assert.deepStrictEqual(yield* readAll(folder, { segment: 2, offset: 0 }, bytes), ["a", "b"])
      }
      assert.deepStrictEqual(yield* readAll(folder, end, 1, { segment: 3, offset: length("d") }), ["e"])
    })
  )

  it.effect("changes nothing, not even a torn write, and says where it is damaged", () =>
    Effect.gen(function* () {
      const folder = filled()
      appendFileSync(plainPath(folder, 3), "torn")
      const end = length("d") + length("e")
      assert.strictEqual((yield* readAll(folder, { segment: 3, offset: end }, 100_000)).length, 5)
      const beyond = yield* Effect.flip(readAll(folder, { segment: 3, offset: end + 4 }))
      assert.match(JSON.stringify(beyond), new RegExp(`"VaultDamaged".*segment 3 is damaged at byte ${end}"`))
      assert.isTrue(readFileSync(plainPath(folder, 3), "utf8").endsWith("torn"))
    })
  )
})

describe("sealed segments that are rewritten", () => {
  const contentOf = (folder: string, segment: number) => {
    const bytes = zstdDecompressSync(readFileSync(sealedPath(folder, segment)))
    const bodies: Array<string> = []
    for (let found = decode(bytes, 0); found; found = decode(bytes, found.end)) bodies.push(found.body)
    assert.strictEqual(validUntil(bytes), bytes.length)
    return bodies
  }

  it.effect("keep each frame as it was, unless it is changed or removed", () =>
    Effect.gen(function* () {
      const folder = filled()
      const before = readFileSync(sealedPath(folder, 2))
      const seen: Array<string> = []
      const change = (one: Frame, segment: number) => {
        seen.push(`${segment} ${String(one.body)}`)
        return one.body === "a" ? { ...one, body: "A longer one" } : one.body === "b" ? undefined : one
      }
      const rewritten = yield* rewriteSegments(folder, change, { apply: true })
      assert.deepStrictEqual(seen, ["1 a", "1 b", "2 c"], "the open segment is not touched")
      assert.deepStrictEqual(contentOf(folder, 1), ["A longer one"])
      assert.isTrue(readFileSync(sealedPath(folder, 2)).equals(before))
      assert.deepStrictEqual(
        rewritten.map(({ segment }) => segment),
        [1]
      )
      assert.strictEqual(rewritten[0]!.bytesAfter, readFileSync(sealedPath(folder, 1)).length)
      assert.notInclude(readdirSync(folder).join(), ".part")
    })
  )

  it.effect("only if it is said so, and only below a segment", () =>
    Effect.gen(function* () {
      const folder = filled()
      const before = [1, 2].map((segment) => readFileSync(sealedPath(folder, segment)))
      const planned = yield* rewriteSegments(folder, () => undefined, { apply: false })
      assert.deepStrictEqual(
        planned.map(({ segment }) => segment),
        [1, 2]
      )
      assert.strictEqual(planned[0]!.bytesBefore, before[0]!.length)
      for (const [n, bytes] of before.entries()) assert.isTrue(readFileSync(sealedPath(folder, n + 1)).equals(bytes))
      const below = yield* rewriteSegments(folder, () => undefined, { apply: true, below: 2 })
      assert.deepStrictEqual(
        below.map(({ segment }) => segment),
        [1]
      )
      assert.deepStrictEqual([contentOf(folder, 1), contentOf(folder, 2)], [[], ["c"]])
    })
  )

  it.effect("not at all if one of them is damaged", () =>
    Effect.gen(function* () {
      const folder = filled()
      const damaged = bytesOf(frame("a"), frame("b"))
      damaged[length("a") + 3]! ^= 1
      writeFileSync(sealedPath(folder, 1), zstdCompressSync(damaged))
      const failure = yield* Effect.flip(rewriteSegments(folder, () => undefined, { apply: true }))
      assert.match(JSON.stringify(failure), new RegExp(`segment 1 is damaged at byte ${length("a")}"`))
      assert.isTrue(zstdDecompressSync(readFileSync(sealedPath(folder, 1))).equals(damaged))
    })
  )
})

describe("the locations of a vault", () => {
  it.effect("are counted with their entries and bytes, in all segments and without a torn write", () =>
    Effect.gen(function* () {
      const folder = filled()
      appendFileSync(plainPath(folder, 3), encode(frame("torn")).subarray(0, 20))
      const shares = yield* locationsInVault(folder)
      const sum = ["a", "c", "d", "e"].reduce((bytes, body) => bytes + length(body), 0)
      assert.deepStrictEqual(Object.fromEntries(shares), {
        L: { entries: 4, bytes: sum },
        M: { entries: 1, bytes: length("b") }
      })
      assert.deepStrictEqual([...(yield* locationsInVault(newFolder()))], [])
    })
  )

  it.effect("are not counted if a part cannot be read: one that is not counted would be left behind", () =>
    Effect.gen(function* () {
      const cut = filled()
      writeFileSync(sealedPath(cut, 1), readFileSync(sealedPath(cut, 1)).subarray(0, 20))
      assert.match(JSON.stringify(yield* Effect.flip(locationsInVault(cut))), /"VaultDamaged".*cannot be unpacked/)
      const torn = filled()
      writeFileSync(sealedPath(torn, 2), zstdCompressSync(bytesOf(frame("c")).subarray(0, 20)))
      assert.match(JSON.stringify(yield* Effect.flip(locationsInVault(torn))), /segment 2 is damaged at byte 0/)
    })
  )
})
