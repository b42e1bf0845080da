/** Answers that are files, and answers that do not come to their end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { join } from "node:path"
import { removePartialDownloads } from "../../src/api/downloads.ts"
import { sendTo } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const sound = { "content-type": "audio/mpeg" }

describe("an answer that sends no byte for long", () => {
  it.effect("is given up and tried again, a few times only where it is a file", () =>
    Effect.gen(function* () {
      for (const silence of ["before its headers", "behind its first byte"]) {
        let sent = 0
        const result = yield* sendTo(
          (_, response) => {
            sent++
            if (silence === "behind its first byte") response.writeHead(200, sound).write("x")
          },
          { idleMs: 30 },
          { file: { folder: newFolder(), name: "f" } }
        )
        assert.match(JSON.stringify(result), /"Unavailable".*UND_ERR_(HEADERS|BODY)_TIMEOUT/, silence)
        assert.strictEqual(sent, 3, silence)
      }
    })
  )

  it.effect("is waited for while bytes come", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const result = yield* sendTo(
        async (_, response) => {
          response.writeHead(200, sound)
          for (let n = 0; n < 10; n++) {
            response.write("x")
            await wait(40)
          }
          response.end()
        },
        { idleMs: 200 },
        { file: { folder, name: "f" } }
      )
      assert.strictEqual(result._tag, "Success")
      assert.strictEqual(readFileSync(join(folder, "f.mp3"), "utf8"), "x".repeat(10))
    })
  )
})

describe("a file", () => {
  const megabyte = Buffer.alloc(1 << 20)
  /** Sends it for as long as somebody listens. */
  const endless: RequestListener = async (_, response) => {
    response.writeHead(200, sound)
    while (!response.destroyed) {
      response.write(megabyte)
      await wait(1)
    }
  }
  const announced: RequestListener = (_, response) => {
    response.writeHead(200, { ...sound, "content-length": 10 << 20 }).write("x")
  }

  it.effect("that is larger than we keep is refused at once, by its announced size or by what came", () =>
    Effect.gen(function* () {
      for (const answer of [endless, announced]) {
        const folder = newFolder()
        let sent = 0
        const result = yield* sendTo(
          (request, response) => {
            sent++
            answer(request, response)
          },
          { fileMbMax: 3 },
          { file: { folder, name: "f" } }
        )
        assert.match(JSON.stringify(result), /"RequestRejected".*larger than output.file_mb_max, 3 MB/)
        assert.strictEqual(sent, 1)
        assert.deepStrictEqual(readdirSync(folder), [])
      }
    })
  )

  it.effect("that the disk does not take ends the run, and is not asked for again", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      writeFileSync(join(folder, "file"), "")
      let sent = 0
      const result = yield* sendTo(
        (_, response) => {
          sent++
          response.writeHead(200, sound).end("x")
        },
        {},
        { file: { folder, name: join("file", "below") } }
      )
      assert.match(JSON.stringify(result), /"Failure".*ENOTDIR|"Failure".*EEXIST/)
      assert.strictEqual(sent, 1)
    })
  )

  it.effect("that breaks off leaves nothing", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const result = yield* sendTo(
        (_, response) => {
          response.writeHead(200, { ...sound, "content-length": 100 }).write("x", () => response.destroy())
        },
        {},
        { file: { folder, name: "f" } }
      )
      assert.include(JSON.stringify(result), "Unavailable")
      assert.deepStrictEqual(readdirSync(folder), [])
    })
  )

  it.effect("left unfinished by a crash is removed, at any depth, and no other", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      mkdirSync(join(folder, "recordings"))
      for (const name of ["a.mp3.part", "a.mp3"]) writeFileSync(join(folder, "recordings", name), "")
      yield* removePartialDownloads(folder)
      assert.deepStrictEqual(readdirSync(join(folder, "recordings")), ["a.mp3"])
      yield* removePartialDownloads(join(folder, "none"))
      assert.isFalse(existsSync(join(folder, "none")))
    })
  )
})
