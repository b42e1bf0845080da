/** Responses that are files, and responses that stall. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { join } from "node:path"
import { removePartialDownloads } from "../../src/stages/api/downloads.ts"
import { sendTo } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const audio = { "content-type": "audio/mpeg" }

describe("a response that sends no byte for a long time", () => {
  it.effect("is cancelled, and a file is requested three times", () =>
    Effect.gen(function* () {
      for (const stall of ["before its headers", "after its first byte"]) {
        let sent = 0
        const result = yield* sendTo(
          (_, response) => {
            sent++
            if (stall === "after its first byte") response.writeHead(200, audio).write("x")
          },
          { idleMs: 30 },
          { file: { folder: newFolder(), name: "f" } }
        )
        assert.match(JSON.stringify(result), /"Unavailable".*UND_ERR_(HEADERS|BODY)_TIMEOUT/, stall)
        assert.strictEqual(sent, 3, stall)
      }
    })
  )

  it.effect("is not cancelled while bytes arrive", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const result = yield* sendTo(
        async (_, response) => {
          response.writeHead(200, audio)
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
  /** Sends bytes until the connection is closed. */
  const endless: RequestListener = async (_, response) => {
    response.writeHead(200, audio)
    while (!response.destroyed) {
      response.write(megabyte)
      await wait(1)
    }
  }
  const announced: RequestListener = (_, response) => {
    response.writeHead(200, { ...audio, "content-length": 10 << 20 }).write("x")
  }

  it.effect("that is too large is rejected after one request, by its announced or its received size", () =>
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

  it.effect("that cannot be written fails, and is not requested again", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      writeFileSync(join(folder, "file"), "")
      let sent = 0
      const result = yield* sendTo(
        (_, response) => {
          sent++
          response.writeHead(200, audio).end("x")
        },
        {},
        { file: { folder, name: join("file", "below") } }
      )
      assert.match(JSON.stringify(result), /"Failure".*ENOTDIR|"Failure".*EEXIST/)
      assert.strictEqual(sent, 1)
    })
  )

  it.effect("that is interrupted leaves no file", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const result = yield* sendTo(
        (_, response) => {
          response.writeHead(200, { ...audio, "content-length": 100 }).write("x", () => response.destroy())
        },
        {},
        { file: { folder, name: "f" } }
      )
      assert.include(JSON.stringify(result), "Unavailable")
      assert.deepStrictEqual(readdirSync(folder), [])
    })
  )

  it.effect("that a crash left incomplete is removed from a folder below, and no other", () =>
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
