/** What readers find if the power is cut while a release is shown: the whole old one or the whole new one, and no third. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, statSync, writeFileSync } from "node:fs"
import { createHash } from "node:crypto"
import { join } from "node:path"
import {
  abandonRelease,
  beginRelease,
  commitRelease,
  durableFile,
  removeEarlierReleases
} from "../../src/stages/publish/release.ts"
import { keepingDiary } from "../support/disk-diary.ts"
import { newFolder } from "../support/sluice.ts"

const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)
/** Makes a release with one file in a folder of its own. */
const making = async (published: string, content: string) => {
  const release = await run(beginRelease(published, "r"))
  mkdirSync(join(release.building, "csv"))
  writeFileSync(join(release.building, "csv/a.csv"), content)
  return { release, file: await run(durableFile(release.building, { path: "csv/a.csv", table: "a", rows: 1 })) }
}
const released = async (published: string, content: string) => {
  const { release } = await making(published, content)
  await run(commitRelease(release))
}
const read = (published: string) => readFileSync(join(published, "csv/a.csv"), "utf8")
const releases = (folder: string) => readdirSync(join(folder, ".published")).sort()

describe("a release", () => {
  it("is flushed file by file and folder by folder before it gets its name, and its name before the link", async () => {
    const folder = newFolder()
    const published = join(folder, "published")
    await keepingDiary(async (diary) => {
      const { release } = await making(published, "one")
      assert.include(diary, "sync stream")
      const before = diary.length
      await run(commitRelease(release))
      const names = [
        "sync folder",
        "sync folder",
        "rename 000001-r.building to 000001-r",
        "sync folder",
        "rename link to published",
        "sync folder"
      ]
      assert.deepStrictEqual(diary.slice(before, before + names.length), names)
    })
    assert.strictEqual(read(published), "one")
    assert.strictEqual(readlinkSync(published), ".published/000001-r")
  })

  it("is the old one or the new one at any moment", async () => {
    for (const moment of ["sync folder", "rename 000002-r.building", "rename link"]) {
      const folder = newFolder()
      const published = join(folder, "published")
      await released(published, "old")
      const { release } = await making(published, "new")
      const cut = keepingDiary(
        () => run(commitRelease(release)),
        (call) => {
          if (call.startsWith(moment)) throw new Error("power cut")
        }
      )
      assert.match(JSON.stringify(await cut.catch(String)), /power cut/, moment)
      assert.strictEqual(read(published), "old", moment)
      // The next one clears what was left.
      await released(published, "newest")
      assert.strictEqual(read(published), "newest")
      assert.isFalse(
        releases(folder).some((name) => name.endsWith(".building") || name === "link"),
        moment
      )
    }
  })

  it("is the checksum and size of what was written, and only its owner opens it", async () => {
    const content = "x".repeat(300_000)
    const { file, release } = await making(join(newFolder(), "published"), content)
    assert.deepInclude(file, { bytes: 300_000, sha256: createHash("sha256").update(content).digest("hex"), rows: 1 })
    const { mode, mtimeMs } = statSync(join(release.building, "csv/a.csv"))
    assert.deepStrictEqual([mode & 0o777, mtimeMs], [0o600, file.modifiedMs])
  })
})

describe("the releases before", () => {
  it("are kept for one who reads: the last one, and files that are not ours", async () => {
    const folder = newFolder()
    const published = join(folder, "published")
    for (const content of ["1", "2", "3"]) await released(published, content)
    writeFileSync(join(folder, ".published/notes.txt"), "mine")
    await released(published, "4")
    assert.deepStrictEqual(releases(folder), ["000003-r", "000004-r", "notes.txt"])
    assert.strictEqual(read(published), "4")
  })

  it("are removed all but the current one where somebody was erased", async () => {
    const folder = newFolder()
    const published = join(folder, "published")
    for (const content of ["1", "2"]) await released(published, content)
    writeFileSync(join(folder, ".published/notes.txt"), "mine")
    assert.deepStrictEqual(await run(removeEarlierReleases(published)), ["000001-r"])
    assert.deepStrictEqual(releases(folder), ["000002-r", "notes.txt"])
    assert.strictEqual(read(published), "2")
    assert.deepStrictEqual(await run(removeEarlierReleases(join(newFolder(), "published"))), [])
  })

  it("stay if one is abandoned, which leaves nothing", async () => {
    const folder = newFolder()
    const published = join(folder, "published")
    await released(published, "1")
    const { release } = await making(published, "2")
    await run(abandonRelease(release))
    assert.deepStrictEqual(
      [releases(folder), read(published), existsSync(release.building)],
      [["000001-r"], "1", false]
    )
  })
})
