/** From which release the next one may take files: one that is whole, and that nobody has changed since. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { versionOf } from "../../src/stages/publish/changes.ts"
import {
  type PreviousRelease,
  confirmRelease,
  failedModels,
  isLater,
  laterRun,
  previousRelease,
  snapshotSum,
  writeManifest
} from "../../src/stages/publish/manifest.ts"
import { earlierFiles } from "../../src/stages/publish/put.ts"
import { newFolder } from "../support/sluice.ts"

const released = Effect.gen(function* () {
  const output = newFolder()
  const folder = join(output, "1")
  mkdirSync(join(folder, "csv"), { recursive: true })
  const files = ["csv/a.csv", "csv/b.csv"].map((path) => {
    writeFileSync(join(folder, path), "id\n1\n")
    const { mtimeMs, size } = statSync(join(folder, path))
    return { path, table: "a", rows: 1, bytes: size, modifiedMs: mtimeMs, sha256: "00" }
  })
  const state = { definitions: "d", versions: {}, models: {}, fullBytes: 0 }
  yield* writeManifest(folder, {
    run: "r",
    schemaVersion: "1",
    formats: ["csv"],
    state,
    tables: [],
    files,
    problems: []
  })
  symlinkSync("1", join(output, "published"))
  return { folder, published: join(output, "published"), manifest: join(folder, "manifest.json") }
})
const without = (path: string, member: string) => {
  const { [member]: _, ...rest } = JSON.parse(readFileSync(path, "utf8"))
  writeFileSync(path, JSON.stringify(rest))
}

it.effect.each([
  ["nothing is changed", () => {}, true],
  ["a file is longer", (folder: string) => appendFileSync(join(folder, "csv/b.csv"), "2\n"), false],
  [
    "a file has another content of the same length",
    (folder: string) => writeFileSync(join(folder, "csv/b.csv"), "id\n2\n"),
    false
  ],
  ["a file has another time", (folder: string) => utimesSync(join(folder, "csv/a.csv"), 1, 1), false],
  ["a file is missing", (folder: string) => rmSync(join(folder, "csv/a.csv")), false],
  ["another file is there", (folder: string) => writeFileSync(join(folder, "csv/c.csv"), ""), true],
  [
    "an earlier version altered the texts of its CSV files",
    (folder: string) => {
      const path = join(folder, "manifest.json")
      writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), csvProfile: "spreadsheet" }))
    },
    false
  ],
  ["the manifest is missing", (folder: string) => rmSync(join(folder, "manifest.json")), false],
  ["the manifest is not whole", (folder: string) => writeFileSync(join(folder, "manifest.json"), "{"), false],
  ...["formats", "state", "tables"].map(
    (member) =>
      [
        `the manifest has no ${member}`,
        (folder: string) => without(join(folder, "manifest.json"), member),
        false
      ] as const
  )
] as ReadonlyArray<readonly [string, (folder: string) => void, boolean]>)(
  "a release is taken from the one before if %s",
  ([, change, expected]) =>
    Effect.gen(function* () {
      const { folder, published } = yield* released
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      change(folder)
      const found = yield* previousRelease(published)
      assert.strictEqual(found !== undefined, expected)
      if (found) assert.deepInclude(found.manifest, { run: "r", formats: ["csv"], problems: [] })
    })
)

it.effect("a release is taken from none if there is none", () =>
  Effect.gen(function* () {
    assert.isUndefined(yield* previousRelease(join(newFolder(), "published")))
  })
)

describe("the earlier file of a table", () => {
  const file = (path: string, table: string) => ({ path, table, rows: 1, bytes: 1, modifiedMs: 1, sha256: path })
  const files = [
    file("csv/a.csv", "a"),
    file("parquet/a/part-0.parquet", "a"),
    file("csv/b.csv", "b"),
    file("crm.duckdb", "*")
  ]
  const kept = { run: "r", at: "2026-01-01" }
  const previous = {
    folder: "f",
    manifest: { files, problems: [{ model: "m", problem: "p", kept }] }
  } as unknown as PreviousRelease
  const pathOf = (format: string, table: string) => earlierFiles(previous)(format, table)?.file.path

  it("is that of its format", () => {
    assert.strictEqual(pathOf("csv", "a"), "csv/a.csv")
    assert.strictEqual(pathOf("parquet", "a"), "parquet/a/part-0.parquet")
    assert.isUndefined(pathOf("ndjson", "a"))
    assert.isUndefined(pathOf("csv", "c"))
  })

  it("is none without a release", () => {
    assert.isUndefined(earlierFiles(undefined)("csv", "a"))
  })

  it("and the models that were not built are those of its manifest", () => {
    assert.strictEqual(snapshotSum(previous.manifest), "crm.duckdb")
    assert.deepStrictEqual(
      failedModels(previous.manifest).map(({ kept, level, what, where }) => [level, where, what, kept]),
      [["wrong", "m", "p", kept]]
    )
  })
})

it("a table has another version if its content or the definition of its view is another", () => {
  const wide = (definition: string) => ({ definition }) as never
  const versions = [
    versionOf("a"),
    versionOf("b"),
    versionOf(undefined),
    versionOf("a", wide("x")),
    versionOf("a", wide("y"))
  ]
  assert.strictEqual(new Set(versions).size, versions.length)
  assert.strictEqual(versionOf("a"), versionOf("a"))
  for (const version of versions) assert.match(version, /^[0-9a-f]{32}$/)
})

it("a place with the rows of a later run is left as it is, and says so; one with those of this run or an earlier one is not", () => {
  const [before, run, after] = ["20260101T000000000Z", "20260102T000000000Z", "20260103T000000000Z"]
  assert.deepStrictEqual(
    [before, run, after, undefined, null, 5].map((there) => isLater(there, run)),
    [false, false, true, false, false, false]
  )
  assert.include(laterRun(after), after)
})

it.effect("a release that is confirmed keeps all that its manifest says, and the time of its writing", () =>
  Effect.gen(function* () {
    const { manifest, published } = yield* released
    const before = JSON.parse(readFileSync(manifest, "utf8"))
    assert.strictEqual(before.writtenAt, before.confirmedAt)
    yield* TestClock.adjust("1 hour")
    yield* confirmRelease((yield* previousRelease(published))!)
    const { confirmedAt, ...rest } = JSON.parse(readFileSync(manifest, "utf8"))
    const { confirmedAt: earlier, ...same } = before
    assert.deepStrictEqual(rest, same)
    assert.strictEqual(Date.parse(confirmedAt) - Date.parse(earlier), 3_600_000)
  })
)
