/** A file that takes long to make is made once, and copied from the cache from then on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { copyOrMake } from "../../src/output/cache.ts"
import { newFolder } from "../support/sluice.ts"

describe("a file of the cache", () => {
  const make = (path: string, text: string) => Effect.sync(() => writeFileSync(path, text, { flag: "wx" }))

  it.live("is made once, and the cache forgets files of its kind that are old", () =>
    Effect.gen(function* () {
      const [folder, cache] = [newFolder(), newFolder()]
      for (const name of ["empty-1", "other-1", "empty-2.0123"]) {
        writeFileSync(join(cache, name), "old")
        utimesSync(join(cache, name), 1, 1)
      }
      const [first, second] = [join(folder, "first"), join(folder, "second")]
      yield* copyOrMake(first, "empty-3", make(first, "made"), cache)
      yield* copyOrMake(second, "empty-3", make(second, "made again"), cache)
      assert.deepStrictEqual([readFileSync(first, "utf8"), readFileSync(second, "utf8")], ["made", "made"])
      assert.deepStrictEqual(readdirSync(cache).toSorted(), ["empty-3", "other-1"])
    })
  )

  it.live("is made each time if the cache cannot be written", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      writeFileSync(join(folder, "file"), "")
      for (const path of [join(folder, "a"), join(folder, "b")]) {
        yield* copyOrMake(path, "empty-1", make(path, path), join(folder, "file"))
        assert.strictEqual(readFileSync(path, "utf8"), path)
      }
    })
  )

  it.live("is not kept if making it fails", () =>
    Effect.gen(function* () {
      const [folder, cache] = [newFolder(), newFolder()]
      yield* Effect.flip(copyOrMake(join(folder, "a"), "empty-1", Effect.fail("broken"), cache))
      assert.deepStrictEqual([existsSync(join(folder, "a")), readdirSync(cache)], [false, []])
    })
  )
})
