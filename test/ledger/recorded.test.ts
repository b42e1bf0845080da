/** What the ledger keeps of work: how it ended, and nothing of a command that found the folder in use. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { recorded } from "../../src/command/recorded.ts"
import { CommandError } from "../../src/console/errors.ts"
import { Environment } from "../../src/values/environment.ts"
import { newFolder } from "../support/sluice.ts"
import { printed } from "../support/printed.ts"

/** The detail of the only record, without the release. */
const recordOf = async (
  work: Effect.Effect<number, CommandError>,
  environment: Readonly<Record<string, string>> = {}
) => {
  const output = newFolder()
  const run = recorded(work, output, "publish", (files) => ({ files }))
  await printed(Effect.provideService(Effect.exit(run), Environment, environment))
  const path = join(output, "ledger.jsonl")
  if (!existsSync(path)) return undefined
  const lines = readFileSync(path, "utf8").trimEnd().split("\n")
  assert.lengthOf(lines, 1)
  const { detail, kind } = JSON.parse(lines[0]!)
  assert.strictEqual(kind, "publish")
  return detail
}
const failing = (ends: CommandError["ends"]) => Effect.fail(new CommandError({ ends, message: "m", next: "n" }))

it("work that succeeded, was stopped or failed has its record, and work that did not begin has none", async () => {
  assert.deepStrictEqual(await recordOf(Effect.succeed(7)), { files: 7 })
  assert.deepStrictEqual(await recordOf(Effect.succeed(7), { SLUICE_STARTED_BY: "console" }), {
    files: 7,
    startedBy: "console"
  })
  assert.deepStrictEqual(await recordOf(Effect.interrupt), { status: "stopped" })
  assert.deepStrictEqual(await recordOf(failing("credentials")), { status: "failed", ends: "credentials" })
  assert.deepStrictEqual(await recordOf(Effect.die(new Error("x"))), { status: "failed", ends: "internal" })
  assert.isUndefined(await recordOf(failing("locked")))
})
