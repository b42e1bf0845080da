/** The receiver of events, against a service that sends them: late, twice, in any order, forged, and thousands at once. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../src/features/fleet/commands/free-port.ts"
import { type Account, discard, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { rowsOf } from "../report/reading.ts"
import { type Ran, sluice } from "../support/sluice.ts"

const secret = "a secret of the workflow"

interface Listening {
  readonly url: string
  /** What it has written to stderr so far. */
  readonly said: () => string
  readonly post: (body: unknown, headers?: Readonly<Record<string, string>>) => Promise<number>
  readonly stop: () => Promise<Ran>
}

const listening = async (account: Account, ...flags: ReadonlyArray<string>): Promise<Listening> => {
  const port = await freePort("127.0.0.1")
  let said = ""
  const stopped = new AbortController()
  const ended = sluice(
    ["listen", "--listen", String(port), "--every", "1s", ...flags],
    { ...account.environment, SLUICE_LISTEN_SECRET: secret },
    { signal: stopped.signal, onStderr: (text) => (said += text) }
  )
  const url = `http://127.0.0.1:${port}/`
  const isUp = () =>
    fetch(`${url}health`).then(
      ({ ok }) => ok,
      () => false
    )
  const gone = ended.then((ran) => assert.fail(`${ran.stdout}${ran.stderr}`))
  while (!(await Promise.race([isUp(), gone]))) await new Promise((resolve) => setTimeout(resolve, 20))
  gone.catch(() => {})
  return {
    url,
    said: () => said,
    post: async (body, headers = { "x-sluice-secret": secret }) => {
      const text = typeof body === "string" ? body : JSON.stringify(body)
      const response = await fetch(url, { method: "POST", body: text, headers })
      await response.arrayBuffer()
      return response.status
    },
    stop: () => {
      stopped.abort(143)
      return ended
    }
  }
}

const until = async (isTrue: () => Promise<boolean>, ms = 20_000) => {
  const end = Date.now() + ms
  while (!(await isTrue())) {
    if (Date.now() > end) assert.fail("it did not happen in time")
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const runs = (account: Account) =>
  query(account.warehouse, "SELECT run_id FROM meta.runs WHERE command = 'sync' AND finished_at IS NOT NULL")

describe("listen", () => {
  it("reads what events of the service say has changed, once, and stops with its state saved", async () => {
    const account = await openAlone("contacts", "--contacts", "40")
    try {
      assert.strictEqual((await account.sync()).code, 0)
      const { post, stop, url } = await listening(account)
      // The workflow sends each event twice, and in any order.
      const step = { type: "custom_webhook", url, query: { secret } }
      await account.service.post("workflows", {
        trigger: "contact_created",
        steps: [step],
        duplicates: 1,
        unordered: true
      })
      const before = (await account.service.stats()).requests
      await account.service.call("POST", "/contacts/", {
        locationId: account.service.locationId,
        firstName: "Ada",
        email: "ada.listened@example.com"
      })
      await until(async () => (await runs(account)).length === 2)
      const found = await query(
        account.warehouse,
        "SELECT first_name FROM crm.contacts WHERE email = 'ada.listened@example.com'"
      )
      assert.deepStrictEqual(found, [{ first_name: "Ada" }])
      // One of the requests created the contact.
      assert.isAtMost((await account.service.stats()).requests - before, 6)
      assert.strictEqual(await post({ type: "order_received", locationId: account.service.locationId }), 202)
      await new Promise((resolve) => setTimeout(resolve, 2500))
      assert.strictEqual((await runs(account)).length, 2, "neither a repetition nor another table is read")
      const { code, stderr } = await stop()
      assert.strictEqual(code, 143)
      assert.match(stderr, /contacts: 1 changed row, \d requests?, \d s after the event/)
      assert.notInclude(stderr, secret)
    } finally {
      discard(account)
    }
  }, 60_000)

  it("publishes what it read, with the report", { tags: ["slow"], timeout: 60_000 }, async () => {
    const quiet = await openAlone("contacts", "--contacts", "5")
    const account = { ...quiet, environment: { ...quiet.environment, SLUICE_FORMATS: "duckdb" } }
    try {
      assert.strictEqual((await sluice(["sync", ...account.selection], account.environment)).code, 0)
      const runsOf = () => {
        const path = join(account.output, "published/report/index.html")
        return existsSync(path) ? rowsOf(readFileSync(path, "utf8"), "runs-table").length : 0
      }
      assert.strictEqual(runsOf(), 1)
      const { post, stop } = await listening(account)
      const { locationId } = account.service
      await account.service.call("POST", "/contacts/", { locationId, firstName: "Ada" })
      assert.strictEqual(await post({ type: "contact_created", locationId }), 202)
      await until(async () => runsOf() === 2)
      await stop()
      assert.strictEqual(runsOf(), 2)
    } finally {
      discard(account)
    }
  })

  it("refuses what is forged or no event, and ignores other locations", async () => {
    const account = await openAlone("contacts", "--contacts", "5")
    try {
      assert.strictEqual((await account.sync()).code, 0)
      const { post, stop, url } = await listening(account)
      const event = { type: "contact_created", locationId: account.service.locationId, id: "x" }
      assert.strictEqual(await post(event, {}), 401)
      assert.strictEqual(await post(event, { "x-sluice-secret": `${secret}x` }), 401)
      assert.strictEqual((await fetch(`${url}?secret=${encodeURIComponent(secret)}`)).status, 405)
      assert.strictEqual(await post("no JSON"), 422)
      assert.strictEqual(await post("[]"), 422)
      assert.strictEqual(await post({ type: "contact_created" }), 422)
      assert.strictEqual(await post({ ...event, locationId: "another" }), 202)
      assert.strictEqual(await post({ ...event, note: "x".repeat(1_100_000) }), 413)
      await new Promise((resolve) => setTimeout(resolve, 2000))
      assert.strictEqual((await runs(account)).length, 1)
      await stop()
    } finally {
      discard(account)
    }
  }, 60_000)

  it(
    "takes a flood of 10,000 events, and reads their tables a few times only",
    { tags: ["slow"], timeout: 120_000 },
    async () => {
      const account = await openAlone("contacts", "--contacts", "20")
      try {
        assert.strictEqual((await account.sync()).code, 0)
        const { post, stop } = await listening(account)
        const before = (await account.service.stats()).requests
        const statuses = new Set<number>()
        for (let from = 0; from < 10_000; from += 100)
          for (const status of await Promise.all(
            Array.from({ length: 100 }, (_, index) =>
              post({
                type: "contact_updated",
                locationId: account.service.locationId,
                eventId: `e${(from + index) % 7000}`
              })
            )
          ))
            statuses.add(status)
        assert.deepStrictEqual([...statuses], [202])
        await until(async () => readFileSync(join(account.output, "events-due.json"), "utf8") === "{}\n")
        const flood = (await account.service.stats()).requests - before
        assert.isAtMost(flood, 3 * (await runs(account)).length)
        assert.isAtMost((await runs(account)).length, 30)
        await stop()
      } finally {
        discard(account)
      }
    }
  )

  it("keeps what is due while the service is down, and over a restart", async () => {
    const account = await openAlone("contacts", "--contacts", "20")
    try {
      assert.strictEqual((await account.sync()).code, 0)
      await account.service.post("token", { revoke: true })
      const first = await listening(account)
      assert.strictEqual(await first.post({ type: "contact_updated", locationId: account.service.locationId }), 202)
      await until(async () => first.said().includes("contacts could not be read, and will be tried again"))
      await first.stop()
      assert.include(readFileSync(join(account.output, "events-due.json"), "utf8"), "contacts")
      await account.service.post("token", { restore: true })
      const second = await listening(account)
      await until(async () => readFileSync(join(account.output, "events-due.json"), "utf8") === "{}\n")
      await second.stop()
    } finally {
      discard(account)
    }
  }, 60_000)

  it("needs a secret", async () => {
    const account = await openAlone("contacts", "--contacts", "5")
    try {
      const { code, stderr } = await sluice(["listen"], account.environment)
      assert.strictEqual(code, 78)
      assert.match(stderr, /listen\.secret is missing/)
      assert.isFalse(existsSync(join(account.output, "events-due.json")))
    } finally {
      discard(account)
    }
  })
})
