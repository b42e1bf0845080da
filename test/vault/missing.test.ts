import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { missingSegments } from "../../src/stores/vault/segments.ts"
import { newFolder } from "../support/sluice.ts"

it.live("lists the numbers of missing segments", () =>
  Effect.gen(function* () {
    const folder = newFolder()
    assert.deepStrictEqual(yield* missingSegments(folder), [])
    for (const file of ["000002.ndjson.zst", "000003.ndjson.zst", "000006.ndjson", "000006.ndjson.torn-3"])
      writeFileSync(join(folder, file), "")
    assert.deepStrictEqual(yield* missingSegments(folder), [1, 4, 5])
  })
)
