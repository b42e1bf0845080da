import { assert, describe, it } from "@effect/vitest"
import { type Account, openAccount } from "../support/account.ts"
import { query, tableByCollection } from "../support/compare.ts"
import { randomFrom } from "../support/random.ts"
import { start } from "../support/process.ts"

const seed = Number(process.env["SLUICE_SEED"] ?? 1)
const kills = 10
/** The most requests in flight at one time for a kind of children; no list of the account has more pages. */
const perOperationMax = 8
/** The most requests in flight at one time: one for each of 12 lists, and 8 for each of 3 children. */
const inFlightMax = 12 + 3 * 8
/** A run that is started again reads the short lists again that an earlier one had read to their ends. */
const shortLists = 57

/** Kills runs until one completes, and returns the number of killed runs. */
const runWithKills = async (account: Account, random: () => number): Promise<number> => {
  for (let killed = 0; ; killed++) {
    const running = start(["sync"], account.environment)
    if (killed < kills) setTimeout(() => running.kill("SIGKILL"), 400 + random() * 1500)
    const { code, stderr } = await running.ended
    if (code === 0) return killed
    assert.isTrue(killed < kills && code === null, stderr)
  }
}

describe("kill -9", () => {
  it(`at up to ${kills} random times loses no record, duplicates no row, and repeats the requests in flight and short lists only (seed ${seed})`, async () => {
    const random = randomFrom(seed)
    const flags = ["--latency", "10-40", "--contacts", "800", "--seed", String(seed)]
    const [account, undisturbed] = [await openAccount(...flags), await openAccount(...flags)]
    try {
      const killed = await runWithKills(account, random)
      assert.deepStrictEqual(await account.differences(), [])
      for (const table of Object.values(tableByCollection)) {
        const duplicates = await query(
          account.warehouse,
          `SELECT id FROM crm.${table} GROUP BY location_id, id HAVING count(*) > 1`
        )
        assert.deepStrictEqual(duplicates, [], table)
      }
      const ran = await undisturbed.sync()
      assert.strictEqual(ran.code, 0, ran.stderr)
      const [disturbed, undisturbedStats] = [await account.service.stats(), await undisturbed.service.stats()]
      const repeated = disturbed.requests - undisturbedStats.requests
      process.stderr.write(`${killed} kills: ${repeated} of ${disturbed.requests} requests repeated\n`)
      assert.isAtLeast(killed, 5)
      assert.isAtMost(repeated, killed * (inFlightMax + shortLists))
      for (const [operation, requests] of Object.entries(disturbed.requestsByOperation))
        assert.isAtMost(
          requests - (undisturbedStats.requestsByOperation[operation] ?? 0),
          killed * perOperationMax,
          operation
        )
    } finally {
      account.service.stop()
      undisturbed.service.stop()
    }
  }, 300_000)
})
