/** What opening a vault finds, leaves and refuses: after a crash, after damage, and of a version before. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { appendFileSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { crc32, zstdCompressSync } from "node:zlib"
import { encode, isOlder } from "../../src/stores/vault/frame.ts"
import { type Position, beginning } from "../../src/stores/vault/position.ts"
import { plainPath, sealedPath } from "../../src/stores/vault/segments.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { newFolder } from "../support/sluice.ts"
import { entry } from "./entry.ts"

const bytesOf = (...bodies: ReadonlyArray<string>) => Buffer.concat(bodies.map((body) => encode({ entry, body })))
const opened = <A, E>(folder: string, use: (vault: Vault["Service"]) => Effect.Effect<A, E>, loaded?: Position) =>
  Effect.flatMap(Vault, use).pipe(Effect.provide(Vault.layer(folder, loaded)), Effect.scoped)
const bodiesIn = (vault: Vault["Service"], bytes = 1000) =>
  Effect.gen(function* () {
    const bodies: Array<string> = []
    for (let at = beginning; ;) {
      const { bytes: read, frames, next } = yield* vault.read(at, bytes)
      if (frames.length === 0) return bodies
      assert.strictEqual(read, next.offset - (next.segment === at.segment ? at.offset : 0))
      bodies.push(...frames.map(({ body }) => body))
      at = next
    }
  })
const problemOf = (folder: string, loaded?: Position) =>
  Effect.map(Effect.flip(opened(folder, bodiesIn, loaded)), (failure) => JSON.stringify(failure))

describe("a vault that is opened", () => {
  it.live("of a new folder is empty, and nobody else can look into it", () =>
    Effect.gen(function* () {
      const folder = join(newFolder(), "vault")
      yield* opened(folder, (vault) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(vault.end(), beginning)
          assert.deepStrictEqual(yield* vault.read(beginning, 10), { frames: [], next: beginning, bytes: 0 })
          yield* vault.seal
        })
      )
      assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
      assert.deepStrictEqual(readdirSync(folder), ["000001.ndjson"], "nothing is sealed where nothing is")
      assert.strictEqual(statSync(plainPath(folder, 1)).mode & 0o777, 0o600)
    })
  )

  it.live("continues the open segment, or begins one behind those that are sealed", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      writeFileSync(sealedPath(folder, 7), zstdCompressSync(bytesOf("a")))
      const append = (body: string) => opened(folder, (vault) => vault.append({ entry, body }))
      yield* append("b")
      yield* append("c")
      assert.deepStrictEqual(readdirSync(folder).sort(), ["000007.ndjson.zst", "000008.ndjson"])
      assert.isTrue(readFileSync(plainPath(folder, 8)).equals(bytesOf("b", "c")))
      yield* opened(folder, (vault) =>
        Effect.sync(() => assert.deepStrictEqual(vault.end(), { segment: 8, offset: bytesOf("b", "c").length }))
      )
    })
  )

  it.live("keeps what a crash left of a write in another file, and appends behind the last whole page", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const whole = bytesOf("whole")
      writeFileSync(plainPath(folder, 1), Buffer.concat([whole, bytesOf("größer").subarray(0, -4)]))
      yield* opened(folder, (vault) => vault.append({ entry, body: "after" }))
      assert.isTrue(readFileSync(plainPath(folder, 1)).equals(bytesOf("whole", "after")))
      const kept = `${plainPath(folder, 1)}.torn-${whole.length}`
      assert.isTrue(readFileSync(kept).equals(bytesOf("größer").subarray(0, -4)))
      assert.strictEqual(statSync(kept).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* opened(folder, bodiesIn), ["whole", "after"])
    })
  )

  it.live("compresses full segments that a crash left plain, whatever their number", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      for (const n of [1, 2, 3]) writeFileSync(plainPath(folder, n), bytesOf(`${n}`))
      assert.deepStrictEqual(yield* opened(folder, bodiesIn), ["1", "2", "3"])
      assert.deepStrictEqual(readdirSync(folder).sort(), ["000001.ndjson.zst", "000002.ndjson.zst", "000003.ndjson"])
    })
  )

  it.live("is not opened if bytes are wrong that were loaded, and they are left as they are", () =>
    Effect.gen(function* () {
      const good = bytesOf("good")
      const wrong = Buffer.concat([good, Buffer.from('{"kind":"page"}\n{}\n')])
      const at = (offset: number): Position => ({ segment: 1, offset })
      for (const [loaded, isDamage] of [
        [undefined, true],
        [at(good.length + 1), true],
        [at(good.length), false],
        [at(0), false]
      ] as const) {
        const folder = newFolder()
        writeFileSync(plainPath(folder, 1), wrong)
        if (isDamage) {
          assert.match(yield* problemOf(folder, loaded), new RegExp(`segment 1 is damaged at byte ${good.length}"`))
          assert.isTrue(readFileSync(plainPath(folder, 1)).equals(wrong))
          assert.deepStrictEqual(readdirSync(folder), ["000001.ndjson"])
        } else assert.deepStrictEqual(yield* opened(folder, bodiesIn, loaded), ["good"])
      }
    })
  )

  it.live("says which segment is missing, and which cannot be unpacked", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      writeFileSync(sealedPath(folder, 1), zstdCompressSync(bytesOf("a")))
      writeFileSync(plainPath(folder, 3), bytesOf("c"))
      assert.match(yield* problemOf(folder), /segment 2 is missing/)
      writeFileSync(sealedPath(folder, 2), zstdCompressSync(bytesOf("b")).subarray(0, 12))
      assert.match(yield* problemOf(folder), /segment 2 cannot be unpacked/)
      writeFileSync(sealedPath(folder, 2), zstdCompressSync(Buffer.concat([bytesOf("b"), Buffer.from("rubbish")])))
      assert.match(yield* problemOf(folder), new RegExp(`segment 2 is damaged at byte ${bytesOf("b").length}"`))
    })
  )
})

describe("a vault of a version before 1.0.0", () => {
  const unsigned = (body: string, crc = crc32(body)) =>
    Buffer.from(`${JSON.stringify({ kind: "page", bytes: body.length, crc32: crc })}\n${body}\n`)
  it.each([
    ["a header without a checksum of its own", unsigned("{}"), true],
    ["one whose body is another one", unsigned("{}", 5), false],
    ["a member of its own", encode({ entry: { ...entry, pass: 1 } as never, body: "" }), true],
    ["a kind of its own", encode({ entry: { ...entry, kind: "gone" } as never, body: "" }), true],
    [
      "an outcome without shortfalls",
      encode({ entry: { ...entry, kind: "end", outcome: {} } as never, body: "" }),
      true
    ],
    [
      "an outcome as it is now",
      encode({ entry: { ...entry, kind: "end", outcome: { shortfalls: [] } } as never, body: "" }),
      false
    ],
    ["a page as it is now", bytesOf("{}"), false],
    ["rubbish", Buffer.from("rubbish\n"), false],
    ["half a header", unsigned("{}").subarray(0, 9), false],
    ["nothing", Buffer.alloc(0), false]
  ])("has %s: %o", (_, segment, expected) => assert.strictEqual(isOlder(segment), expected))

  it.live("is refused, and left as it is", () =>
    Effect.gen(function* () {
      for (const path of [plainPath, sealedPath]) {
        const folder = newFolder()
        writeFileSync(path(folder, 1), path === plainPath ? unsigned("{}") : zstdCompressSync(unsigned("{}")))
        assert.match(yield* problemOf(folder, beginning), /"VaultOlder"/)
        assert.strictEqual(readdirSync(folder).length, 1)
      }
    })
  )
})

describe("pages that were just appended", () => {
  it.live("are read once from memory in their order, and then from the file, whoever reads", () => {
    const folder = newFolder()
    return opened(folder, (vault) =>
      Effect.gen(function* () {
        for (const body of ["a", "b", "c"]) yield* vault.append({ entry, body })
        assert.deepStrictEqual((yield* vault.read(beginning, 1)).frames.length, 3, "all that are in memory")
        assert.deepStrictEqual(
          (yield* vault.read(beginning, bytesOf("a").length)).frames.length,
          1,
          "one from the file"
        )
        yield* vault.append({ entry, body: "d" })
        const end = vault.end()
        const late = { segment: 1, offset: bytesOf("a", "b", "c").length }
        const { frames, next } = yield* vault.read(late, 1)
        assert.deepStrictEqual([frames.map(({ body }) => body), next], [["d"], end])
        assert.deepStrictEqual(yield* bodiesIn(vault, 1), ["a", "b", "c", "d"])
        assert.deepStrictEqual(yield* bodiesIn(vault, 100_000), ["a", "b", "c", "d"])
        assert.deepStrictEqual((yield* vault.read(end, 1000)).frames, [])
      })
    )
  })

  it.live("are not read from memory by one who is behind them, and none is left out", () => {
    const folder = newFolder()
    writeFileSync(plainPath(folder, 1), bytesOf("old"))
    return opened(folder, (vault) =>
      Effect.gen(function* () {
        yield* vault.append({ entry, body: "new" })
        assert.deepStrictEqual(yield* bodiesIn(vault, 1), ["old", "new"])
        yield* vault.seal
        yield* vault.append({ entry, body: "newer" })
        assert.deepStrictEqual(yield* bodiesIn(vault, 1), ["old", "new", "newer"])
        assert.isTrue(existsSync(sealedPath(folder, 1)))
      })
    )
  })

  it.live("and what follows the end of the open segment is not read, even if it is in the file", () => {
    const folder = newFolder()
    return opened(folder, (vault) =>
      Effect.gen(function* () {
        yield* vault.append({ entry, body: "mine" })
        yield* vault.read(beginning, 1)
        appendFileSync(plainPath(folder, 1), bytesOf("not synced"))
        assert.deepStrictEqual(yield* bodiesIn(vault, 100_000), ["mine"])
      })
    )
  })
})
