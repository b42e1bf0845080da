/** `--json=lines` in a pipe: of a run that is killed, and with a reader that leaves. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Account, discard, openTables } from "../support/account.ts"
import { start } from "../support/process.ts"

const launcher = fileURLToPath(new URL("../../sluice", import.meta.url))
let account: Account
beforeAll(async () => {
  account = await openTables("contacts,contact_notes", "--contacts", "300", "--latency", "5-15")
})
afterAll(() => discard(account))

const eventsOf = (stdout: string): ReadonlyArray<string> =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line).event)

describe("--json=lines", () => {
  it("of a killed run has whole lines only, and no end", async () => {
    for (const requests of [20, 120]) {
      rmSync(account.warehouse, { force: true })
      const running = start(["sync", "--again=all", "--json=lines", ...account.selection], account.environment)
      await account.service.requested((await account.service.stats()).requests + requests)
      running.kill("SIGKILL")
      const { stdout } = await running.ended
      assert.isTrue(stdout.endsWith("}\n"))
      const events = eventsOf(stdout)
      assert.include(events, "resourceStarted")
      assert.notInclude(events, "finished")
    }
  })

  it("of an interrupted run ends with the reason", async () => {
    const running = start(["sync", "--again=all", "--json=lines", ...account.selection], account.environment)
    await account.service.requested((await account.service.stats()).requests + 20)
    running.kill("SIGTERM")
    const { code, stdout } = await running.ended
    assert.strictEqual(code, 143)
    const last = JSON.parse(stdout.trim().split("\n").at(-1)!)
    assert.deepInclude(last, { event: "finished", exitCode: 143 })
    assert.strictEqual(last.result.error.code, "interrupted")
  })

  it("does not stop a run whose reader leaves", async () => {
    const command = `"$0" sync --json=lines ${account.selection.join(" ")} 2>/dev/null | head -1; echo "\${PIPESTATUS[0]}"`
    const child = spawn("bash", ["-c", command, launcher], {
      env: { PATH: process.env["PATH"], ...account.environment },
      stdio: ["ignore", "pipe", "ignore"]
    })
    let stdout = ""
    child.stdout.on("data", (chunk) => (stdout += chunk))
    await new Promise((done) => child.once("close", done))
    const [first, code, ...rest] = stdout.trim().split("\n")
    assert.strictEqual(JSON.parse(first!).event, "started")
    assert.deepStrictEqual([code, rest], ["0", []])
  })
})
