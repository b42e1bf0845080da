import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { Api } from "../../src/stages/api/api.ts"
import { discover } from "../../src/catalog/discover.ts"
import { normaliserOf } from "../../src/stages/load/normalise/normalise.ts"
import { syncSettings } from "../../src/settings/settings.ts"
import { checkSample } from "../../src/features/verify/sample.ts"
import { nextStep } from "../../src/features/verify/verify.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { type Account, accountIn, knowingOnly } from "../support/account.ts"
import { catalogueOf, findingsOf, openSyncedLive, sql } from "../support/broken.ts"
import { copyOf } from "../support/fixtures.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"

/** More than exist, so that every row with a single request is compared. */
const everyRow = 100_000
const all = ["--sample", String(everyRow)]

let account: Account
/** Few tables of the same service, for tests of the command, which also runs all other checks. */
let small: Account
beforeAll(async () => {
  account = await openSyncedLive()
  const tables = "locations,contacts,opportunities"
  small = knowingOnly(accountIn(newFolder(), account.service, tables), tables)
  const ran = await small.sync()
  assert.strictEqual(ran.code, 0, ran.stderr)
})
afterAll(() => {
  account.service.stop()
  for (const { output } of [account, small]) rmSync(output, { recursive: true })
})
/**
 * Damages a copy of the folder and compares its rows with the service; other tests cover the other checks. Reads rows of
 * all tables or of one.
 */
const sampled = async (
  damage: (folder: string) => unknown,
  {
    rows = everyRow,
    table,
    answered = (body) => body
  }: { readonly rows?: number; readonly table?: string; readonly answered?: (body: unknown) => unknown } = {}
) => {
  const folder = copyOf(account.output)
  try {
    await damage(folder)
    const catalogue = table === undefined ? await discover() : await catalogueOf(table)
    const { checked, disagreeing, numbers } = await Effect.runPromise(
      Effect.gen(function* () {
        const { accounts } = yield* syncSettings({}, account.environment)
        const read = accounts[0]!
        return yield* checkSample({ catalogue, location: read.location, rows, normaliserOf }).pipe(
          Effect.provide([
            Layer.effect(
              Api,
              Effect.map(Api, (api) =>
                Api.of({
                  ...api,
                  send: (call) => Effect.map(api.send(call), (one) => ({ ...one, body: answered(one.body) }))
                })
              )
            ).pipe(Layer.provide(Api.layer(read.api))),
            Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "read", memoryMb: 128 })
          ])
        )
      })
    )
    return {
      wrong: findingsOf([checked], "wrong"),
      notes: findingsOf([checked], "note"),
      looked: checked.looked,
      next: nextStep([checked], disagreeing),
      numbers
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("verify --sample", () => {
  it("does not compare a row with another record that the service sends in its place", async () => {
    let first: unknown
    const { notes, numbers, wrong } = await sampled(() => {}, {
      rows: 3,
      table: "contacts",
      answered: (body) => (first ??= body)
    })
    assert.deepStrictEqual(wrong, [])
    assert.deepStrictEqual([numbers.agree, numbers.differ, numbers["not readable"]], [1, 0, 2])
    assert.match(notes.join("\n"), /the response contains another record/)
  })

  it("finds no difference directly after the sync", { tags: ["slow"] }, async () => {
    const { wrong, numbers, looked } = await sampled(() => {})
    assert.deepStrictEqual(wrong, [])
    const { agree, ...others } = numbers
    assert.isAbove(agree, 500)
    assert.deepStrictEqual(others, { differ: 0, "changed since": 0, "deleted since": 0, "not readable": 0 })
    assert.match(looked, /^[\d,]+ rows of \d+ tables, 100 % of \d+ agree$/)
  })

  it("compares the given number of rows, from as many tables as possible, with one request each", async () => {
    await account.service.post("stats/reset", {})
    const { looked } = await sampled(() => {}, { rows: 20 })
    assert.match(looked, /^20 rows of 20 tables, 100 % of 20 agree$/)
    assert.strictEqual((await account.service.stats()).requests, 20)
  })

  it.each([
    [
      "text",
      "contacts",
      "email = 'x' || email",
      /^sample: contacts \w+: email is "x.*" in the warehouse \(read at .*Z\) and ".*" in the service$/
    ],
    [
      "an instant",
      "contacts",
      "date_added = date_added + INTERVAL 1 MILLISECOND",
      /date_added is "2.*Z" in the warehouse/
    ],
    [
      "a decimal",
      "opportunities",
      "monetary_value = monetary_value + 0.0000001",
      /monetary_value is ".*1" in the warehouse/
    ],
    ["a flag", "contacts", "dnd = NOT dnd", /dnd is "(true|false)" in the warehouse/],
    ["JSON", "messages", "meta = '{}' WHERE meta IS NOT NULL", /meta is "\{\}" in the warehouse/]
  ] as const)("names each value that differs: %s", { tags: ["slow"] }, async (_, table, set, pattern) => {
    const column = set.split(" ")[0]
    const of = set.includes("WHERE") ? "" : ` WHERE ${column} IS NOT NULL`
    const [{ n }] = (await query(
      account.warehouse,
      `SELECT count(*) AS n FROM crm.${table} WHERE ${column} IS NOT NULL AND _deleted_at IS NULL`
    )) as [{ readonly n: unknown }]
    const { wrong, numbers, next } = await sampled((folder) => sql(folder, `UPDATE crm.${table} SET ${set}${of}`), {
      table
    })
    assert.isAbove(Number(n), 0)
    assert.strictEqual(wrong.length, Number(n))
    assert.strictEqual(numbers.differ, Number(n))
    for (const one of wrong) assert.match(one, pattern)
    assert.match(next, new RegExp(`^\\./sluice sync --again all --only ${table}; .*, \\./sluice rebuild$`))
  })

  it("prints ten differences of the contacts and the share of rows that agree", { tags: ["slow"] }, async () => {
    const folder = copyOf(small.output)
    await sql(folder, "UPDATE crm.contacts SET email = 'x' || email")
    const ran = await sluice(["verify", ...all], { ...small.environment, SLUICE_OUTPUT: folder })
    rmSync(folder, { recursive: true })
    assert.strictEqual(ran.code, 1, ran.stderr)
    const [, rows, share, total, wrong] =
      /^sample +(\d+) rows of 3 tables, ([1-9]\d\.\d) % of (\d+) agree +(\d+) wrong$/m.exec(ran.stdout) ??
      assert.fail(ran.stdout)
    assert.strictEqual(total, rows)
    assert.strictEqual(Number(share), Math.floor((1 - Number(wrong) / Number(total)) * 1000) / 10)
    assert.strictEqual(ran.stderr.match(/^WRONG {2}sample: contacts /gm)?.length, 10)
    assert.include(ran.stderr, ` sample: ${Number(wrong) - 10} more; --json has them all\n`)
  })

  it(
    "does not report rows as wrong that the service has changed or deleted since they were read",
    { tags: ["slow"] },
    async () => {
      const contacts = await account.service.records("contacts")
      const [changed, deleted] = contacts.map(({ id }) => String(id))
      await account.service.call("PUT", `/contacts/${changed}`, { city: "Elsewhere" })
      await account.service.call("DELETE", `/contacts/${deleted}`)
      const { wrong, notes, numbers } = await sampled(() => {})
      // Emails of the sandbox contain the address of their contact and have no date of change.
      assert.deepStrictEqual(
        wrong.filter((one) => !one.startsWith("sample: emails ")),
        []
      )
      assert.isAtLeast(numbers["changed since"], 1)
      assert.include(notes, `sample: contacts: the service no longer has 1 row, for example ${deleted}`)
    }
  )

  it("notes the rows that cannot be read because a scope is missing", async () => {
    await account.service.post("token", { removeScope: "users.readonly" })
    const { notes } = await sampled(() => {}, { rows: 60 })
    await account.service.post("token", { restore: true })
    assert.match(notes.join("\n"), /^sample: users \w+: could not be read: 403/m)
  })

  it("ends with 77 if the token is refused, after the checks that need no token", async () => {
    const ran = await sluice(["verify", "--sample", "5"], { ...small.environment, SLUICE_TOKEN: "nonsense" })
    assert.strictEqual(ran.code, 77, ran.stderr)
    assert.match(ran.stdout, /^keys .* ok$/m)
    assert.match(ran.stderr, /^Next: Set SLUICE_TOKEN/m)
  })

  it("needs the settings of the account and a positive number of rows", async () => {
    assert.strictEqual((await sluice(["verify", "--sample", "5"], { SLUICE_OUTPUT: account.output })).code, 78)
    assert.strictEqual((await sluice(["verify", "--sample", "0"], account.environment)).code, 2)
    assert.strictEqual((await sluice(["verify", "--sample", "x"], account.environment)).code, 2)
  })
})
