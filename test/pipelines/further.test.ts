/** The lists that no account has shown yet: what they have arrives, and an account without them is a complete one. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { secretText } from "../../sandbox/families/further/seeded-documents.ts"
import { discover } from "../../src/catalog/discover.ts"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { type Account, discard, openAccount, openAlone, usualScale } from "../support/account.ts"
import { differences, furtherTables, query } from "../support/compare.ts"
import { acceleratedClock } from "../support/clock.ts"
import { placesOf } from "../support/every-byte.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type Row, list } from "./records.ts"

const unproven = (await discover()).resources.filter((one) => one.unproven)
const plain = unproven
  .filter(({ kind, singleReads }) => kind === "list" || singleReads === undefined)
  .map(({ table }) => table)
const only = ["--only", [...plain, "object_fields"].join(",")]

/** Of a list of statuses, the last one counts. */
const asStored = (record: Row): Row =>
  Array.isArray(record["status"]) ? { ...record, status: record["status"].at(-1), statuses: record["status"] } : record

describe("the further lists of an account that has them", () => {
  let account: Account
  beforeAll(async () => {
    account = await openAccount(...usualScale)
    const ran = await account.sync(...only)
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.notInclude(ran.stdout, "with warnings")
  })
  afterAll(() => discard(account))
  const ask = (sql: string) => query(account.warehouse, sql)

  it.each(Object.entries(furtherTables))("%s equal the service, value by value", async (collection, table) => {
    const records = (await account.service.records(collection)).map(asStored)
    assert.isNotEmpty(records)
    assert.deepStrictEqual((await differences(account.warehouse, table, records)).slice(0, 10), [])
  })

  it("the values of records have their fields, and the removed reasons say so", async () => {
    const records = (await account.service.records("object_records?form=list")) as ReadonlyArray<Row>
    const sent = records.flatMap(({ id, objectKey, properties }) =>
      Object.entries(properties as Row).flatMap(([field, value]) => {
        const key = `${String(objectKey).replace("custom_objects.", "")}.${field}`
        const amount = value as { readonly currency?: unknown; readonly value?: unknown }
        const parts = amount.currency
          ? [
              [key, amount.value],
              [`${key}_currency`, amount.currency]
            ]
          : [[key, value]]
        return parts.map((part) => JSON.stringify([id, ...part]))
      })
    )
    const stored = await ask("SELECT object_record_id AS id, field, value FROM crm.object_record_values")
    assert.deepStrictEqual(
      stored.map(({ id, field, value }) => JSON.stringify([id, field, JSON.parse(String(value))])).sort(),
      sent.sort()
    )
    const wide = await ask(
      `SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_name = 'object_records_wide_project'`
    )
    const typeOf = new Map(wide.map(({ name, type }) => [name, type]))
    assert.deepStrictEqual(
      ["contract_value", "contract_value_currency", "start", "materials", "plans"].map((column) => typeOf.get(column)),
      ["DECIMAL(38,7)", "VARCHAR", "DATE", "VARCHAR[]", "JSON"]
    )
    const tables = await ask(
      "SELECT table_name AS name FROM information_schema.tables WHERE starts_with(table_name, 'object_records_wide') ORDER BY ALL"
    )
    const ofObjects = Object.groupBy(records, ({ objectKey }) => String(objectKey).replace("custom_objects.", ""))
    assert.includeMembers(
      tables.map(({ name }) => name),
      Object.keys(ofObjects).map((object) => `object_records_wide_${object}`)
    )
    for (const { name } of tables) {
      const own = ofObjects[String(name).replace("object_records_wide_", "")] ?? []
      assert.sameMembers(
        (await ask(`SELECT id FROM crm.${String(name)}`)).map(({ id }) => id),
        own.map(({ id }) => id)
      )
    }
    const one = await sluice(
      ["publish", "--stdout", "object_records_wide_project", "--format", "ndjson"],
      account.environment
    )
    assert.strictEqual(one.stdout.trim().split("\n").length, ofObjects["project"]!.length, one.stderr)
    const none = await sluice(["publish", "--stdout", "object_records_wide"], account.environment)
    assert.strictEqual(none.code, 2)
    assert.match(none.stderr, /each object has a table of its own: .*object_records_wide_project/)
    const book = join(newFolder(), "records.xlsx")
    const sheets = await sluice(["export", "excel", book, "--only", "object_records_wide"], account.environment)
    assert.strictEqual(sheets.code, 0, sheets.stderr)
    const owners = records.flatMap(({ id, owner }) => list(owner).map((user) => `${String(id)} ${String(user)}`))
    const found = await ask("SELECT object_record_id || ' ' || user_id AS one FROM crm.object_record_owners")
    assert.sameMembers(
      found.map(({ one }) => one),
      owners
    )
    const removed = await ask("SELECT name FROM crm.lost_reasons WHERE deleted AND _deleted_at IS NULL")
    assert.lengthOf(removed, 2)
  })
})

it.each([1, 3, 7])("are read to their ends with pages cut to %i records", { tags: ["slow"] }, async (cut) => {
  const account = await openAlone([...plain, "object_fields"].join(","), "--cut-limit", String(cut))
  onTestFinished(() => discard(account))
  const ran = await account.sync()
  assert.strictEqual(ran.code, 0, ran.stderr)
  for (const [collection, table] of Object.entries(furtherTables)) {
    const records = (await account.service.records(collection)).map(asStored)
    assert.deepStrictEqual((await differences(account.warehouse, table, records)).slice(0, 3), [], table)
  }
})

describe("what takes a request for each row", () => {
  const offers = unproven.filter(({ singleReads }) => singleReads !== undefined).map(({ table }) => table)
  let account: Account
  beforeAll(async () => {
    account = await openAlone([...offers, ...plain, "users,calendars,appointments,email_campaigns,workflows"].join(","))
    const config = join(newFolder(), "sluice.toml")
    writeFileSync(config, offers.map((table) => `[tables.${table}]\ndetails = "night"\n`).join(""))
    const ran = await sluice(["sync", "--config", config], account.environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.notMatch(ran.stderr, /level=warn|incomplete/)
  })
  afterAll(() => discard(account))
  const ask = (sql: string) => query(account.warehouse, sql)

  it.each([
    "blocked_slots",
    "appointment_notes",
    "schedules",
    "social_queue_items",
    "conversation_agent_actions",
    "knowledge_base_faqs",
    "knowledge_base_pages"
  ])("%s equal the service, value by value", async (table) => {
    const records = await account.service.records(table)
    assert.isNotEmpty(records)
    assert.deepStrictEqual((await differences(account.warehouse, table, records)).slice(0, 10), [])
  })

  it("statistics have the numbers of each campaign that has some", async () => {
    const sent = (await account.service.records("email_statistics")) as ReadonlyArray<Row>
    const stored = await Promise.all(
      ["workflow_campaign_statistics", "bulk_email_campaign_statistics", "email_campaign_statistics"].map((table) =>
        ask(`SELECT source, source_id AS id, opened, open_rate::DOUBLE AS rate FROM crm.${table}`)
      )
    )
    const lineOf = (...all: ReadonlyArray<unknown>) => all.map(String).join(" ")
    const expected = sent.map(({ source, sourceId, stats }) =>
      lineOf(source, sourceId, (stats as Row)["opened"], (stats as Row)["openRate"])
    )
    const found = stored.flat().map(({ source, id, opened, rate }) => lineOf(source, id, opened, rate))
    // Nothing is asked for drafts, and for what is still to be sent.
    assert.isAbove(found.length, expected.length / 2)
    assert.includeMembers(expected, found)
  })

  it("campaigns have their steps, senders and texts", async () => {
    const sent = (await account.service.records("workflow_campaigns")) as ReadonlyArray<Row>
    const steps = await ask("SELECT id, subject, from_email FROM crm.workflow_campaign_steps")
    assert.sameDeepMembers(
      [...steps],
      sent.flatMap(({ subSources }) =>
        list(subSources).map(({ fromEmail, id, subject }) => ({ id, subject, from_email: fromEmail }))
      )
    )
    const [{ n }] = (await ask(
      "SELECT count(*)::INT AS n FROM crm.bulk_email_campaigns WHERE reply_to_address IS NULL OR email_metadata_from IS NULL"
    )) as [Row]
    assert.strictEqual(n, 0)
  })

  it("rooms, bookings and what documents carry arrive without what is secret", async () => {
    const resources = (await account.service.records("calendar_resources")) as ReadonlyArray<Row>
    assert.sameMembers(
      (await ask("SELECT name FROM crm.calendar_resources")).map(({ name }) => name),
      resources.map(({ name }) => name)
    )
    const numbers = (await account.service.records("phone_numbers")) as ReadonlyArray<Row>
    assert.sameMembers(
      (await ask("SELECT phone_number FROM crm.phone_numbers")).map((row) => row["phone_number"]),
      numbers.map(({ phoneNumber }) => phoneNumber)
    )
    const bookings = (await account.service.records("service_bookings")) as ReadonlyArray<Row>
    assert.deepStrictEqual(await ask("SELECT count(*)::INT AS n FROM crm.service_bookings"), [{ n: bookings.length }])
    assert.deepStrictEqual(await ask("SELECT count(*)::INT AS n FROM crm.service_booking_items"), [
      { n: bookings.flatMap(({ services }) => list(services)).length }
    ])
    const documents = (await account.service.records("documents")) as ReadonlyArray<Row>
    assert.include(JSON.stringify(documents), secretText)
    assert.deepStrictEqual(
      await ask("SELECT count(*)::INT AS n FROM crm.document_recipients WHERE email IS NOT NULL"),
      [{ n: documents.flatMap(({ recipients }) => list(recipients)).length }]
    )
    const [{ values }] = (await ask(
      "SELECT list(DISTINCT value) AS values FROM crm.document_fields WHERE value IS NOT NULL"
    )) as [Row]
    assert.deepStrictEqual(values, ["Plot 12"])
    const [{ whole }] = (await ask("SELECT any_value(action_parameters) AS whole FROM crm.voice_agent_actions")) as [
      Row
    ]
    assert.include(String(whole), "triggerPrompt")
  })

  it("no file of the output has a secret of the service", async () => {
    await sluice(["publish"], account.environment)
    assert.deepStrictEqual([...(await placesOf([account.output], new RegExp(secretText, "g")))], [])
  })
})

describe("an account without them", () => {
  const sentIn = (requests: Readonly<Record<string, number>>, scopes?: ReadonlyArray<string>) =>
    unproven
      .filter(({ scope }) => scopes === undefined || scopes.includes(scope))
      .flatMap(({ full = [] }) => full.map(({ request }) => request))
      .map(({ method, path }) => requests[`${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`] ?? 0)
  const statsOf = async ({ service }: Account, scopes?: ReadonlyArray<string>) => {
    const { requestsByOperation } = await service.stats()
    await service.post("stats/reset", {})
    return sentIn(requestsByOperation, scopes)
  }
  /** An account of which commands know these lists only. */
  const alone = (...flags: ReadonlyArray<string>) =>
    openAlone(`locations,${plain.join(",")}`, "--contacts", "5", ...flags)
  const syncAll = async (account: Account, ...flags: ReadonlyArray<string>) => {
    const ran = await sluice(["sync", ...flags], account.environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.notMatch(ran.stderr, /level=warn|incomplete/)
  }

  const once = "is complete, and asks once a month: %s"
  it.each(["missing"])(once, (variant) => asksOnce(variant))
  it.each(["empty", "other form"])(once, { tags: ["slow"] }, (variant) => asksOnce(variant))
  const asksOnce = async (variant: string) => {
    const account = await alone("--quirk", `furtherLists=${variant}`)
    onTestFinished(() => discard(account))
    await syncAll(account)
    // The removed reasons are a second list.
    assert.isAtMost(Math.max(...(await statsOf(account))), variant === "empty" ? 2 : 1)
    const sql = "SELECT status, reason FROM meta.coverage WHERE operation = 'GET /businesses/'"
    const [{ reason, status }] = (await query(account.warehouse, sql)) as [Row]
    await syncAll(account)
    assert.strictEqual(Math.max(...(await statsOf(account))), 0)
    assert.deepStrictEqual(await query(account.warehouse, sql), [{ reason, status }])
    assert.strictEqual(status, variant === "empty" ? "read" : "not offered by this account")
    assert.match(
      String(reason),
      variant === "empty" ? /^No account has shown it yet/ : /^not offered by this account: /
    )
  }

  it("is complete without the scopes, and reads what it has once the token may", { tags: ["slow"] }, async () => {
    const account = await openAlone(
      "locations,businesses,lost_reasons,voice_calls,object_records,objects",
      "--contacts",
      "5"
    )
    onTestFinished(() => discard(account))
    const scopes = new Set(unproven.map(({ scope }) => scope))
    const others = ["opportunities.readonly", "calendars.readonly", "any", "locations.readonly"]
    const removed = [...scopes].filter((scope) => !others.includes(scope))
    for (const scope of removed) await account.service.post("token", { removeScope: scope })
    await syncAll(account)
    assert.strictEqual(Math.max(...(await statsOf(account, removed))), 1)
    for (const scope of removed) await account.service.post("token", { addScope: scope })
    await syncAll(account)
    assert.lengthOf(await query(account.warehouse, "FROM crm.businesses"), 0)
    await syncAll(account, "--again=lists")
    assert.isNotEmpty(await query(account.warehouse, "FROM crm.businesses"))
    // Since it has given a row, a refusal is what it is elsewhere.
    await account.service.post("token", { removeScope: "businesses.readonly" })
    const refused = await sluice(["sync"], account.environment)
    assert.strictEqual(refused.code, 3)
    assert.match(refused.stderr, /businesses: refused by the service/)
  })

  it("sends no request for what the settings leave out", async () => {
    const account = await alone()
    onTestFinished(() => discard(account))
    await sluice(["sync"], { ...account.environment, SLUICE_FURTHER_LISTS: "false" })
    assert.strictEqual(Math.max(...(await statsOf(account))), 0)
  })

  it("takes removed reasons for what they are, also where the service returns all of them", async () => {
    const account = await openAlone("lost_reasons", "--quirk", "deletedReasons=also")
    onTestFinished(() => discard(account))
    await syncAll(account)
    const rows = await query(
      account.warehouse,
      "SELECT deleted, count(*)::INT AS n FROM crm.lost_reasons GROUP BY ALL ORDER BY ALL"
    )
    assert.deepStrictEqual(rows, [
      { deleted: false, n: 4 },
      { deleted: true, n: 2 }
    ])
  })
})

it.each(["honoured", "ignored", "refused"])("finds changed records of objects, with filters %s", async (variant) => {
  const account = await openAlone("objects,businesses,object_records", "--quirk", `objectFilters=${variant}`)
  onTestFinished(() => discard(account))
  const sync = () => sluice(["sync"], account.environment)
  assert.strictEqual((await sync()).code, 0)
  const records = (await account.service.records("object_records?form=list")) as ReadonlyArray<Row>
  const [one, gone] = records as [Row, Row]
  const { id } = one
  await account.service.post("edit", {
    collection: "object_records",
    id,
    fields: { updatedAt: new Date().toISOString(), properties: { site_code: "new" } }
  })
  await account.service.post("remove", { collection: "object_records", id: gone["id"] })
  const ran = await sync()
  assert.strictEqual(ran.code, 0, ran.stderr)
  assert.notMatch(ran.stderr, /level=warn/)
  const after = await account.service.records("object_records?form=list")
  assert.deepStrictEqual(await differences(account.warehouse, "object_records", after), [])
  const values = await query(
    account.warehouse,
    `SELECT field, value_text AS value FROM crm.object_record_values WHERE object_record_id = '${String(id)}'`
  )
  assert.deepStrictEqual(values, [
    { field: `${String(one["objectKey"]).replace("custom_objects.", "")}.site_code`, value: "new" }
  ])
})

it("offers what takes a request for each row with its price, and reads it once the settings say so", async () => {
  const account = await openAlone("objects,businesses,object_records,associations,record_relations")
  onTestFinished(() => discard(account))
  await sluice(["sync"], account.environment)
  const planned = await sluice(["plan"], account.environment)
  const records = await account.service.records("object_records")
  const said = planned.stderr.replaceAll(/\s+/g, " ")
  assert.include(said, `record_relations (up to ${records.length} requests)`)
  assert.match(said, /To read one, set details = "night" in \[tables\.\w+\]\./)
  const config = join(newFolder(), "sluice.toml")
  writeFileSync(config, '[tables.record_relations]\ndetails = "night"\n')
  assert.strictEqual((await sluice(["sync", "--config", config], account.environment)).code, 0)
  const rows = await query(account.warehouse, "SELECT DISTINCT id FROM crm.record_relations ORDER BY ALL")
  const sent = await account.service.records("record_relations")
  assert.deepStrictEqual(
    rows.map(({ id }) => id),
    sent.map(({ id }) => String(id)).sort()
  )
})

describe("objects that the service lists", () => {
  const tables = "objects,businesses,object_fields,object_folders,object_records"

  it("may have no records of their own, which is no warning", async () => {
    const account = await openAlone(tables, "--quirk", "refusedRecords=business")
    onTestFinished(() => discard(account))
    const ran = await sluice(["sync"], account.environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.notMatch(ran.stderr, /level=warn|WARN|with warnings/)
    const [{ n }] = (await query(account.warehouse, "SELECT count(*)::INT AS n FROM crm.object_records")) as [Row]
    assert.isAbove(Number(n), 0)
  })

  it("that the account made have records, so a refusal of one is said, and the others are read", async () => {
    const account = await openAlone(tables, "--quirk", "refusedRecords=custom_objects.boats")
    onTestFinished(() => discard(account))
    const ran = await sluice(["sync"], account.environment)
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.match(ran.stderr + ran.stdout, /custom_objects\.boats could not be read: .*422/)
    const sent = await account.service.records("object_records")
    assert.deepStrictEqual(await query(account.warehouse, "SELECT count(*)::INT AS n FROM crm.object_records"), [
      { n: sent.length }
    ])
  })

  it("say nothing of what other settings name: a recurring task that is not there is told", async () => {
    const account = await openAlone(`${tables},recurring_tasks`)
    onTestFinished(() => discard(account))
    const [task] = (await account.service.records("recurring_tasks")) as ReadonlyArray<Row>
    const ran = await sluice(["sync"], {
      ...account.environment,
      SLUICE_RECURRING_TASK_IDS: `${String(task!["id"])},000000000000000000000000`
    })
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.match(ran.stderr + ran.stdout, /000000000000000000000000, named in the settings, does not exist/)
  })

  it("are not known if their list fails, so their records are not complete", async () => {
    const account = await openAlone(tables, "--faults", '[{"kind":"500","match":"/objects/"}]')
    onTestFinished(() => discard(account))
    const ran = await sluice(["sync"], account.environment, { overrides: acceleratedClock() })
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.match(ran.stderr + ran.stdout, /object_records.*incomplete/)
  })
})
