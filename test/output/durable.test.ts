/** What is on the disk when a file counts as written: the new content whole, or the old one, whenever the power is cut. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { appendTo, copyDurably, takeRoom, writeDurably } from "../../src/output/files.ts"
import { keepingDiary } from "../support/disk-diary.ts"
import { newFolder } from "../support/sluice.ts"

const durable = ["write f.part", "sync f.part", "rename f.part to f", "sync folder"]

describe("a file that is written durably", () => {
  it("is synced before it gets its name, and its name is before the call ends", async () => {
    const path = join(newFolder(), "f")
    await keepingDiary(async (diary) => {
      await writeDurably(path, "content")
      assert.deepStrictEqual(diary, durable)
    })
  })

  it("has its old content or its new one if the power is cut at any moment", async () => {
    for (const moment of durable) {
      const path = join(newFolder(), "f")
      writeFileSync(path, "old")
      const cut = keepingDiary(
        () => writeDurably(path, "new"),
        (call) => {
          if (call === moment) throw new Error("power cut")
        }
      )
      assert.match(String(await cut.catch(String)), /power cut/, moment)
      assert.strictEqual(readFileSync(path, "utf8"), moment === "sync folder" ? "new" : "old", moment)
    }
  })

  it("into room that was taken before needs no more, and is synced in the same order", async () => {
    const folder = newFolder()
    const path = join(folder, "f")
    await keepingDiary(async (diary) => {
      const room = await takeRoom(path, 100)
      assert.deepStrictEqual(diary, ["write f.part", "sync f.part", "sync folder"])
      await room.write("é")
      assert.deepStrictEqual(diary.slice(3), [
        "write f.part",
        "cut f.part",
        "sync f.part",
        "rename f.part to f",
        "sync folder"
      ])
    })
    assert.strictEqual(readFileSync(path, "utf8"), "é")
    const other = await takeRoom(join(folder, "g"), 100)
    await other.release()
    assert.deepStrictEqual(readdirSync(folder), ["f"])
  })

  it("for which there is no room leaves none of it", async () => {
    for (const moment of ["write f.part", "sync f.part", "sync folder"]) {
      const folder = newFolder()
      const full = keepingDiary(
        () => takeRoom(join(folder, "f"), 100),
        (call) => {
          if (call === moment) throw new Error("no space left")
        }
      )
      assert.match(String(await full.catch(String)), /no space left/, moment)
      assert.deepStrictEqual(readdirSync(folder), [], moment)
    }
  })

  it("as a copy is synced, and replaces nothing", async () => {
    const folder = newFolder()
    writeFileSync(join(folder, "a"), "content")
    await keepingDiary(async (diary) => {
      const { bytes } = await copyDurably(join(folder, "a"), join(folder, "b"))
      assert.strictEqual(bytes, 7)
      assert.deepStrictEqual(
        diary.filter((call) => call.endsWith(" b")),
        ["write b", "sync b"]
      )
    })
    assert.match(String(await copyDurably(join(folder, "a"), join(folder, "b")).catch(String)), /EEXIST/)
  })
})

it("a part is moved to the end of a file, and is gone then", async () => {
  const folder = newFolder()
  writeFileSync(join(folder, "file"), "one\n")
  writeFileSync(join(folder, "part"), "two\n")
  await appendTo(join(folder, "file"), join(folder, "part"))
  assert.strictEqual(readFileSync(join(folder, "file"), "utf8"), "one\ntwo\n")
  assert.isFalse(existsSync(join(folder, "part")))
})
