/** Answers that are files, and answers that do not come to their end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { setTimeout as wait } from "node:timers/promises"
import { join } from "node:path"
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
