/** Differences of rows from the vault, from each other and from the state of the syncs. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { discard } from "../support/account.ts"
import { type Checks, checkBroken, openSynced, sql, verifyBroken } from "../support/broken.ts"
import { query } from "../support/compare.ts"

/** Tests change copies of them only. */
let account: Awaited<ReturnType<typeof openSynced>>
/** With few tables, for tests that do not depend on the tables. */
let small: typeof account
beforeAll(async () => {
  account = await openSynced("some")
  small = await openSynced("few")
})
afterAll(() => discard(account, small))

describe("rows that differ from the vault", () => {
  it("are reported with the kind of difference if every record is replayed", { tags: ["slow"] }, async () => {
    const first = (table: string) => `id = (SELECT min(id) FROM crm.${table})`
    const { wrong, result } = await verifyBroken(
      account,
      async (folder) => {
        await sql(folder, `DELETE FROM crm.redirects WHERE ${first("redirects")}`)
        await sql(folder, `UPDATE crm.contacts SET first_name = '', last_name = NULL WHERE ${first("contacts")}`)
        await sql(folder, "DELETE FROM crm.contact_tags WHERE tag = (SELECT min(tag) FROM crm.contact_tags)")
        await sql(folder, `INSERT INTO crm.forms SELECT * REPLACE ('new' AS id) FROM crm.forms WHERE ${first("forms")}`)
        await sql(folder, "UPDATE crm_history.orders SET amount = 1 WHERE rowid = 0")
      },
      "--all"
    )
    const expected = [
      /^replay: contact_tags: \d+ rows? missing that the vault contains, for example \w{20}\//,
      /^replay: contacts: 1 row different from the vault in first_name, last_name, for example \w{20}$/,
      /^replay: forms: 1 row not contained in the vault, for example new$/,
      /^replay: history of orders: 1 row different from the vault in amount, for example/,
      /^replay: redirects: 1 row missing that the vault contains, for example/
    ]
    const found = wrong.toSorted()
    assert.strictEqual(found.length, expected.length, found.join("\n"))
    for (const [index, pattern] of expected.entries()) assert.match(found[index]!, pattern)
    assert.strictEqual(result.next, "./sluice rebuild")
    assert.match(
      result.checks.find(({ check }) => check === "replay")!.looked,
      /^([\d,]+) records of [\d,]+ replayed from the vault, [\d,]+ rows of \d+ tables$/
    )
  })

  it("are found by a sample, which includes every row of a small table", async () => {
    const { wrong, result } = await verifyBroken(small, (folder) =>
      sql(folder, "UPDATE crm.locations SET name = 'elsewhere'")
    )
    assert.match(wrong.join("\n"), /^replay: locations: 1 row different from the vault in name, for example \w+$/)
    assert.match(
      result.checks.find(({ check }) => check === "replay")!.looked,
      /^\d+ records of [\d,]+ replayed from the vault, [\d,]+ rows of \d+ tables; --all replays all$/
    )
  })

  it("are not all: a state that differs is found where each row is the same", async () => {
    const { wrong } = await verifyBroken(small, (folder) =>
      sql(folder, "UPDATE meta.watermarks SET total = 4711 WHERE resource = 'locations'")
    )
    assert.match(
      wrong.join("\n"),
      /^replay: meta.watermarks: missing or different from what the vault gives: 1 row, for example locations$/
    )
  })
})

/** A conversation and orders with earlier versions. */
const conversation = "(SELECT min(id) FROM crm_history.conversations)"
const order = (index: number) => `(SELECT DISTINCT id FROM crm_history.orders ORDER BY id LIMIT 1 OFFSET ${index})`
/** All are done to one copy. Each is a statement in another table or another row, and causes findings of its own. */
const rowDamage: ReadonlyArray<readonly [name: string, statement: string, wrong: ReadonlyArray<RegExp>]> = [
  [
    "a duplicate key",
    `INSERT INTO crm.contacts SELECT * FROM crm.contacts
     WHERE id = (SELECT min(id) FROM crm.contacts ANTI JOIN crm_history.contacts USING (id))`,
    [/^keys: contacts: 1 duplicate key, for example \w{20}$/]
  ],
  [
    "a key with NULL",
    "UPDATE crm.contact_tags SET tag = NULL WHERE rowid = (SELECT min(rowid) FROM crm.contact_tags)",
    [/^keys: contact_tags: 1 row with NULL in the key$/]
  ],
  [
    "a missing row with rows in a child table",
    "DELETE FROM crm.pipelines WHERE id = (SELECT min(id) FROM crm.pipelines)",
    [/^parents: pipeline_stages: [1-9]\d* rows without a row in pipelines, for example/]
  ],
  [
    "a missing parent of children",
    "DELETE FROM crm.calendars WHERE id = (SELECT min(calendar_id) FROM crm.appointments)",
    [
      /^parents: calendar_members: [1-9]\d* rows? without a row in calendars, for example/,
      /^parents: appointments: [1-9]\d* rows? without a row in calendars, for example/
    ]
  ],
  [
    "a version that ends too late",
    `UPDATE crm_history.conversations SET _valid_to = _valid_to + INTERVAL 1 SECOND WHERE id = ${conversation}`,
    [
      /^history: history of conversations: 1 version overlapping the previous version, for example \w{20}$/,
      /^history: history of conversation_tags: [1-9]\d* versions? without a version in conversations/
    ]
  ],
  [
    "a version that ends too early",
    `UPDATE crm_history.orders SET _valid_to = _valid_to - INTERVAL 1 MILLISECOND WHERE id = ${order(0)}`,
    [/^history: history of orders: 1 version with a gap after the previous version, for example/]
  ],
  [
    "a version that ends before it begins",
    `UPDATE crm_history.orders SET _valid_from = _valid_to + INTERVAL 1 SECOND WHERE id = ${order(1)}`,
    [/^history: history of orders: 1 version with _valid_to not after _valid_from/]
  ],
  [
    "a missing row with versions",
    `DELETE FROM crm.orders WHERE id = ${order(2)}`,
    [
      /^parents: order_items: [1-9]\d* rows? without a row in orders/,
      /^history: history of orders: 1 version without a row/
    ]
  ],
  [
    "child rows that do not match an earlier version",
    "UPDATE crm_history.contact_tags SET _valid_to = _valid_to - INTERVAL 1 SECOND",
    [/^history: history of contact_tags: [1-9]\d* versions without a version in contacts/]
  ],
  [
    "a watermark after the last read",
    "UPDATE meta.watermarks SET watermark = complete_at + INTERVAL 1 HOUR WHERE resource = 'contacts'",
    [/^times: contacts: its watermark .* is later than its last read at/]
  ],
  [
    "a read time in the future",
    "UPDATE crm.forms SET _synced_at = now() + INTERVAL 1 DAY",
    [/^times: forms: [1-9]\d* rows? with _synced_at in the future/]
  ],
  [
    "a rejected record that no run counted",
    `INSERT INTO meta.rejected_records SELECT max(run_id), any_value(location_id), 'contact_tags', '{}', 'no tag', now() FROM meta.run_resources`,
    [/^rejects: contacts: run \w+ counts 0 rejected records; meta\.rejected_records has 1$/]
  ]
]

describe("verify reports each kind of damage to rows", () => {
  let checks: Checks
  beforeAll(async () => {
    const statements = rowDamage.map(([, statement]) => statement)
    checks = await checkBroken(account, (folder) => sql(folder, statements.join(";\n")))
  })

  it.each(rowDamage)("%s", (...[, , expected]) => {
    for (const pattern of expected)
      assert.strictEqual(checks.wrong.filter((one) => pattern.test(one)).length, 1, checks.wrong.join("\n"))
  })

  it("the child rows of both changed versions of orders", async () => {
    const items = `SELECT count(*) AS n FROM crm_history.order_items WHERE order_id IN (${order(0)}, ${order(1)})`
    const [{ n }] = (await query(account.warehouse, items)) as [{ readonly n: unknown }]
    assert.isAbove(Number(n), 1)
    assert.match(
      checks.wrong.join("\n"),
      new RegExp(`^history: history of order_items: ${Number(n)} versions without a version in orders`, "m")
    )
  })

  it("and nothing else, and names rebuild as the next step", () => {
    const ofOrderItems = 1
    const expected = rowDamage.flatMap(([, , findings]) => findings).length + ofOrderItems
    assert.strictEqual(checks.wrong.length, expected, checks.wrong.join("\n"))
    assert.deepStrictEqual(checks.parts, ["warehouse"])
    assert.strictEqual(checks.next, "./sluice rebuild")
  })
})
