/** `plan` against what the runs that it predicts then request. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { type Account, discard, openAlone } from "../support/account.ts"
import { oneAddress } from "../support/proxy.ts"
import { startService } from "../support/service.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { acceleratedClock } from "../support/clock.ts"

interface Planned {
  readonly requests: { readonly min: number; readonly max?: number }
  readonly elapsedMs: { readonly min: number }
  readonly likely?: { readonly requests: number; readonly basis: string }
  readonly steps: ReadonlyArray<{
    readonly resource: string
    readonly requests: { readonly min: number; readonly max?: number }
    readonly refused?: { readonly reason: string; readonly scope?: string }
  }>
}

const planOf = async (account: Account, flags: ReadonlyArray<string> = account.selection) => {
  const ran = await sluice(["plan", ...flags, "--json"], account.environment, { overrides: acceleratedClock() })
  const { data, exitCode, error } = JSON.parse(ran.stdout)
  assert.strictEqual(ran.code, exitCode)
  return { code: ran.code, plan: data as Planned, error, stderr: ran.stderr }
}

/** Requests that the service has received since the last call. */
const used = async ({ service }: Account): Promise<number> => {
  const { requests } = await service.stats()
  await service.post("stats/reset", {})
  return requests
}

/** The planned range contains the requests that were used and, if `isNarrow`, says something. */
const assertPredicts = (
  what: string,
  { requests: { min, max } }: Pick<Planned, "requests">,
  requests: number,
  isNarrow: boolean
): void => {
  const text = `${what}: ${min} to ${max} planned, ${requests} used`
  assert.isAtMost(min * 0.8, requests, text)
  // A list that was stopped before its first response has no total, and the plan has no upper limit then.
  if (what === "resumed sync" && max === undefined) return
  assert.isAtLeast(max ?? 0, requests / 1.2, text)
  if (isNarrow) assert.isAtMost(max!, 20 + min * 2.5, text)
}

/** Plans and makes a first sync. */
const firstSync = async (tables: string, ...flags: ReadonlyArray<string>): Promise<Account> => {
  const account = await openAlone(tables, ...flags)
  onTestFinished(() => discard(account))
  const { plan } = await planOf(account)
  await used(account)
  const synced = await sluice(["sync", "--json=lines", ...account.selection], account.environment)
  assert.strictEqual(synced.code, 0)
  const requests = await used(account)
  assertPredicts("first sync", plan, requests, false)
  assert.approximately(plan.likely!.requests, requests, 20 + requests * 0.2)
  const isOfShares = tables.includes("messages")
  assert.strictEqual(plan.likely!.basis, isOfShares ? "shares of a typical account" : "totals of the service")
  const events = synced.stdout.split("\n").map((line) => (line === "" ? {} : JSON.parse(line)))
  assert.deepStrictEqual(events.find(({ event }) => event === "planned").requests, {
    ...plan.requests,
    likely: plan.likely!.requests
  })
  return account
}

describe("a plan", () => {
  it("says the number that the sync then begins with", async () => {
    const account = await openAlone("contacts,contact_notes,messages,emails", "--contacts", "20")
    onTestFinished(() => discard(account))
    const planned = await sluice(["plan", ...account.selection], account.environment)
    const [text] = /^About [\d,]+ requests \(.*?\)/m.exec(planned.stderr) ?? assert.fail(planned.stderr)
    const synced = await account.sync()
    assert.include(synced.stderr, `Planned: ${text.replace("About", "about")}.\n`)
    const status = await sluice(["status"], account.environment)
    assert.include(status.stderr + status.stdout, `(${/^About [\d,]+/.exec(text)![0].toLowerCase()} planned)`)
  })

  it.each([
    ["contacts with their notes", "contacts,contact_notes", "--contacts 120"],
    ["an account with invalid records", "contacts,contact_notes,opportunities,orders", "--contacts 100 --world nasty"]
  ])("of %s predicts the first sync", { tags: ["slow"] }, async (_, tables, flags) => {
    await firstSync(tables, ...flags.split(" "))
  })

  it("predicts the first sync, nights, a resumed sync and a backfill", { tags: ["slow"] }, async () => {
    const tables = "conversations,messages,orders,invoices,users,form_submissions,calendars,appointments"
    const account = await firstSync(tables, "--contacts", "80", "--seed", "7")
    for (let night = 1; night <= 3; night++) {
      await account.service.post("change", { conversations: 0.1, orders: 0.1, seed: night })
      const { plan } = await planOf(account)
      await used(account)
      assert.strictEqual((await account.sync()).code, 0)
      assertPredicts(`night ${night}`, plan, await used(account), night > 2)
      if (night > 2) assert.strictEqual(plan.likely!.basis, "earlier syncs")
    }

    const { lastRun } = JSON.parse((await sluice(["status", "--json"], account.environment)).stdout).data
    assert.isAtMost(lastRun.planned.min, lastRun.requests + 5)
    assert.isAtLeast(lastRun.planned.max, lastRun.planned.min)
    assert.isAtMost(Math.abs(lastRun.plannedRequests - lastRun.requests), 5 + lastRun.requests * 0.3)

    // A second output folder, whose first sync is stopped in the middle.
    const environment = { ...account.environment, SLUICE_OUTPUT: newFolder() }
    const stopped = new AbortController()
    const running = sluice(["sync", ...account.selection], environment, { signal: stopped.signal })
    await account.service.requested(60)
    stopped.abort(130)
    assert.strictEqual((await running).code, 130)
    const resumed = await planOf({ ...account, environment })
    await used(account)
    assert.strictEqual((await sluice(["sync", ...account.selection], environment)).code, 0)
    const rest = await used(account)
    assertPredicts("resumed sync", resumed.plan, rest, false)
    if (resumed.plan.requests.max !== undefined)
      assert.approximately(resumed.plan.likely!.requests, rest, 20 + rest * 0.2)

    const backfill = ["backfill", "--from", "2025-01-01", "--only", "messages,orders"]
    const { code, stderr } = await sluice(backfill, account.environment)
    assert.strictEqual(code, 0, stderr)
    const [, min, max] =
      /^Planned: .*?([\d,]+)(?: to ([\d,]+))?(?: requests|\))\.$/m.exec(stderr) ?? assert.fail(stderr)
    const number = (text: string) => Number(text.replaceAll(",", ""))
    const requests = { min: number(min!), max: number(max ?? min!) }
    assertPredicts("backfill", { requests }, await used(account), true)
  })

  it("does not take a wait for the rate limit for the speed of the service", { tags: ["slow"] }, async () => {
    const account = await openAlone("contacts,contact_notes", "--contacts", "200", "--limits", "4/10000/200000")
    try {
      for (let plans = 0; plans < 3; plans++) {
        const { requests, elapsedMs } = (await planOf(account)).plan
        // One of the plans waits for a whole window with one request.
        assert.isAtMost(elapsedMs.min, (requests.min / 4) * 10_000 * 1.1)
      }
    } finally {
      discard(account)
    }
  })

  it("names each list that the service refuses, in its own words", async () => {
    const account = await openAlone("contacts,calendars,appointments,forms,form_submissions", "--contacts", "20")
    try {
      await account.service.post("token", { removeScope: "forms.readonly" })
      const { code, plan, stderr } = await planOf(account)
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(
        plan.steps.filter(({ refused }) => refused).map(({ resource, refused }) => [resource, refused!.reason]),
        [
          ["form_submissions", "403 The token is not authorized for this scope."],
          ["forms", "403 The token is not authorized for this scope."]
        ]
      )
      const shown = await sluice(["plan", ...account.selection], account.environment)
      assert.match(shown.stdout, /^forms .*refused: 403 The token/m)
      assert.match(shown.stderr, /^Next: \.\/sluice doctor/m)
    } finally {
      discard(account)
    }
  })

  it("is a sum, in which a list that is not answered is a line", { tags: ["slow"] }, async () => {
    const account = await openAlone("contacts,calendars,forms,users", "--contacts", "20")
    try {
      const whole = await planOf(account)
      await account.service.post("faults", { rules: [{ match: "/contacts/search", kind: "500" }] })
      const { code, plan, stderr } = await planOf({
        ...account,
        environment: { ...account.environment, SLUICE_OUTPUT: newFolder() }
      })
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(
        plan.steps.flatMap(({ resource, refused }) => (refused ? [[resource, refused.reason]] : [])),
        [["contacts", "500 Internal server error (after 7 attempts)"]]
      )
      const others = ({ steps }: typeof plan) => steps.filter(({ resource }) => !resource.startsWith("contact"))
      assert.deepStrictEqual(others(plan), others(whole.plan))
    } finally {
      discard(account)
    }
  })

  it("for an address that answers 404 to everything ends with 78 and names the setting", async () => {
    const account = await openAlone("contacts,calendars,forms,users", "--contacts", "20")
    try {
      const environment = { ...account.environment, SLUICE_BASE_URL: `${account.service.url}/wrong` }
      const { code, error } = await planOf({ ...account, environment })
      assert.strictEqual(code, 78)
      assert.match(error.message, /404 to every list/)
    } finally {
      discard(account)
    }
  })

  it("covers every location, and says which one a step is for", async () => {
    const services = await Promise.all(["11", "12"].map((seed) => startService("--seed", seed, "--contacts", "20")))
    const [one, two] = services as [(typeof services)[0], (typeof services)[0]]
    const address = await oneAddress(one, two)
    try {
      const config = join(newFolder(), "config.toml")
      const locations = services.map(
        ({ locationId, token }) => `[[locations]]\nid = "${locationId}"\ntoken = "${token}"\n`
      )
      writeFileSync(config, `[account]\nbase_url = "${address.url}"\n${locations.join("")}`)
      const ran = await sluice(["plan", "--only", "contacts,contact_notes", "--config", config, "--json"], {
        SLUICE_OUTPUT: newFolder()
      })
      const { data } = JSON.parse(ran.stdout)
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(data.requests, { min: 42, max: 42 })
      assert.deepStrictEqual(
        data.steps.map(({ location, resource }: { location: string; resource: string }) => [location, resource]),
        services.flatMap(({ locationId }) => [
          [locationId, "contact_notes"],
          [locationId, "contacts"]
        ])
      )
      const named = await Promise.all(
        services.map(async ({ records }) => String((await records("locations"))[0]!["name"]))
      )
      assert.sameMembers(
        data.locations.map(({ location }: { location: string }) => location),
        services.map(({ locationId }) => locationId)
      )
      const shown = await sluice(["plan", "--config", config], { SLUICE_OUTPUT: newFolder() })
      for (const name of named) assert.match(shown.stdout, new RegExp(`^${name}.* about \\d+ `, "m"))
      assert.notMatch(shown.stdout, /^.*contact_notes/m)
      assert.strictEqual(shown.stderr.match(/Not read: review requests/g)?.length, 1)
    } finally {
      services.forEach(({ stop }) => stop())
      address.close()
    }
  })
})

it("of several locations is a sum, in which one that cannot be planned is a line", { tags: ["slow"] }, async () => {
  const service = await startService("--locations", "3", "--contacts", "5", "--limits", "off")
  try {
    const known = (await (await fetch(`${service.url}/__sandbox/locations`)).json()) as ReadonlyArray<{
      readonly locationId: string
      readonly token: string
    }>
    const config = join(newFolder(), "sluice.toml")
    const planOf = async (...bad: ReadonlyArray<number>) => {
      const items = known.map(
        ({ locationId, token }, n) => `[[locations]]\nid = "${locationId}"\ntoken = "env:T${n}"\n# ${token.length}`
      )
      writeFileSync(config, `${items.join("\n")}\n`)
      const tokens = Object.fromEntries(known.map(({ token }, n) => [`T${n}`, bad.includes(n) ? "pit-wrong" : token]))
      const ran = await sluice(["plan", "--config", config, "--only", "contacts,users", "--json"], {
        SLUICE_BASE_URL: service.url,
        SLUICE_OUTPUT: newFolder(),
        ...tokens
      })
      return { ...ran, data: ran.stdout === "" ? undefined : JSON.parse(ran.stdout).data }
    }
    const [whole, part, none] = [await planOf(), await planOf(1), await planOf(0, 1, 2)]
    assert.strictEqual(whole.code, 0, whole.stderr)
    assert.notProperty(whole.data, "unplanned")
    assert.strictEqual(part.code, 3, part.stderr)
    assert.deepStrictEqual(
      part.data.unplanned.map(({ location }: { location: string }) => location),
      [known[1]!.locationId]
    )
    assert.match(part.data.unplanned[0].problem, /does not accept the token/)
    assert.strictEqual(part.data.steps.length, (whole.data.steps.length * 2) / 3)
    assert.isBelow(part.data.requests.min, whole.data.requests.min)
    assert.strictEqual(none.code, 77)
  } finally {
    service.stop()
  }
})

it("of a full sync has a lower bound that holds when lists have become shorter", { tags: ["slow"] }, async () => {
  const account = await openAlone("contacts,contact_notes,tasks,users", "--contacts", "300")
  const run = async (...args: ReadonlyArray<string>) => {
    const { stderr, stdout } = await sluice([...args, ...account.selection, "--json"], account.environment)
    if (stdout === "") throw new Error(stderr)
    return JSON.parse(stdout).data
  }
  onTestFinished(() => discard(account))
  await run("sync", "--again=lists")
  await run("sync")
  for (const share of [0, 0.5, 0.7]) {
    await account.service.post("change", { contacts: 0, delete: share, seed: 3 })
    const { likely, requests } = await run("plan", "--again=lists")
    const done = await run("sync", "--again=lists")
    assert.isAtMost(requests.min, done.requests, `a share of ${share} was deleted`)
    assert.isAtLeast(likely.requests, requests.min)
  }
})
