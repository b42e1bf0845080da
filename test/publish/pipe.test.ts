import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Writable } from "node:stream"
import { loadFormat } from "../../src/stores/formats/formats.ts"
import { writeToPipe } from "../../src/stores/formats/pipe.ts"
import { newOutput } from "./output.ts"
import { addManyThings, addThings, nastyTexts, publishThings, thingRows, warehouseAt } from "./things.ts"

describe("one table to a pipe", () => {
  it.effect("receives the same bytes as the published file", () => {
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
      yield* writeToPipe(yield* thingRows, yield* loadFormat("csv"), out)
      assert.isTrue(Buffer.concat(pieces).equals(readFileSync(join(output, "published/csv/things.csv"))))
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})
