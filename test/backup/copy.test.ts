/** A backup is the files as they were, and says of each whether it still is; one that fails leaves nothing that looks like one. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Manifest, copyInto, problemsOf } from "../../src/features/backup/copy.ts"
import { outputPaths } from "../../src/output/paths.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const paths = ["warehouse.duckdb", "vault/000001.ndjson", "vault/000002.ndjson.zst", "files/ab/cd.txt", "ledger.jsonl"]
const about: Omit<Manifest, "files"> = { tool: "sluice 1", at: "2026-01-01T00:00:00Z", leftOut: [] }
const written = (folder: string, path: string, content: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
const filled = () => {
  const folder = newFolder()
  // Of equal sizes, so that only the content tells them apart.
  for (const [n, path] of paths.entries()) written(folder, path, `content ${n}`)
  return folder
}
const backedUp = (source: string, given = paths) => {
  const target = newFolder()
  return Effect.map(Effect.exit(copyInto(target, source, given, about)), (exit) => ({ exit, target }))
}
const namesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((one) => (one.isFile() ? [one.name] : []))

describe("a backup", () => {
  it.effect("has each file as it was, and finds nothing wrong with itself", () =>
    Effect.gen(function* () {
      const source = filled()
      const { exit, target } = yield* backedUp(source)
      const manifest = Exit.isSuccess(exit) ? exit.value : assert.fail()
      for (const path of paths)
        assert.deepStrictEqual(readFileSync(join(target, path)), readFileSync(join(source, path)))
      assert.deepStrictEqual(JSON.parse(readFileSync(outputPaths(target).backup, "utf8")), { ...manifest })
      assert.isFalse(existsSync(outputPaths(target).backupIncomplete))
      assert.deepStrictEqual(yield* problemsOf(target, manifest), [])
    })
  )

  it.effect("names each file that is not what it was, and no other one", () =>
    Effect.gen(function* () {
      const draw = randomFrom(3)
      const ways: Readonly<Record<string, (file: string) => void>> = {
        "its content is not what it was": (file) =>
          writeFileSync(file, readFileSync(file, "utf8").replace("content", "CONTENT")),
        "it has 10 bytes, and had 9": (file) => appendFileSync(file, "x"),
        "it has 8 bytes, and had 9": (file) => writeFileSync(file, readFileSync(file).subarray(0, 8)),
        "it is missing": (file) => rmSync(file)
      }
      for (let round = 0; round < 12; round++) {
        const { exit, target } = yield* backedUp(filled())
        const manifest = Exit.isSuccess(exit) ? exit.value : assert.fail()
        const expected = new Map<string, string>()
        for (const path of paths)
          if (draw() < 0.4) {
            const [problem, change] = Object.entries(ways)[Math.floor(draw() * 4)]!
            change(join(target, path))
            expected.set(path, problem)
          }
        if (draw() < 0.5) {
          written(target, "vault/000003.ndjson", "added")
          expected.set("vault/000003.ndjson", "it was added")
        }
        const found = (yield* problemsOf(target, manifest)).map((one) => [one.path, one.problem] as const)
        assert.deepStrictEqual(new Map(found), expected)
      }
    })
  )

  it.effect("that fails at any file leaves none of its files, and those of others", () =>
    Effect.gen(function* () {
      for (const missing of paths) {
        const source = filled()
        rmSync(join(source, missing))
        const target = newFolder()
        writeFileSync(join(target, "mine.txt"), "of somebody else")
        const exit = yield* Effect.exit(copyInto(target, source, paths, about))
        assert.isTrue(Exit.isFailure(exit))
        assert.deepStrictEqual(namesBelow(target), ["mine.txt"], missing)
      }
    })
  )
})
