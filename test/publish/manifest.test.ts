/** Whether a release is taken as it is: only if its manifest has all that is written today, and no file was changed since. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readManifest, releasedTotals } from "../../src/output/manifest.ts"
import {
  confirmRelease,
  failedModels,
  isLater,
  previousRelease,
  releaseIn,
  writeManifest
} from "../../src/stages/publish/manifest.ts"
import { newFolder } from "../support/sluice.ts"

const paths = ["crm.duckdb", "csv/contacts.csv", "parquet/contacts.parquet"]
const begin = Date.parse("2026-03-01T02:00:00Z")

/** A release of three files, and the link to it. */
const released = Effect.fnUntraced(function* (owner?: string) {
  const base = newFolder()
  const folder = join(base, "release")
  for (const [n, path] of paths.entries()) {
    mkdirSync(join(folder, path, ".."), { recursive: true })
    writeFileSync(join(folder, path), "x".repeat(n + 1))
  }
  const files = paths.map((path, n) => ({
    path,
    table: "contacts",
    rows: 2,
    bytes: n + 1,
    sha256: "0".repeat(64),
    modifiedMs: statSync(join(folder, path)).mtimeMs
  }))
  const table = { table: "contacts", sum: "7", columns: { id: "VARCHAR" } }
  const content = {
    run: "r2",
    schemaVersion: "3",
    formats: ["csv", "duckdb", "parquet"],
    state: { definitions: "d", versions: { contacts: "v" }, fullBytes: 1 },
    tables: [
      { ...table, schema: "crm" as const, rows: 5 },
      { ...table, schema: "crm_history" as const, rows: 70 },
      { ...table, schema: "crm" as const, table: "notes", rows: 3 }
    ],
    files
  }
  yield* TestClock.setTime(begin)
  const problems = [
    { where: "fct_a", what: "no", level: "wrong" as const, kept: { run: "r1", at: "2026-01-01" } },
    { where: "fct_b", what: "none", level: "wrong" as const, kept: undefined }
  ]
  yield* writeManifest(folder, { ...content, problems, ...(owner !== undefined && { owner }) })
  const published = join(base, "published")
  symlinkSync(folder, published)
  return { folder, published, content, problems }
})

describe("the release before", () => {
  it.effect("has what was written, is found by its link, and says who made it and when it was last compared", () =>
    Effect.gen(function* () {
      const { content, folder, problems, published } = yield* released("me")
      const previous = (yield* previousRelease(published))!
      assert.strictEqual(previous.folder, folder)
      const { confirmedAt, owner, problems: found, tool, writtenAt, ...rest } = previous.manifest
      assert.deepStrictEqual(rest as object, content)
      assert.match(tool!, /^sluice \d/)
      assert.deepStrictEqual([owner, writtenAt, confirmedAt], ["me", ...Array(2).fill(new Date(begin).toISOString())])
      assert.deepStrictEqual(
        failedModels(previous.manifest).map(({ kept, what, where }) => ({ kept, what, where })),
        problems.map(({ kept, what, where }) => ({ kept, what, where }))
      )
      assert.lengthOf(found, 2)
      yield* TestClock.adjust("1 day")
      yield* confirmRelease(previous)
      const confirmed = (yield* previousRelease(published))!.manifest
      assert.deepStrictEqual(
        [confirmed.writtenAt, confirmed.confirmedAt],
        [writtenAt, new Date(begin + 86_400_000).toISOString()]
      )
      assert.deepStrictEqual<object>({ ...confirmed, confirmedAt }, previous.manifest)
      // Earlier versions of rows are no rows of a table.
      assert.deepStrictEqual(yield* Effect.promise(() => releasedTotals(published)), { tables: 2, rows: 8 })
      assert.strictEqual((yield* releaseIn((yield* released()).published))!.owner, undefined)
    })
  )

  it.effect("is none if a file was removed, became shorter or longer, or was modified", () =>
    Effect.gen(function* () {
      const changes: ReadonlyArray<readonly [string, (path: string) => void]> = [
        ["removed", (path) => rmSync(path)],
        ["of before", (path) => utimesSync(path, 1, 1)],
        ["of later", (path) => utimesSync(path, 1, statSync(path).mtimeMs / 1000 + 5)],
        [
          "longer, with the time that it had",
          (path) => {
            const { atimeMs, mtimeMs } = statSync(path)
            writeFileSync(path, "longer")
            utimesSync(path, atimeMs / 1000, mtimeMs / 1000)
          }
        ]
      ]
      for (const [what, change] of changes)
        for (const path of paths) {
          const { folder, published } = yield* released()
          assert.deepStrictEqual((yield* releaseIn(published))!.missing, [])
          change(join(folder, path))
          assert.isUndefined(yield* previousRelease(published), `${path} is ${what}`)
          assert.deepStrictEqual(yield* releaseIn(published), { owner: undefined, run: "r2", missing: [path] })
        }
    })
  )

  it.effect("is none of an earlier version, and none that cannot be read", () =>
    Effect.gen(function* () {
      const { folder, published } = yield* released()
      const path = join(folder, "manifest.json")
      const whole = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>
      const reads = (content: unknown) => {
        writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
        return Effect.map(previousRelease(published), (found) => found !== undefined)
      }
      for (const name of ["formats", "state", "tables", "schemaVersion"]) {
        const { [name]: _, ...rest } = whole
        assert.isFalse(yield* reads(rest), `without ${name}`)
      }
      for (const name of ["problems", "tool", "owner", "writtenAt", "confirmedAt"]) {
        const { [name]: _, ...rest } = whole
        assert.isTrue(yield* reads(rest), `without ${name}`)
      }
      assert.isFalse(yield* reads({ ...whole, csvProfile: "spreadsheet" }), "its texts were altered")
      assert.isTrue(yield* reads({ ...whole, csvProfile: "exact" }))
      assert.isFalse(yield* reads("{"))
      assert.isFalse(yield* reads({ ...whole, files: [{ ...(whole["files"] as Array<object>)[0], path: "../x" }] }))
      assert.match(String(yield* Effect.flip(Effect.tryPromise(() => readManifest(folder)))), /./)
      rmSync(path)
      assert.isUndefined(yield* releaseIn(published))
      assert.isUndefined(yield* Effect.promise(() => releasedTotals(published)))
    })
  )

  it("of a later run is left as it is, and of the same or an earlier one is replaced", () =>
    assert.deepStrictEqual(
      ["r3", "r2", "r1", undefined, 7].map((there) => isLater(there, "r2")),
      [true, false, false, false, false]
    ))
})
