/** Concurrent runs in one folder, and a run that a signal stops. */
import { DuckDBInstance } from "@duckdb/node-api"
import { assert, describe, it } from "@effect/vitest"
import { discover } from "../../src/catalog/discover.ts"
import { childRequestOf } from "../../src/catalog/resource.ts"
import { openAccount } from "../support/account.ts"
import { start } from "../support/process.ts"
import type { Ran } from "../support/sluice.ts"

/** The error names the problem and the next step, without a stack trace. */
const assertExplains = ({ stderr }: Ran, problem: RegExp) => {
  assert.match(stderr, problem)
  assert.match(stderr, /^Next: \S/m)
  assert.notMatch(stderr, /\n\s+at /)
}

describe("a process", () => {
  it("a second run at the same time ends with 11 and names the first one, which completes", async () => {
    const slow = await openAccount("--latency", "300", "--contacts", "300")
    try {
      const first = start(["sync"], slow.environment)
      await slow.service.requested(20)
      for (const command of ["sync", "rebuild", "publish", "verify"]) {
        const second = await start([command], slow.environment).ended
        assert.strictEqual(second.code, 11, `${command}: ${second.stderr}`)
        assertExplains(second, /sluice \w+ \(process \d+\) is working/)
      }
      const ran = await first.ended
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(await slow.differences(), [])
    } finally {
      slow.service.stop()
    }
  })

  it("waits for another run as long as --wait allows, and then works", async () => {
    const slow = await openAccount("--latency", "100", "--contacts", "50")
    try {
      const first = start(["sync"], slow.environment)
      await slow.service.requested(20)
      const hasty = await start(["publish", "--wait", "1s", "--log-format", "json"], slow.environment).ended
      assert.strictEqual(hasty.code, 11, hasty.stderr)
      assert.strictEqual(hasty.stderr.match(/Waiting for sluice sync \(process \d+\)/g)?.length, 1)
      const second = start(["sync", "--wait", "5m"], slow.environment)
      assert.strictEqual((await first.ended).code, 0)
      const ran = await second.ended
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.match(ran.stderr, /Waiting for sluice sync/)
      assert.deepStrictEqual(await slow.differences(), [])
    } finally {
      slow.service.stop()
    }
  })

  it("Ctrl-C ends the run with 130, and the next run repeats at most the requests in flight", async () => {
    const slow = await openAccount("--latency", "30", "--contacts", "200")
    try {
      const running = start(["sync"], slow.environment)
      await slow.service.requested(60)
      running.kill("SIGINT")
      const stopped = await running.ended
      assert.strictEqual(stopped.code, 130)
      assertExplains(stopped, /progress is saved/)
      const [, sent] = /Read until the stop: [\d,]+ records with (\d+) requests\./.exec(stopped.stderr)!
      const { stderr: status } = await start(["status"], slow.environment).ended
      const [, least] = /interrupted, at least (\d+) requests/.exec(status) ?? assert.fail(status)
      assert.isAtMost(Number(least), Number(sent))
      const { requests } = await slow.service.stats()
      const resumed = await slow.sync()
      assert.strictEqual(resumed.code, 0)
      assert.match(resumed.stderr, /These counts include run \w+, which was stopped\./)
      const { resources } = await discover()
      // Nobody has seen the counts of the stopped run.
      assert.match(resumed.stdout, /^contacts +[1-9]\d* +\d+ +200 +0 +0 +0 +complete$/m)
      // Details that are loaded together with their list change nothing after it.
      const [, quiet = "0"] = /and (\d+) resources? complete without a change/.exec(resumed.stdout) ?? []
      const details = resources.filter((one) => childRequestOf(one)?.kind === "detail")
      assert.isAtMost(Number(quiet), details.length)
      const withoutRequest = Array.from(resumed.stdout.matchAll(/^(\S+) +0 +[1-9]/gm), ([, name]) => name!)
      const embedded = resources.flatMap((one) => (one.embeddedIn ? [one.table] : []))
      assert.includeMembers(embedded, withoutRequest)
      assert.deepStrictEqual(await slow.differences(), [])
      const again = await slow.sync()
      assert.notMatch(again.stderr + again.stdout, /include run/)
      const fetched = (await slow.service.stats()).requestsByOperation["GET /contacts/:contactId/notes"]!
      // Requests in flight are repeated: twelve run concurrently.
      assert.isAtMost(fetched, 200 + 12, `${requests} requests before Ctrl-C`)
    } finally {
      slow.service.stop()
    }
  })

  it("verify and doctor end with 11 and name another program that has the warehouse open", async () => {
    const account = await openAccount("--contacts", "20")
    const instance = await DuckDBInstance.create(account.warehouse)
    try {
      const problem = /Another program \(.*process \d+\) has .*warehouse\.duckdb open/
      const verified = await start(["verify"], account.environment).ended
      assert.strictEqual(verified.code, 11, verified.stderr)
      assertExplains(verified, problem)
      const examined = await start(["doctor", "--json"], account.environment).ended
      assert.strictEqual(examined.code, 11, examined.stderr)
      const { lines } = JSON.parse(examined.stdout).data
      const problems = lines.filter(({ state }: { readonly state: string }) => state === "problem")
      assert.deepStrictEqual(
        problems.map(({ check }: { readonly check: string }) => check),
        ["lock"]
      )
      assert.match(problems[0].what, problem)
    } finally {
      instance.closeSync()
      account.service.stop()
    }
  })
})
