import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import { writeCsv } from "../../src/publish/csv.ts"
import { newOutput } from "./output.ts"
import { addManyThings, addThings, nastyTexts, publishThings, things, warehouseAt } from "./things.ts"

const pipe = fileURLToPath(new URL("programs/pipe.ts", import.meta.url))

describe("one table to a pipe", () => {
  it.effect("gets the bytes of the published file, in its order", () => {
    const output = newOutput()
    const pieces: Array<Buffer> = []
    const out = new Writable({
      highWaterMark: 1,
      write: (piece: Buffer, _, done) => {
        pieces.push(piece)
        setImmediate(done)
      }
    })
    return Effect.gen(function* () {
      yield* addThings(nastyTexts.map((note, index) => ({ id: `n${index}`, name: "nasty", note })))
      yield* addManyThings(40_000)
      yield* publishThings(output)
      yield* writeCsv(things, "machine", out)
      assert.isTrue(Buffer.concat(pieces).equals(readFileSync(join(output, "published/csv/things.csv"))))
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("a reader that has seen enough ends it quietly", () => {
    const output = newOutput()
    return addManyThings(40_000).pipe(
      Effect.provide(warehouseAt(output)),
      Effect.andThen(
        Effect.sync(() => {
          const script = '{ "$0" "$@"; echo "ended $?" >&2; } | head -n 2'
          const ran = spawnSync("sh", ["-c", script, process.execPath, pipe, output], { encoding: "utf8" })
          assert.match(ran.stdout, /^location_id,id,name.*\r\nhere,id0,generation 0.*\r\n$/)
          assert.strictEqual(ran.stderr, "ended 0\n")
        })
      )
    )
  })
})
