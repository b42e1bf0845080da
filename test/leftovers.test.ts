import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { removeLeftovers } from "../src/output/leftovers.ts"
import { newFolder } from "./support/sluice.ts"

it.live("removes the temporary files of a killed run and no other file", () =>
  Effect.gen(function* () {
    const output = newFolder()
    const make = (path: string) => {
      mkdirSync(dirname(join(output, path)), { recursive: true })
      writeFileSync(join(output, path), "")
    }
    const kept = [
      ".published/000007-run/manifest.json",
      "files/recordings/a.mp3",
      "my-verify-notes/a.txt",
      "rebuilt.duckdb.bak",
      "tokens.json",
      "vault/000001.ndjson",
      "vault/000001.ndjson.torn-77",
      "vault/000002.ndjson.zst",
      "verify-notes.txt",
      "warehouse.damaged.duckdb",
      "warehouse.duckdb",
      "warehouse.duckdb.wal"
    ]
    const leftovers = [
      ".published/000008-run.building/csv/contacts.csv",
      "rebuilt.duckdb",
      "rebuilt.duckdb.tmp/a.tmp",
      "rebuilt.duckdb.wal",
      "tmp/0/0-rows.ndjson",
      "vault/000003.ndjson.zst.part",
      "verify-4711/replayed.duckdb"
    ]
    for (const path of [...kept, ...leftovers]) make(path)
    yield* removeLeftovers(output)
    const files = readdirSync(output, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    assert.deepStrictEqual(
      files.map((entry) => join(entry.parentPath, entry.name).slice(output.length + 1)).sort(),
      kept
    )
    assert.deepStrictEqual(readdirSync(join(output, ".published")), ["000007-run"])
    yield* removeLeftovers(join(output, "nowhere"))
  })
)
