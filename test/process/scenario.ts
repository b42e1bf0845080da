/**
 * A scenario of several syncs, drawn from a seed: the account, the faults of the service, changes, kills, and daily
 * limits. At its end, every table must equal the service.
 *
 *     node_modules/.bin/node test/process/scenario.ts 17        # replays seed 17 and prints the differences
 *     node_modules/.bin/node test/process/scenario.ts 1-200     # runs these seeds
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { openAccount } from "../support/account.ts"
import { query, tableByCollection } from "../support/compare.ts"
import { randomFrom } from "../support/random.ts"
import { start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

export interface Result {
  readonly seed: number
  readonly flags: ReadonlyArray<string>
  readonly events: ReadonlyArray<string>
  /** Empty if the scenario succeeded. */
  readonly wrong: ReadonlyArray<string>
}

export const simulate = async (seed: number): Promise<Result> => {
  const random = randomFrom(seed)
  const chance = (share: number) => random() < share
  const pick = <A>(...choices: ReadonlyArray<A>): A => choices[Math.floor(random() * choices.length)]!
  const flags = [
    "--seed",
    String(seed),
    "--contacts",
    String(20 + Math.floor(random() * 200)),
    "--latency",
    pick("0", "5", "0-20"),
    ...(chance(0.4) ? ["--faults", pick("0.02", "0.08", "truncate:0.1", "reset-before:0.05,reset-after:0.05")] : []),
    ...(chance(0.3)
      ? ["--limits", pick("100/500/200000", "25/200/200000", `100/300/${400 + Math.floor(random() * 600)}`)]
      : []),
    ...(chance(0.3)
      ? [
          "--quirk",
          pick("contactPaging=page", "contactDateFilter=refused", "opportunityFilters=ignored", "exportLimitMax=500")
        ]
      : [])
  ]
  const account = await openAccount(...flags)
  const events: Array<string> = []
  const wrong: Array<string> = []
  const reserve = join(newFolder(), "config.toml")
  writeFileSync(reserve, "[budget]\nreserve_per_day = 0\n")
  const run = (...more: ReadonlyArray<string>) => start(["sync", "--config", reserve, ...more], account.environment)
  try {
    const rounds = 1 + Math.floor(random() * 4)
    for (let round = 0; round < rounds; round++) {
      if (chance(0.4))
        await account.service.post("churn", { perRequest: chance(0.5) ? 1 : 0.2, deletes: chance(0.5) ? 0.1 : 0 })
      const scope = chance(0.15)
        ? pick("contacts.readonly", "conversations/message.readonly", "products.readonly", "forms.readonly")
        : undefined
      if (scope) await account.service.post("token", { removeScope: scope })
      const running = run(...(chance(0.2) ? ["--again=all"] : []))
      const kill = chance(0.6) ? pick("SIGKILL" as const, "SIGKILL" as const, "SIGINT" as const) : undefined
      const after = 300 + random() * 2500
      const timer = kill && setTimeout(() => running.kill(kill), after)
      if (chance(0.2))
        void account.service
          .requested(20)
          .then(() => account.service.post("clock", { advanceMs: 121_000 }))
          .catch(() => {})
      const { code, stderr } = await running.ended
      clearTimeout(timer)
      events.push(kill ? `${kill} after ${Math.round(after)} ms: ${code}` : `sync: ${code}`)
      if (code === 1 || /defect/.test(stderr)) wrong.push(`round ${round} ended with ${code}: ${stderr.slice(-500)}`)
      await account.service.post("churn", {})
      if (scope) await account.service.post("token", { addScope: scope })
      if (chance(0.3))
        await account.service.post("change", { contacts: 0.05, opportunities: 0.05, conversations: 0.05, seed: round })
      if (code === 75 || chance(0.2)) await account.service.post("clock", { advanceMs: 86_400_000 })
    }
    // The first complete run may resume a stopped one; the second reads the account as it is.
    for (let left = 8, whole = 0; left > 0 && whole < 2; left--) {
      const { code, stderr } = await run("--again=all").ended
      events.push(`at rest: ${code}`)
      if (code === 0) whole++
      if (code !== 75 && left === 1) wrong.push(`does not complete: ${stderr.slice(-500)}`)
      if (code === 75) await account.service.post("clock", { advanceMs: 86_400_000 })
    }
    wrong.push(...(await account.differences()))
    for (const table of new Set(Object.values(tableByCollection))) {
      const duplicates = await query(
        account.warehouse,
        `SELECT id FROM crm.${table} GROUP BY location_id, id HAVING count(*) > 1`
      )
      if (duplicates.length > 0) wrong.push(`${table}: ${duplicates.length} duplicate ids`)
    }
    const verified = await start(["verify"], account.environment).ended
    if (verified.code !== 0) wrong.push(verified.stdout + verified.stderr)
  } finally {
    account.service.stop()
  }
  return { seed, flags, events, wrong }
}

if (process.argv[1]?.endsWith("scenario.ts")) {
  const [from, to = from] = process.argv[2]!.split("-").map(Number) as [number, number?]
  let failed = 0
  for (let seed = from; seed <= to!; seed++) {
    const { flags, events, wrong } = await simulate(seed)
    if (wrong.length > 0 || from === to) console.log(JSON.stringify({ seed, flags, events, wrong }, null, 2))
    if (wrong.length > 0) failed++
  }
  console.log(`${to! - from + 1} seeds, ${failed} of them failed`)
  process.exit(failed > 0 ? 1 : 0)
}
