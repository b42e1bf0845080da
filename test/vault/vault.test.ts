import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { appendFileSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { execFileSync } from "node:child_process"
import type { PageEntry } from "../../src/stores/vault/entry.ts"
import { type Position, beginning } from "../../src/stores/vault/position.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { newFolder } from "../support/sluice.ts"
import { checkpoint } from "../support/checkpoint.ts"

const entry: PageEntry = {
  kind: "page",
  run: "r",
  at: 1,
  location: "L",
  resource: "things",
  partition: "all",
  request: {},
  records: "things",
  hasBigNumbers: false,
  checkpoint
}
const append = (...bodies: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const vault = yield* Vault
    yield* Effect.forEach(bodies, (body) => vault.append({ entry, body }), { concurrency: "unbounded" })
  })
const readAll = (bytes = 1000) =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const bodies: Array<string> = []
    let position: Position = beginning
    while (true) {
      const { frames, next } = yield* vault.read(position, bytes)
      if (next.segment === position.segment && next.offset === position.offset) return bodies
      bodies.push(...frames.map(({ body }) => body))
      position = next
    }
  })
/** Opens the vault, runs an effect, and closes the vault. */
const within = <A, E>(folder: string, effect: Effect.Effect<A, E, Vault>) =>
  effect.pipe(Effect.provide(Vault.layer(folder)))

const bodies = Array.from({ length: 50 }, (_, n) => `{"n":${n},"text":"${"é".repeat(n * 7)}\n\u2028"}`)

describe("the vault", () => {
  it.live("returns every body unchanged and in order, across segments and after reopening", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      yield* within(folder, append(...bodies.slice(0, 20)))
      yield* within(
        folder,
        Effect.gen(function* () {
          yield* append(...bodies.slice(20, 30))
          yield* (yield* Vault).seal
          yield* append(...bodies.slice(30))
        })
      )
      for (const bytes of [1, 700, 1_000_000]) assert.deepStrictEqual(yield* within(folder, readAll(bytes)), bodies)
    })
  )

  it.live("returns the newest frames once from memory, and the same frames from the file otherwise", () => {
    const folder = newFolder()
    return within(
      folder,
      Effect.gen(function* () {
        const vault = yield* Vault
        const large = "x".repeat(3_000_000)
        yield* Effect.forEach(["one", "two", large, large], (body) => vault.append({ entry, body }), {
          concurrency: "unbounded"
        })
        // The last 3 of 6 MB are kept in memory.
        const early = yield* vault.read(beginning, 4_000_000)
        assert.deepStrictEqual(
          early.frames.map(({ body }) => body),
          ["one", "two", large]
        )
        const file = join(folder, "000001.ndjson")
        const content = readFileSync(file)
        writeFileSync(file, "")
        const late = yield* vault.read(early.next, 1)
        assert.deepStrictEqual(
          late.frames.map(({ body }) => body),
          [large]
        )
        writeFileSync(file, content)
        const again = yield* vault.read(early.next, 4_000_000)
        assert.deepStrictEqual(
          again.frames.map(({ body, end }) => [body, end]),
          late.frames.map(({ body, end }) => [body, end])
        )
        assert.deepStrictEqual([again.next, again.bytes], [late.next, late.bytes])
      })
    )
  })

  it.live(
    "removes an incomplete frame, cut at any byte, and appends after the last complete one",
    () =>
      Effect.gen(function* () {
        const folder = newFolder()
        yield* within(folder, append(bodies[0]!))
        const file = join(folder, "000001.ndjson")
        const whole = statSync(file).size
        yield* within(folder, append(bodies[1]!))
        const [both, content] = [statSync(file).size, readFileSync(file)]
        for (let size = whole + 1; size < both; size++) {
          writeFileSync(file, content)
          truncateSync(file, size)
          yield* within(folder, append("after"))
          assert.deepStrictEqual(yield* within(folder, readAll()), [bodies[0], "after"], `incomplete at ${size}`)
        }
      }),
    { tags: ["slow"] }
  )

  it.live("compresses a full segment that a crash left uncompressed", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      yield* within(folder, append(...bodies))
      // The crash came after the next segment was opened.
      writeFileSync(join(folder, "000002.ndjson"), "")
      assert.deepStrictEqual(yield* within(folder, readAll()), bodies)
      assert.include(readdirSync(folder), "000001.ndjson.zst")
      assert.notInclude(readdirSync(folder), "000001.ndjson")
    })
  )

  it.live("keeps an incomplete write in another file", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      yield* within(folder, append(bodies[0]!))
      appendFileSync(join(folder, "000001.ndjson"), "torn")
      yield* within(folder, readAll())
      const incomplete = readdirSync(folder).find((file) => file.includes("torn"))
      assert.strictEqual(readFileSync(join(folder, incomplete!), "utf8"), "torn")
    })
  )

  it.live("fails if a sealed segment is damaged", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      yield* within(
        folder,
        Effect.gen(function* () {
          yield* append(...bodies)
          yield* (yield* Vault).seal
        })
      )
      const file = join(folder, "000001.ndjson.zst")
      const content = readFileSync(file)
      content[content.length >> 1]! ^= 0xff
      writeFileSync(file, content)
      const result = yield* Effect.result(within(folder, readAll()))
      assert.strictEqual(result._tag, "Failure")
    })
  )

  it.live("seals segments that zstd decompresses and only the owner can access", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      yield* within(
        folder,
        Effect.gen(function* () {
          yield* append('{"a":1}')
          yield* (yield* Vault).seal
        })
      )
      const file = join(folder, "000001.ndjson.zst")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
      const [head, body] = execFileSync(
        process.execPath,
        [
          "-e",
          `process.stdout.write(require("zlib").zstdDecompressSync(require("fs").readFileSync(${JSON.stringify(file)})))`
        ],
        { encoding: "utf8" }
      ).split("\n")
      assert.strictEqual(JSON.parse(head!).bytes, 7)
      assert.strictEqual(body, '{"a":1}')
    })
  )
})
