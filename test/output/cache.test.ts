/** A file that takes long to make is made once, and copied from the cache from then on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { type Cached, cachedFile, copyOrMake } from "../../src/output/cache.ts"
import { newFolder } from "../support/sluice.ts"

describe("a file of the cache", () => {
  const [one, two, three] = ["1", "2", "3"].map((digit): Cached => ({
    kind: "empty",
    fingerprint: digit.repeat(64)
  })) as [Cached, Cached, Cached]
  const nameOf = ({ fingerprint, kind }: Cached) => `${kind}-${fingerprint.slice(0, 16)}.duckdb`
  const making = (text: string) => (path: string) => Effect.sync(() => writeFileSync(path, text, { flag: "wx" }))

  it.live("is made once", () =>
    Effect.gen(function* () {
      const [folder, cache] = [newFolder(), newFolder()]
      const [first, second] = [join(folder, "first"), join(folder, "second")]
      yield* copyOrMake(first, one, making("made"), cache)
      yield* copyOrMake(second, one, making("made again"), cache)
      assert.deepStrictEqual([readFileSync(first, "utf8"), readFileSync(second, "utf8")], ["made", "made"])
      assert.deepStrictEqual(readdirSync(cache), [nameOf(one)])
    })
  )

  it.live("is not copied over what is no file, and the failure names that", () =>
    Effect.gen(function* () {
      const [folder, cache] = [newFolder(), newFolder()]
      const { reason } = yield* Effect.flip(copyOrMake(folder, one, making("made"), cache))
      assert.deepInclude(reason, { _tag: "FileFailed", path: folder, operation: "removed" })
    })
  )

  it.live("can be read by its owner only, and so can its copies, whatever the process that made it allows", () =>
    Effect.gen(function* () {
      const [folder, cache] = [newFolder(), newFolder()]
      const open = (path: string) => Effect.sync(() => writeFileSync(path, "made", { mode: 0o644 }))
      const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
      yield* copyOrMake(join(folder, "first"), one, open, cache)
      assert.deepStrictEqual([modeOf(join(cache, nameOf(one))), modeOf(join(folder, "first"))], ["600", "600"])
      // As an earlier version left it.
      chmodSync(join(cache, nameOf(one)), 0o644)
      yield* copyOrMake(join(folder, "second"), one, open, cache)
      assert.strictEqual(modeOf(join(folder, "second")), "600")
    })
  )

  it.live(
    "is removed with what a killed process left 30 days after its last use, when another of its kind is made",
    () =>
      Effect.gen(function* () {
        const cache = newFolder()
        const age = (name: string) => utimesSync(join(cache, name), 1, 1)
        for (const cached of [one, two]) yield* cachedFile(cached, making("made"), cache)
        const killed = `${nameOf(one)}.aB3dE6`
        mkdirSync(join(cache, killed))
        writeFileSync(join(cache, killed, nameOf(one)), "half")
        const others = [
          "empty",
          "empty-notes.duckdb",
          `${nameOf(one)}.bak`,
          `${nameOf(one)}.wal`,
          nameOf({ kind: "published", fingerprint: one.fingerprint })
        ]
        for (const name of others) writeFileSync(join(cache, name), "")
        for (const name of [...others, killed, nameOf(one), nameOf(two)]) age(name)
        yield* cachedFile(two, making("made again"), cache)
        yield* cachedFile(three, making("made"), cache)
        assert.deepStrictEqual(readdirSync(cache).toSorted(), [...others, nameOf(two), nameOf(three)].toSorted())
        assert.strictEqual(readFileSync(join(cache, nameOf(two)), "utf8"), "made", "it was used a moment ago")
      })
  )

  it.live("is whole, and the same for all, if several processes make it at once", () =>
    Effect.gen(function* () {
      const cache = newFolder()
      const slow = (path: string) =>
        Effect.sync(() => writeFileSync(path, "ma")).pipe(
          Effect.andThen(Effect.sleep(20)),
          Effect.andThen(Effect.sync(() => writeFileSync(path, "made")))
        )
      const paths = yield* Effect.all(
        [1, 2, 3].map(() => Effect.map(cachedFile(one, slow, cache), (path) => readFileSync(path!, "utf8"))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(paths, ["made", "made", "made"])
      assert.deepStrictEqual(readdirSync(cache), [nameOf(one)])
    })
  )

  it.live("is made each time if the cache cannot be written", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      writeFileSync(join(folder, "file"), "")
      for (const path of [join(folder, "a"), join(folder, "b")]) {
        yield* copyOrMake(path, one, making(path), join(folder, "file"))
        assert.strictEqual(readFileSync(path, "utf8"), path)
      }
    })
  )

  it.live("is not kept if making it fails", () =>
    Effect.gen(function* () {
      const [folder, cache] = [newFolder(), newFolder()]
      yield* Effect.flip(copyOrMake(join(folder, "a"), one, () => Effect.fail("broken"), cache))
      assert.deepStrictEqual([existsSync(join(folder, "a")), readdirSync(cache)], [false, []])
    })
  )
})
