/** Responses that are files, and responses that stall. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { join } from "node:path"
import { removeLeftovers } from "../../src/output/leftovers.ts"
import { sendTo } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const audio = { "content-type": "audio/mpeg" }
/** A byte of a recording. */
const sound = "\0"

describe("a response that sends no byte for a long time", () => {
  it.effect(
    "is cancelled, and a file is requested three times",
    () =>
      Effect.gen(function* () {
        for (const stall of ["before its headers", "after its first byte"]) {
          let sent = 0
          const result = yield* sendTo(
            (_, response) => {
              sent++
              if (stall === "after its first byte") response.writeHead(200, audio).write(sound)
            },
            { idleMs: 30 },
            { file: newFolder() }
          )
          assert.match(JSON.stringify(result), /"Unavailable".*UND_ERR_(HEADERS|BODY)_TIMEOUT/, stall)
          assert.strictEqual(sent, 3, stall)
        }
      }),
    { tags: ["slow"] }
  )

  it.effect("is not cancelled while bytes arrive", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const result = yield* sendTo(
        async (_, response) => {
          response.writeHead(200, audio)
          for (let n = 0; n < 10; n++) {
            response.write(sound)
            await wait(40)
          }
          response.end()
        },
        { idleMs: 200 },
        { file: folder }
      )
      assert.strictEqual(result._tag, "Success")
      assert.deepStrictEqual(
        filesBelow(folder).map((file) => readFileSync(file, "utf8")),
        [sound.repeat(10)]
      )
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
    response.writeHead(200, { ...audio, "content-length": 10 << 20 }).write(sound)
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
          { fileBytesMax: 3 << 20 },
          { file: folder }
        )
        assert.match(JSON.stringify(result), /"RequestRejected".*larger than files.max_bytes, 3145728/)
        assert.strictEqual(sent, 1)
        assert.deepStrictEqual(filesBelow(folder), [])
      }
    })
  )

  it.effect("that cannot be written fails, and is not requested again", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      writeFileSync(join(folder, "files"), "")
      let sent = 0
      const result = yield* sendTo(
        (_, response) => {
          sent++
          response.writeHead(200, audio).end(sound)
        },
        {},
        { file: folder }
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
          response.writeHead(200, { ...audio, "content-length": 100 }).write(sound, () => response.destroy())
        },
        {},
        { file: folder }
      )
      assert.include(JSON.stringify(result), "Unavailable")
      assert.deepStrictEqual(filesBelow(folder), [])
    })
  )

  it.effect("that a crash left incomplete is removed, and no other", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      mkdirSync(join(folder, "files", "ab"), { recursive: true })
      for (const name of ["1-1.part", "ab/cd.part.mp3"]) writeFileSync(join(folder, "files", name), "")
      yield* removeLeftovers(folder)
      assert.deepStrictEqual(filesBelow(folder), [join(folder, "files", "ab", "cd.part.mp3")])
      const none = newFolder()
      yield* removeLeftovers(none)
      assert.deepStrictEqual(readdirSync(none), [])
    })
  )
})

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "files")
    .map((entry) => join(entry.parentPath, entry.name))
