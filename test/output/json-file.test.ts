import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { readJson } from "../../src/output/files.ts"
import { newFolder } from "../support/sluice.ts"

const Job = Schema.Struct({ id: Schema.String, people: Schema.Array(Schema.String) })

describe("a JSON file of the output folder", () => {
  const read = (text: string) => {
    const path = join(newFolder(), "job.json")
    writeFileSync(path, text)
    return Effect.flip(readJson(path, Job))
  }

  it.effect("is undefined if there is none", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* readJson(join(newFolder(), "job.json"), Job), undefined)
    })
  )

  for (const [what, text] of [
    ["cut", '{"id": "1", "people": ["jane@example.com'],
    ["empty", ""],
    ["of another shape", '{"id": "1", "people": "jane@example.com"}'],
    ["without a member", '{"people": ["jane@example.com"]}']
  ] as const)
    it.effect(`that is ${what} is an error that names the file, and quotes nothing of it`, () =>
      Effect.gen(function* () {
        const { reason } = yield* read(text)
        assert.strictEqual(reason._tag, "FileFailed")
        assert.match(JSON.stringify(reason), /job\.json.*does not have the content that sluice writes/)
        assert.notInclude(JSON.stringify(reason), "jane")
      })
    )
})
