/** Publishing with readers in other processes, with kills, with failed writes, and to a pipe. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newOutput } from "../publish/output.ts"
import { addManyThings, publishThings, recordThings, warehouseAt } from "../publish/things.ts"
import { verified } from "../publish/verify.ts"

const program = (file: string) => fileURLToPath(new URL(`../publish/programs/${file}`, import.meta.url))
const versionsIn = (output: string) => readdirSync(join(output, ".published")).sort()

describe("releases", () => {
  it.effect("a reader in a loop during 20 publishes never finds a missing or partial file", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addManyThings(500)
      yield* publishThings(output, { run: "run-0" })
      const reader = spawn(process.execPath, [program("read.ts"), join(output, "published")])
      let seen = ""
      reader.stdout.on("data", (piece) => (seen += piece))
      yield* Effect.promise(() => new Promise((resolve) => reader.stderr.once("data", resolve)))
      for (let generation = 1; generation <= 20; generation++) {
        yield* (yield* Warehouse).run(`UPDATE crm.things SET name = 'generation ${generation}'`)
        yield* recordThings
        yield* publishThings(output, { run: `run-${generation}` })
      }
      reader.stdin.end()
      yield* Effect.promise(() => new Promise((resolve) => reader.once("close", resolve)))
      const { wrong, readings, versions } = JSON.parse(seen)
      assert.deepStrictEqual(wrong, [])
      assert.isAbove(versions, 1, `in ${readings} readings`)
      assert.deepStrictEqual(versionsIn(output), ["000020-run-19", "000021-run-20"])
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.live("a kill during a publish leaves a complete release, and the next publish removes the partial one", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addManyThings(30_000).pipe(Effect.provide(warehouseAt(output)))
      yield* publishThings(output, { run: "before" }).pipe(Effect.provide(warehouseAt(output)))
      let interrupted = 0
      for (const delay of [10, 70, 140, 250]) {
        const child = spawn(process.execPath, [program("publish.ts"), output], { stdio: ["ignore", "pipe", "inherit"] })
        const closed = new Promise((resolve) => child.once("close", resolve))
        yield* Effect.promise(async () => {
          await new Promise((resolve) => child.stdout.once("data", resolve))
          await setTimeout(delay)
          child.kill("SIGKILL")
          await closed
        })
        verified(join(output, "published"))
        if (versionsIn(output).some((entry) => entry.endsWith(".building"))) interrupted++
      }
      assert.isAbove(interrupted, 0, "no kill interrupted a publish")
      yield* publishThings(output, { run: "after", full: true }).pipe(Effect.provide(warehouseAt(output)))
      assert.strictEqual(verified(join(output, "published")).run, "after")
      assert.match(versionsIn(output).join(" "), /^\d{6}-(run-1|before) \d{6}-after$/)
    })
  })

  it.live("a failed write is a reason in one line that names the release that stays", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addManyThings(30_000).pipe(
        Effect.andThen(publishThings(output, { run: "before" })),
        Effect.provide(warehouseAt(output))
      )
      // The limit of the file size has the effect of a full disk, without root.
      const script = `trap '' XFSZ; ulimit -f 1024; exec "$0" "$@"`
      const ran = spawnSync("bash", ["-c", script, process.execPath, program("publish.ts"), output, "once"], {
        encoding: "utf8"
      })
      assert.strictEqual(ran.status, 1, ran.stderr)
      const { reason, unpublished } = JSON.parse(ran.stdout.replace("begun\n", ""))
      assert.strictEqual(unpublished, join(output, "published"))
      assert.deepInclude(reason, { _tag: "FileFailed", operation: "written" })
      assert.match(reason.detail, /^[^\n]+$/)
      assert.strictEqual(verified(join(output, "published")).run, "before")
      assert.deepStrictEqual(versionsIn(output), ["000001-before"])
    })
  })
})

describe("one table to a pipe", () => {
  it.effect("ends without an error if the reader ends early", () => {
    const output = newOutput()
    return addManyThings(40_000).pipe(
      Effect.provide(warehouseAt(output)),
      Effect.andThen(
        Effect.sync(() => {
          const script = '{ "$0" "$@"; echo "ended $?" >&2; } | head -n 2'
          const ran = spawnSync("sh", ["-c", script, process.execPath, program("pipe.ts"), output], {
            encoding: "utf8"
          })
          assert.match(ran.stdout, /^location_id,id,name.*\r\nhere,id0,generation 0.*\r\n$/)
          assert.strictEqual(ran.stderr, "ended 0\n")
        })
      )
    )
  })
})
