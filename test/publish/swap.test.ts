import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { newOutput } from "./output.ts"
import { addManyThings, addThings, publishThings, warehouseAt } from "./things.ts"
import { verified } from "./verify.ts"

describe("releases", () => {
  it.effect("the check of these tests notices one changed byte", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addManyThings(3)
      yield* publishThings(output)
      writeFileSync(join(output, "published/csv/things.csv"), "X", { flag: "r+" })
      assert.throws(() => verified(join(output, "published")), /things.csv is not what the manifest says/)
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  for (const [what, make] of [
    ["a folder", (path: string) => mkdirSync(path)],
    ["a link to elsewhere", (path: string) => symlinkSync("/tmp", path)]
  ] as const)
    it.effect(`${what} that sluice did not create is not replaced`, () => {
      const output = newOutput()
      make(join(output, "published"))
      return Effect.gen(function* () {
        yield* addThings([{ id: "a", name: "one" }])
        const failure = yield* Effect.flip(publishThings(output))
        assert.strictEqual(failure.reason._tag, "PublishedIsForeign")
        assert.notInclude(readdirSync(output), ".published")
      }).pipe(Effect.provide(warehouseAt(output)))
    })

  it.effect("the id of a run cannot refer to another folder", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([])
      yield* publishThings(output, { run: "../../etc/passwd" })
      assert.strictEqual(readlinkSync(join(output, "published")), ".published/000001-______etc_passwd")
      assert.strictEqual(
        JSON.parse(readFileSync(join(output, "published/manifest.json"), "utf8")).run,
        "../../etc/passwd"
      )
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})
