/** The first part of the report, from releases that no sandbox makes: hostile names, missing models, many currencies. */
import { assert, it } from "@effect/vitest"
import { acquisitions, all, opportunities, partAfter, partAt, partOf, withLocation } from "./released.ts"
import { numberIn, rowsOf, textOf } from "./reading.ts"

const hostile = `<script>alert(1)</script>"'&`
const literal = `'${hostile.replaceAll("'", "''")}'`
it("a release without models says so in one sentence, and one that lacks a model shows the others", async () => {
  assert.strictEqual(
    textOf(await partAfter()),
    "The published DuckDB file has no models in schema bi, so there is nothing to show here."
  )
  const part = textOf(
    await partAfter(
      opportunities,
      "CREATE TABLE bi.fct_revenue (amount INTEGER)",
      "CREATE TABLE bi.fct_payment (amount INTEGER)"
    )
  )
  assert.include(part, "No opportunity is open.")
  assert.include(part, "The release does not have the model fct_appointment.")
  assert.include(part, "The model fct_revenue, fct_payment is of another version; ./sluice publish builds it again.")
})

it("an account without any business has a sentence for each topic, and no chart", async () => {
  const part = await partAfter(...all)
  for (const sentence of [
    "No opportunity is open.",
    "No opportunity was won or lost in the last 13 months.",
    "No live payment succeeded in the last 13 months.",
    "No subscription was paid for in the last 13 months.",
    "No contact asked a question in the last 13 months.",
    "There was no appointment in the last 13 months.",
    "No contact was created in the last 13 months."
  ])
    assert.include(textOf(part), sentence)
  assert.notInclude(part, "<svg")
  assert.notMatch(part, /NaN|undefined|Infinity/)
})

it("an account whose records have no status or time is not said to have none", async () => {
  const part = textOf(
    await partAfter(
      ...all,
      "INSERT INTO bi.fct_opportunity (currency) VALUES ('USD')",
      "INSERT INTO bi.fct_payment (is_live) VALUES (true), (true)",
      "INSERT INTO bi.fct_subscription_month (is_live, currency, price_per_month) VALUES (true, 'USD', 30)",
      "INSERT INTO bi.fct_message VALUES (true, NULL, now())",
      "INSERT INTO bi.fct_appointment (calendar_id) VALUES ('c')",
      "INSERT INTO bi.fct_contact_acquisition VALUES ('unknown', NULL)"
    )
  )
  for (const sentence of [
    "It is not known whether an opportunity is open: 1 opportunity has no known status.",
    "It is not known whether an opportunity was won or lost in the last 13 months: 1 opportunity has no known status or day of closing.",
    "It is not known whether a live payment succeeded in the last 13 months: 2 payments have no known status, day or amount.",
    "It is not known whether a subscription was paid for in the last 13 months: 1 subscription has no known status.",
    "It is not known whether a contact asked a question in the last 13 months: 1 message has no known direction or time.",
    "It is not known whether there was an appointment in the last 13 months: 1 appointment has no known time.",
    "It is not known whether a contact was created in the last 13 months: 1 contact has no known day of creation."
  ])
    assert.include(part, sentence)
  assert.notMatch(part, /No opportunity|No live payment|No contact/)
})

it("a table that was never read to its end is not said to be empty", async () => {
  const watermarks =
    "CREATE OR REPLACE TABLE meta.watermarks AS SELECT 'contacts' AS resource, now() AS complete_at UNION ALL SELECT 'subscriptions', NULL"
  const part = textOf(await partAfter(...all, watermarks))
  assert.include(
    part,
    "It is not known whether a subscription was paid for in the last 13 months: subscriptions was never read completely."
  )
  assert.include(part, "No contact was created in the last 13 months.")
})

it("amounts of different currencies are never added, tests are left out, and what is not known is said with its amount", async () => {
  const part = await partAfter(
    ...all,
    `INSERT INTO bi.fct_revenue VALUES ('USD', 130.5, true, '2026-10-31', 'received'), ('USD', 50, true, '2026-10-01', 'received'), ('USD', -30, true, '2026-10-31', 'refunded'), ('EUR', 7, true, '2026-10-02', 'received'),
       ('USD', 9000, false, '2026-10-02', 'received'), ('USD', 9000, true, '2025-10-31', 'received'), (NULL, 3, true, '2026-11-30', 'received')`,
    "INSERT INTO bi.fct_payment VALUES ('USD', 40, true, NULL, '2026-10-31'), ('EUR', 2, true, NULL, '2026-10-31'), ('EUR', 2, false, NULL, '2026-10-31'), ('EUR', 2, true, false, '2026-10-31')"
  )
  assert.include(textOf(part), ": USD 151 and EUR 7 in Oct 2026.")
  assert.include(
    textOf(part),
    "2 payments worth EUR 2 and USD 40 without a known status, day or amount are not included."
  )
  const rows = ["", "-2", "-3"].map((suffix) => rowsOf(part, `revenue-by-month${suffix}`))
  assert.deepStrictEqual(
    rows.map((months) => months.length),
    [13, 13, 13]
  )
  assert.deepStrictEqual(
    rows.map((months) => months.at(-2)),
    [
      ["Oct 2026", "151", "3"],
      ["Oct 2026", "7", "1"],
      ["Oct 2026", "0", "0"]
    ]
  )
  assert.deepStrictEqual(rows[2]!.at(-1), ["Nov 2026 so far", "3", "1"])
})

it("medians, rates and recurring amounts are those of their month", async () => {
  const part = await partAfter(
    ...all,
    "INSERT INTO bi.fct_conversation_reply VALUES ('2026-10-05', true, 10, 10), ('2026-10-06', true, 30, 20), ('2026-10-07', true, 5000, 900), ('2026-10-08', false, NULL, NULL)",
    `INSERT INTO bi.fct_subscription_month VALUES ('a', '2026-10-01', true, 'USD', 20, true, false, 'recurring', 20, 'l'), ('b', '2026-10-01', true, 'USD', NULL, false, true, 'recurring', NULL, 'l'),
       ('c', '2026-10-01', false, 'USD', 500, true, false, 'recurring', 500, 'l'), ('d', '2026-10-01', true, 'USD', 0, false, false, 'trial', 70, 'l'),
       ('e', '2026-09-01', true, 'USD', NULL, false, false, NULL, 60, 'l'), ('e', '2026-10-01', true, 'USD', NULL, false, false, NULL, 60, 'l')`,
    `INSERT INTO bi.fct_appointment SELECT 'c', 'Visit', i > 0, i = 0, false, true, DATE '2026-05-01', 'l', NULL FROM range(4) AS r (i)`,
    "INSERT INTO bi.fct_appointment VALUES ('c', 'Visit', false, false, true, true, '2026-05-01', 'l', NULL), ('c', 'Visit', false, true, false, false, '2026-11-30', 'l', NULL)"
  )
  assert.deepStrictEqual(rowsOf(part, "replies-by-month").at(-2), ["Oct 2026", "4", "75 %", "30 min", "20 min"])
  assert.include(
    textOf(part),
    "In Oct 2026, 1 subscription began and 1 ended. 1 trial adds nothing. 1 subscription without an interval is not included in the amounts. 1 subscription worth USD 60 without a known status is not included."
  )
  assert.deepStrictEqual(rowsOf(part, "recurring-by-month").at(-2), ["Oct 2026", "20", "2"])
  assert.deepStrictEqual(rowsOf(part, "calendars"), [["Visit", "5", "3", "1", "1", "25 %", ""]])
})

it("names of the account are texts, addresses in them are masked, and rare sources are not named", async () => {
  const part = await partAfter(
    ...all,
    `INSERT INTO bi.fct_opportunity SELECT ${literal}, ${literal} || i, i, ${literal}, 5, true, false, false, NULL, 'l', 'p' || i FROM range(200) AS r (i)`,
    "INSERT INTO bi.fct_opportunity VALUES ('Calls of jane@example.com', '+1 817 555 1234', 1, 'USD', 9000, true, false, false, NULL, 'l', 'p')",
    `INSERT INTO bi.fct_revenue SELECT ${literal} || i, 5, true, DATE '2026-10-01', 'received' FROM range(50) AS r (i)`,
    `INSERT INTO bi.fct_appointment SELECT 'c' || i, ${literal}, true, false, false, true, DATE '2026-05-01', 'l', NULL FROM range(500) AS r (i)`,
    `INSERT INTO bi.fct_contact_acquisition SELECT ${literal}, DATE '2026-10-01' FROM range(9)`,
    `INSERT INTO bi.fct_contact_acquisition SELECT 'friend of Jane ' || i, DATE '2026-10-01' FROM range(2000) AS r (i)`
  )
  assert.notMatch(part, /<script|jane|817|Jane/)
  assert.include(part, "&#60;script&#62;alert(1)")
  assert.isAtMost(rowsOf(part, "stages").length, 40)
  assert.isAtMost(rowsOf(part, "calendars").length, 25)
  const sources = rowsOf(part, "sources")
  assert.deepStrictEqual(sources.map(([source, n]) => [source, numberIn(n!)]).at(-1), ["2,000 other sources", 2000])
  assert.include(textOf(part), "The 4 of 50 currencies with the most rows are shown.")
  assert.isBelow(part.length, 100_000)
})

it("begins with the seven whole days before, against the seven days before these", async () => {
  const part = textOf(
    await partAfter(
      ...all,
      "INSERT INTO bi.fct_contact_acquisition SELECT 'x', DATE '2026-11-23' - i::INTEGER FROM range(16) AS r (i)",
      `INSERT INTO bi.fct_opportunity (currency, monetary_value, is_open, is_won, is_lost, closed_local_date) VALUES
         ('USD', 40000.4, false, true, false, '2026-11-22'), ('USD', 1702, false, true, false, '2026-11-16'), (NULL, 7, false, true, false, '2026-11-17'),
         ('USD', 9, false, true, false, '2026-11-15'), ('USD', 9, false, true, false, '2026-11-23'), ('USD', 9, false, false, true, '2026-11-20')`,
      "INSERT INTO bi.fct_appointment (is_past, booked_at) SELECT true, TIMESTAMPTZ '2026-11-15 23:59:59+00' FROM range(2)"
    )
  )
  assert.match(
    part,
    /^From 16 Nov to 22 Nov, in comparison with the 7 days before: 3 opportunities won worth USD 41,702 and 7 \(currency not stated\) \(2 more\); no payments received ; 7 new contacts \(as many\); no appointments booked \(2 fewer\)\./
  )
})

it("ends the week with the last day that is over in each time zone of the account", async () => {
  const zones = (...names: ReadonlyArray<string>) =>
    `CREATE TABLE bi.dim_location AS SELECT unnest(${JSON.stringify(names).replaceAll('"', "'")}) AS time_zone`
  const weekOf = async (...statements: ReadonlyArray<string>) =>
    /From .*? to .*?,/.exec(textOf(await partAfter(acquisitions, ...statements)))?.[0]
  assert.strictEqual(await weekOf(zones("Asia/Tokyo", "Europe/Berlin")), "From 16 Nov to 22 Nov,")
  assert.strictEqual(await weekOf(zones("Asia/Tokyo", "America/New_York")), "From 15 Nov to 21 Nov,")
  assert.strictEqual(await weekOf("CREATE TABLE bi.dim_location (id VARCHAR)"), "From 16 Nov to 22 Nov,")
})

it("ends at the turn of a month with the last day and month that are over where the location is", async () => {
  const payment = (day: string, amount: number) =>
    `INSERT INTO bi.fct_revenue VALUES ('USD', ${amount}, true, DATE '${day}', 'received')`
  const rows = [payment("2026-10-31", 100), payment("2026-11-29", 20), payment("2026-11-30", 3)]
  const partIn = async (zone: string) => {
    const part = await partAt(
      Date.UTC(2026, 11, 1, 0, 30),
      [],
      [...all, `INSERT INTO bi.dim_location VALUES ('a', '${zone}')`, ...rows]
    )
    return textOf(part).match(/From .*? to .*?,|\d payments? received worth USD \d+|Revenue USD .*? \d{4}/g)
  }
  assert.deepStrictEqual(await partIn("Pacific/Honolulu"), [
    "From 23 Nov to 29 Nov,",
    "1 payment received worth USD 20",
    "Revenue USD 100 in Oct 2026"
  ])
  assert.deepStrictEqual(await partIn("UTC"), [
    "From 24 Nov to 30 Nov,",
    "2 payments received worth USD 23",
    "Revenue USD 23 in Nov 2026"
  ])
})

it("says nothing of a week whose rows may be unknown", async () => {
  const part = textOf(
    await partAfter(
      ...all,
      "CREATE OR REPLACE TABLE meta.watermarks AS SELECT unnest(['transactions', 'opportunities']) AS resource, now() AS complete_at",
      "INSERT INTO bi.fct_opportunity (currency) VALUES ('USD')"
    )
  )
  assert.match(part, /^From 16 Nov to 22 Nov, in comparison with the 7 days before: no payments received \./)
})

it("shows one currency at a time, that of the most rows first, and says once that one is not stated", async () => {
  const part = await partAfter(
    ...all,
    "INSERT INTO bi.fct_opportunity SELECT 'Sales', 'New', 1, NULL, 1292238581, true, false, false, NULL, 'l', 'p' FROM range(2)",
    "INSERT INTO bi.fct_opportunity VALUES ('Sales', 'New', 1, 'EUR', 5000000000, true, false, false, NULL, 'l', 'p')"
  )
  assert.deepStrictEqual(rowsOf(part, "stages"), [["Sales", "New", "2", "2,584,477,162", ""]])
  assert.deepStrictEqual(rowsOf(part, "stages-2"), [
    ["Sales", "New", "1", "EUR\u00a05,000,000,000".replace("\u00a0", " "), ""]
  ])
  const text = textOf(part)
  assert.include(text, "3 opportunities are open, worth 2,584,477,162 (currency not stated) and EUR 5,000,000,000.")
  assert.include(text, "Open pipeline 2.6B 2 opportunities, currency not stated")
  assert.include(part, 'title="2,584,477,162"')
  assert.notInclude(text, "no currency")
})

it("tells pipelines and calendars of the same name apart, by a heading for their location or else by their id", async () => {
  const part = await partOf(
    ["a", "b"],
    ...withLocation,
    `INSERT INTO bi.fct_opportunity SELECT 'Sales', 'New', 1, 'USD', 5, true, false, false, NULL, l, 'pipeline' FROM (SELECT unnest(['a', 'b']) AS l)`,
    `INSERT INTO bi.fct_appointment SELECT c, 'Visit', true, false, false, true, DATE '2026-05-01', 'a', NULL FROM (SELECT unnest(['calendar-1', 'calendar-2']) AS c)`,
    "INSERT INTO bi.fct_appointment VALUES ('calendar-3', 'Call', true, false, false, true, '2026-05-01', 'a', NULL)"
  )
  assert.deepStrictEqual(
    rowsOf(part, "stages").map(([name]) => name),
    ["Place a", "Sales", "Place b", "Sales"]
  )
  assert.deepStrictEqual(
    rowsOf(part, "calendars")
      .map(([name]) => name)
      .toSorted(),
    ["Call", "Place a", "Visit (…ndar-1)", "Visit (…ndar-2)"]
  )
})

it("shows each location alone, with the rows of no other, beside all of them", { tags: ["slow"] }, async () => {
  const statements = [
    ...withLocation,
    `INSERT INTO bi.fct_opportunity SELECT 'Sales', 'New', 1, 'USD', 5, true, false, false, NULL, l, 'p' FROM (SELECT unnest(['a', 'b', 'b']) AS l)`,
    `INSERT INTO bi.fct_contact_acquisition SELECT 'Search', DATE '2026-11-20', 'b' FROM range(7)`,
    "CREATE OR REPLACE TABLE meta.watermarks AS SELECT 'contacts' AS resource, unnest(['a', 'b']) AS location_id, now() AS complete_at"
  ]
  const part = await partOf(["a", "b", "c"], ...statements)
  const parts = (index: number) =>
    Array.from(
      part.matchAll(new RegExp(`<div class="place place-${index}">(.*?)</div>\n`, "gs")),
      ([, one]) => one
    ).join()
  assert.deepStrictEqual(
    ["stages", "place-1-stages", "place-2-stages"].map((id) => rowsOf(part, id).map(([name, , n]) => [name, n])),
    [
      [
        ["Place b", undefined],
        ["Sales", "2"],
        ["Place a", undefined],
        ["Sales", "1"]
      ],
      [["Sales", "1"]],
      [["Sales", "2"]]
    ]
  )
  assert.deepStrictEqual(
    rowsOf(part, "places").map(([name, open, won]) => [name, open, won]),
    [
      ["Place a", "USD 5", "0"],
      ["Place b", "USD 10", "0"],
      ["Place c", "–", "0"]
    ]
  )
  assert.include(textOf(parts(2)), "7 contacts were created since")
  assert.include(textOf(parts(1)), "No contact was created in the last 13 months.")
  assert.include(
    textOf(parts(3)),
    "It is not known whether a contact was created in the last 13 months: contacts was never read completely."
  )
  const ids = Array.from(part.matchAll(/ id="([^"]*)"/g), ([, id]) => id)
  assert.strictEqual(new Set(ids).size, ids.length)
  const many = await partOf(
    Array.from({ length: 70 }, (_, index) => `l${index}`),
    ...statements
  )
  assert.deepStrictEqual(
    [60, 61].map((index) => many.includes(`"place place-${index}"`)),
    [true, false]
  )
  assert.include(textOf(many), "Figures of 60 of 70 locations")
})
