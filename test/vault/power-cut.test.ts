/** What is on the disk when a page counts as stored: a cursor is used from then on, and the service gives it only once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { encode } from "../../src/stores/vault/frame.ts"
import { usualLimits } from "../../src/values/limits.ts"
import { beginning } from "../../src/stores/vault/position.ts"
import { compress, plainPath, sealedPath } from "../../src/stores/vault/segments.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { keepingDiary } from "../support/disk-diary.ts"
import { newFolder } from "../support/sluice.ts"
import { entry } from "./entry.ts"

/** Uses the vault in a folder, and closes it. */
const within = <A>(folder: string, use: (vault: Vault["Service"]) => Effect.Effect<A, unknown>) =>
  Effect.runPromise(
    Effect.flatMap(Vault, use).pipe(Effect.provide(Vault.layer(folder)), Effect.scoped) as Effect.Effect<A>
  )
const first = "000001.ndjson"

describe("a page is stored", () => {
  it("once it is written and synced, and its file is in the folder for good", () =>
    keepingDiary(async (diary) => {
      await within(newFolder(), (vault) =>
        Effect.gen(function* () {
          assert.include(diary, "sync folder")
          const before = diary.length
          yield* vault.append({ entry, body: "{}" })
          assert.deepStrictEqual(diary.slice(before), [`write ${first}`, `sync ${first}`])
        })
      )
    }))

  it("no earlier: until the sync has ended nothing is read, and the end of the vault is the one before", async () => {
    let release = () => {}
    const synced = new Promise<void>((resolve) => (release = resolve))
    await keepingDiary(
      (diary) =>
        within(newFolder(), (vault) =>
          Effect.gen(function* () {
            const storing = yield* Effect.forkChild(vault.append({ entry, body: "{}" }))
            while (!diary.includes(`write ${first}`)) yield* Effect.promise(() => new Promise(setImmediate))
            assert.isUndefined(storing.pollUnsafe())
            assert.deepStrictEqual(vault.end(), { segment: 1, offset: 0 })
            assert.deepStrictEqual((yield* vault.read(beginning, 1000)).frames, [])
            assert.strictEqual(vault.appendedBytes(), 0)
            release()
            yield* Fiber.join(storing)
            const { frames } = yield* vault.read(beginning, 1000)
            assert.deepStrictEqual(
              frames.map(({ body }) => body),
              ["{}"]
            )
            assert.strictEqual(vault.end().offset, vault.appendedBytes())
            assert.strictEqual(vault.end().offset, encode({ entry, body: "{}" }).length)
          })
        ),
      (call) => (call === `sync ${first}` ? synced : undefined)
    )
  })

  it("with those that arrive meanwhile, which are written and synced together", () =>
    keepingDiary(async (diary) => {
      await within(newFolder(), (vault) =>
        Effect.gen(function* () {
          const before = diary.length
          yield* Effect.all(
            ["a", "b", "c", "d"].map((body) => vault.append({ entry, body })),
            { concurrency: 4 }
          )
          assert.deepStrictEqual(diary.slice(before), [`write ${first}`, `sync ${first}`])
          const { frames } = yield* vault.read(beginning, 10_000)
          assert.deepStrictEqual(
            frames.map(({ body }) => body),
            ["a", "b", "c", "d"]
          )
        })
      )
    }))

  it("never again after a write or a sync has failed: the end of the file is unknown", async () => {
    for (const failing of [`write ${first}`, `sync ${first}`]) {
      const folder = newFolder()
      let isFull = true
      await keepingDiary(
        () =>
          within(folder, (vault) =>
            Effect.gen(function* () {
              assert.match(JSON.stringify(yield* Effect.flip(vault.append({ entry, body: "lost" }))), /FileFailed/)
              isFull = false
              assert.match(JSON.stringify(yield* Effect.flip(vault.append({ entry, body: "later" }))), /FileFailed/)
              assert.deepStrictEqual(vault.end(), { segment: 1, offset: 0 })
            })
          ),
        (call) => {
          if (isFull && call === failing) throw Object.assign(new Error("no space"), { code: "ENOSPC" })
        }
      )
      assert.notInclude(readFileSync(join(folder, first), "utf8"), "later")
    }
  })

  it("in a new segment if the one before is full, and the new file is in the folder for good", async () => {
    const folder = newFolder()
    const large = "x".repeat(usualLimits.vault.segmentBytes.value)
    await keepingDiary((diary) =>
      within(folder, (vault) =>
        Effect.gen(function* () {
          yield* vault.append({ entry, body: large })
          assert.strictEqual(vault.end().segment, 1)
          const before = diary.length
          yield* vault.append({ entry, body: "second" })
          assert.strictEqual(vault.end().segment, 2)
          const until = diary.indexOf("sync 000002.ndjson", before)
          assert.deepStrictEqual(
            diary.slice(before, until + 1).filter((call) => !call.includes(".zst")),
            ["sync folder", "write 000002.ndjson", "sync 000002.ndjson"]
          )
        })
      )
    )
    assert.deepStrictEqual(readdirSync(folder).sort(), ["000001.ndjson.zst", "000002.ndjson"])
  })
})

describe("a segment that is compressed", () => {
  it("is synced under its name before the plain one is removed", async () => {
    const folder = newFolder()
    writeFileSync(plainPath(folder, 1), encode({ entry, body: "{}" }))
    await keepingDiary(async (diary) => {
      await compress(folder, 1)
      assert.deepStrictEqual(diary, [
        "sync stream",
        `rename ${first}.zst.part to ${first}.zst`,
        "sync folder",
        `remove ${first}`
      ])
    })
  })

  it("is still there as it was if the power is cut at any moment", async () => {
    for (const moment of ["rename", "sync folder", "remove"]) {
      const folder = newFolder()
      writeFileSync(plainPath(folder, 1), encode({ entry, body: "{}" }))
      const cut = keepingDiary(
        () => compress(folder, 1),
        (call) => {
          if (call.startsWith(moment)) throw new Error("power cut")
        }
      )
      assert.match(String(await cut.catch(String)), /power cut/)
      await within(folder, (vault) =>
        Effect.gen(function* () {
          const { frames } = yield* vault.read(beginning, 1000)
          assert.deepStrictEqual(
            frames.map(({ body }) => body),
            ["{}"],
            moment
          )
        })
      )
      assert.isFalse(readdirSync(folder).includes(first) && readdirSync(folder).includes(`${first}.zst`))
    }
    assert.isTrue(sealedPath("f", 1).endsWith("000001.ndjson.zst"))
  })
})
