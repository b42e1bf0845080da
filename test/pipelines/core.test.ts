/** The core tables compared with the service, value by value, without the definitions. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { emails } from "../../pipelines/conversations/emails.ts"
import { type Account, openAccount } from "../support/account.ts"
import { differences, query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"
import { sluice } from "../support/sluice.ts"
import { type Shown, columns, text } from "./records.ts"

const dayMs = 86_400_000
const freeSlotDays = 40

/** Tables whose plain values are compared by the naming rules; the others are compared with explicit rows. */
const plainTables =
  "locations users custom_fields object_fields object_folders workflows calendars appointments messages emails"
const otherTables =
  "location_timezones messaging_providers saved_templates saved_template_attachments recurring_tasks free_slots " +
  "custom_field_options object_field_options user_permissions user_scopes user_phones user_locations " +
  "email_recipients email_attachments transcript_sentences recordings"

describe("the core tables", () => {
  let account: Account
  let [startedAt, slotRequests] = [0, 0]
  /** The records of the service, with U+FFFD for lone surrogates. */
  const recordsOf = async (collection: string) => {
    const records = JSON.stringify(await account.service.records(collection))
    const wellFormed = (_: string, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value)
    return JSON.parse(records, wellFormed) as ReadonlyArray<Shown>
  }
  const call = async (path: string) => (await account.service.call("GET", path)) as Shown

  beforeAll(async () => {
    // Conversations with the same last date have to fit on one page, or some cannot be read.
    const world = "--world nasty --contacts 200 --appointments 3000 --conversations 90 --messages 1500"
    account = await openAccount(...world.split(" "), "--quirk", "contactShape=reduced")
    const optionalSettings = {
      SLUICE_OBJECT_KEYS: "custom_objects.project,business",
      SLUICE_RECURRING_TASK_IDS: (await recordsOf("recurringTasks")).map(({ id }) => id).join(),
      SLUICE_FREE_SLOT_DAYS: String(freeSlotDays)
    }
    startedAt = Date.now()
    const only = ["--only", "account,calendars,conversations,contacts,tasks"]
    const ran = await sluice(["sync", ...only], { ...account.environment, ...optionalSettings })
    assert.strictEqual(ran.code, 0, ran.stderr)
    const { requestsByOperation } = await account.service.stats()
    slotRequests = requestsByOperation["GET /calendars/:calendarId/free-slots"] ?? 0
  })
  afterAll(() => account.service.stop())

  /** Asserts that the table has exactly the expected rows, in any order, in the columns of these rows. There must be one. */
  const assertRows = async (table: string, expected: ReadonlyArray<Shown>, where = "true") => {
    assert.isNotEmpty(expected, table)
    const names = Object.keys(expected[0]!).map((column) => `"${column}"`)
    const rows = await query(account.warehouse, `SELECT ${names.join()} FROM crm.${table} WHERE ${where}`)
    assert.deepStrictEqual(rows.map(text).sort(), expected.map(text).sort(), table)
  }

  /** The same for a child table, from the items of each record. */
  const assertItems = (
    table: string,
    parent: string,
    records: ReadonlyArray<Shown>,
    itemsOf: (record: Shown) => ReadonlyArray<Shown>
  ) => {
    const rows = records.flatMap((record) => itemsOf(record).map((item) => ({ [parent]: record["id"], ...item })))
    return assertRows(table, rows)
  }

  it.each(plainTables.split(" "))("%s has each plain value of each record", async (table) => {
    const records = await recordsOf(table === "object_folders" ? "folders" : table)
    assert.isNotEmpty(records)
    assert.deepStrictEqual(await differences(account.warehouse, table, records), [])
  })

  it("tasks includes tasks whose flag is neither open nor completed", async () => {
    const records = await recordsOf("tasks")
    assert.isTrue(records.some(({ completed }) => typeof completed === "number"))
    await assertRows(
      "tasks",
      records.map((record) => columns(record, "id title contactId"))
    )
  })

  it("messages includes the types that the export leaves out", async () => {
    const notExported = ["TYPE_GROUP_SMS", "TYPE_SMS_REVIEW_REQUEST"]
    const records = (await recordsOf("messages")).filter(({ messageType }) => notExported.includes(messageType))
    assert.deepStrictEqual([...new Set(records.map(({ messageType }) => messageType))].sort(), notExported)
    const rows = records.map((record) => columns(record, "id conversationId messageType"))
    await assertRows("messages", rows, "message_type IN ('TYPE_GROUP_SMS', 'TYPE_SMS_REVIEW_REQUEST')")
  })

  it("location_timezones and messaging_providers have the records of their lists", async () => {
    const path = `/locations/${account.service.locationId}`
    const { timezones } = await call(`${path}/timezones`)
    const zones = timezones.map((timezone: string) => ({ timezone }))
    await assertRows("location_timezones", zones)
    const listed = ["SMS", "Email"].map(async (channel) => {
      const { conversationChannel } = await call(`${path}/conversationChannels/${channel}`)
      return conversationChannel[channel].map(({ conversationProvider }: Shown) => {
        const { _id, default: is_default, ...named } = conversationProvider
        return { id: _id, ...named, is_default, channel }
      })
    })
    await assertRows("messaging_providers", (await Promise.all(listed)).flat())
  })

  it("saved_templates has the templates with their files, and marks the deleted ones", async () => {
    const { locationId } = account.service
    const { templates } = await call(`/locations/${locationId}/templates?originId=${locationId}&deleted=true&limit=100`)
    const deleted = new Set(templates.map(({ id }: Shown) => id))
    const records = await recordsOf("templates")
    const rows = records.map((record) => ({
      ...columns(record, "id name type dateAdded"),
      ...columns(record["template"], "body subject html", "template_"),
      deleted: deleted.has(record["id"])
    }))
    await assertRows("saved_templates", rows)
    const deletedTemplates = rows.filter((row) => row.deleted)
    await assertRows("saved_templates", deletedTemplates, "_deleted_at IS NOT NULL")
    await assertItems("saved_template_attachments", "saved_template_id", records, ({ template, urlAttachments = [] }) =>
      [
        ...template.attachments.map((url: string) => ({ kind: "attachments", url })),
        ...urlAttachments.map((url: string) => ({ kind: "urlAttachments", url }))
      ].map((file, position) => ({ ...file, position }))
    )
  })

  it("choice fields have their options", async () => {
    await assertItems(
      "custom_field_options",
      "custom_field_id",
      await recordsOf("customFields"),
      ({ picklistOptions = [] }) => picklistOptions.map((option: string, position: number) => ({ option, position }))
    )
    await assertItems("object_field_options", "object_field_id", await recordsOf("objectFields"), ({ options = [] }) =>
      options.map((option: Shown) => columns(option, "key label url"))
    )
  })

  it("recurring_tasks has the tasks that the settings name, with their schedules", async () => {
    const own = "id title description contactId assignedTo totalOccurrence deleted createdAt updatedAt"
    const rule =
      "intervalType interval startDate endDate dueAfterSeconds dayOfMonth dayOfWeek monthOfYear count createTaskIfOverDue"
    const rows = (await recordsOf("recurringTasks")).map((task) => ({
      ...columns(task, own),
      ...columns(task["rruleOptions"], rule, "rrule_")
    }))
    await assertRows("recurring_tasks", rows)
  })

  it("_extra is empty, except for the undocumented field of contacts", async () => {
    for (const table of `${plainTables} ${otherTables}`.split(" ")) {
      const rows = await query(account.warehouse, `SELECT * FROM crm.${table}`)
      assert.isNotEmpty(rows, table)
      const filled = rows.filter(({ _extra }) => _extra !== null).map(({ _extra }) => _extra)
      assert.deepStrictEqual(filled, [], table)
    }
    const keys = await query(
      account.warehouse,
      "SELECT DISTINCT unnest(json_keys(_extra)) AS field FROM crm.contacts WHERE _extra IS NOT NULL"
    )
    assert.deepStrictEqual(keys, [{ field: "leadScoreBeta" }])
  })

  it("child tables have the users, members, attributions, emails and followers, and appointments their creators", async () => {
    await assertItems("appointment_users", "appointment_id", await recordsOf("appointments"), ({ users = [] }) =>
      users.map((user: string) => ({ user_id: user }))
    )
    await assertItems("calendar_members", "calendar_id", await recordsOf("calendars"), ({ teamMembers }) =>
      teamMembers.map((member: Shown) => columns(member, "userId priority isPrimary"))
    )
    await assertItems("contact_attributions", "contact_id", await recordsOf("contacts"), ({ attributions = [] }) =>
      attributions.map((visit: Shown, position: number) => ({
        position,
        session_source: visit["utmSessionSource"],
        ad_id: visit["utmAdId"],
        ...columns(visit, "medium utmCampaignId adSource isFirst isLast dateAdded")
      }))
    )
    await assertItems("message_emails", "message_id", await recordsOf("messages"), ({ meta }) =>
      (meta?.email?.messageIds ?? []).map((email: string) => ({ email_id: email }))
    )
    await assertItems("conversation_followers", "conversation_id", await recordsOf("conversations"), ({ followers }) =>
      followers.map((user: string) => ({ user_id: user }))
    )
    await assertRows(
      "appointments",
      (await recordsOf("appointments")).map(({ id, createdBy }) => ({
        id,
        created_by_id: createdBy.userId,
        created_by_source: createdBy.source
      }))
    )
  })

  it("tasks that the service sends as deleted are marked as deleted", async () => {
    const deleted = (await recordsOf("tasks")).filter((task) => task["deleted"])
    await assertRows(
      "tasks",
      deleted.map(({ id }) => ({ id })),
      "_deleted_at IS NOT NULL"
    )
  })

  it("free_slots has each slot of each window once", async () => {
    const [hourMs, longestMs, end] = [3_600_000, 31 * dayMs, startedAt + freeSlotDays * dayMs]
    const slotsIn = async (calendar: string, from: number, to: number) => {
      const answer = await call(`/calendars/${calendar}/free-slots?startDate=${from}&endDate=${to}`)
      return Object.entries(answer).flatMap(([date, { slots }]) =>
        slots.map((slot: string) => ({ calendar_id: calendar, date, starts_at: new Date(slot).toISOString() }))
      )
    }
    const seam = startedAt + longestMs
    const windows = (await recordsOf("calendars")).flatMap(({ id }) => [
      slotsIn(id, startedAt, seam),
      slotsIn(id, seam, end)
    ])
    assert.strictEqual(slotRequests, windows.length, "no window is rejected")
    const slots = (await Promise.all(windows)).flat()
    // The run began after the test, and slots expire during the requests, so slots at the edges of a window may differ.
    const edges = [Date.now(), seam, end]
    const isCertain = ({ starts_at }: Shown) => edges.every((edge) => Math.abs(Date.parse(starts_at) - edge) > hourMs)
    const awayFromEdges = edges.map((edge) => `abs(epoch_ms(starts_at) - ${edge}) > ${hourMs}`)
    await assertRows("free_slots", slots.filter(isCertain), awayFromEdges.join(" AND "))
  })

  it("the ids of emails are found in messages, also one level deeper, and nowhere else", async () => {
    const named = `SELECT ${emails.childOf!.ids} AS id FROM (VALUES ('{"email": {"messageIds": ["a", "b"]}}'::JSON),
      ('{"email": {"email": {"messageIds": ["c"]}}}'), ('{"callStatus": "completed"}'), (NULL)) AS messages (meta)`
    const rows = await query(account.warehouse, `SELECT id FROM (${named}) WHERE id <> '' ORDER BY id`)
    assert.deepStrictEqual(rows, [{ id: "a" }, { id: "b" }, { id: "c" }])
  })

  it("emails have their recipients by kind, and their attachments", async () => {
    const records = await recordsOf("emails")
    const kinds = ["to", "cc", "bcc"]
    for (const kind of kinds) assert.include(records.flatMap(Object.keys), kind)
    await assertItems("email_recipients", "email_id", records, (email) =>
      kinds.flatMap((kind) => (email[kind] ?? []).map((address: string) => ({ kind, address })))
    )
    await assertItems("email_attachments", "email_id", records, ({ attachments }) =>
      attachments.map((url: string, position: number) => ({ url, position }))
    )
  })

  it("transcript_sentences has each sentence of each transcript", async () => {
    const own = "mediaChannel sentenceIndex startTime endTime transcript confidence"
    const rows = (await recordsOf("transcripts")).flatMap(({ messageId, sentences }) =>
      sentences.map((sentence: Shown) => ({ message_id: messageId, ...columns(sentence, own) }))
    )
    await assertRows("transcript_sentences", rows)
  })

  it("recordings has a file for each recorded call, with exactly the bytes that the service sends", async () => {
    const { service, output, warehouse } = account
    const recorded = await Promise.all(
      (await recordsOf("transcripts")).map(async ({ messageId }) => {
        const path = `/conversations/messages/${messageId}/locations/${service.locationId}/recording`
        const headers = { authorization: `Bearer ${service.token}`, version: "v3" }
        const audio = Buffer.from(await (await fetch(service.url + path, { headers })).arrayBuffer())
        return { message_id: messageId, bytes: audio.length, sha256: sha256Of(audio), content_type: "audio/x-wav" }
      })
    )
    await assertRows("recordings", recorded)
    for (const { path, sha256 } of await query(warehouse, "SELECT path, sha256 FROM crm.recordings"))
      assert.strictEqual(sha256Of(readFileSync(join(output, String(path)))), sha256)
  })

  it("users have their permissions, scopes, phones and locations", async () => {
    const records = await recordsOf("users")
    await assertItems("user_permissions", "user_id", records, ({ permissions }) =>
      Object.entries(permissions).map(([permission, enabled]) => ({ permission, enabled }))
    )
    await assertItems("user_scopes", "user_id", records, ({ scopes, scopesAssignedToOnly }) => [
      ...scopes.map((scope: string) => ({ scope, assigned_only: false })),
      ...scopesAssignedToOnly.map((scope: string) => ({ scope, assigned_only: true }))
    ])
    await assertItems("user_phones", "user_id", records, ({ lcPhone = {} }) =>
      Object.entries(lcPhone).map(([phone_location_id, phone]) => ({ phone_location_id, phone }))
    )
    await assertItems("user_locations", "user_id", records, ({ roles }) =>
      roles.locationIds.map((member_location_id: string) => ({ member_location_id }))
    )
  })

  it("contacts have their names as typed, although the search returns them in lower case", async () => {
    const records = await recordsOf("contacts")
    const listed = await account.service.records("contacts?form=list")
    assert.isTrue(listed.some(({ firstName }, index) => firstName !== records[index]!["firstName"]))
    const names = records.map((record) => columns(record, "id firstName lastName name"))
    await assertRows("contacts", names)
  })

  it("nothing is rejected in tables without invalid data", async () => {
    // Only these tables have records without an id, duplicate tags, or numbers as flags.
    const nasty = "regexp_matches(table_name, '^(contact|conversation|message)|^(users|tasks)$')"
    const tables = ["rejected_records", "rejected_values"].map((table) => `SELECT table_name FROM meta.${table}`)
    const [records, values] = tables
    const rejects = `SELECT DISTINCT table_name FROM (${records} UNION ALL ${values} WHERE reason NOT LIKE '%stored as U+FFFD') WHERE`
    assert.isNotEmpty(await query(account.warehouse, `${rejects} ${nasty}`))
    assert.deepStrictEqual(await query(account.warehouse, `${rejects} NOT ${nasty}`), [])
  })

  it(
    "contacts have the companies and DND settings that the search leaves out if a setting requests each contact",
    { tags: ["slow"] },
    async () => {
      const output = await newOutput()
      const environment = { ...account.environment, SLUICE_OUTPUT: output, SLUICE_CONTACT_DETAILS: "true" }
      const warehouse = join(output, "warehouse.duckdb")
      const contacts = await recordsOf("contacts")
      const settings = contacts.flatMap(({ id, dndSettings = {} }) =>
        Object.entries(dndSettings).flatMap(([channel, setting]) => (setting === null ? [] : [[id, channel]]))
      )
      assert.isNotEmpty(settings)
      for (const again of [[], ["--again=all"]]) {
        const ran = await sluice(["sync", "--only", "contacts", ...again], environment)
        assert.strictEqual(ran.code, 0, ran.stderr)
        const companies = await query(warehouse, "SELECT id, company_name FROM crm.contacts")
        assert.sameDeepMembers(
          companies.map(Object.values),
          contacts.map(({ id, companyName = null }) => [id, companyName])
        )
        const rows = await query(warehouse, "SELECT contact_id, channel FROM crm.contact_dnd_settings")
        assert.sameDeepMembers(rows.map(Object.values), settings)
      }
      const [read] = await query(
        warehouse,
        "SELECT status FROM meta.coverage WHERE operation = 'GET /contacts/{contactId}'"
      )
      // The account has a contact twice, with different values.
      assert.strictEqual(read!["status"], "complete_with_warnings")
    }
  )

  it("tables that a setting enables are empty without the setting", async () => {
    const output = await newOutput()
    const only = "recurring_tasks,free_slots"
    const ran = await sluice(["sync", "--only", only], { ...account.environment, SLUICE_OUTPUT: output })
    assert.strictEqual(ran.code, 0, ran.stderr)
    for (const table of only.split(","))
      assert.deepStrictEqual(await query(join(output, "warehouse.duckdb"), `FROM crm.${table}`), [])
  })
})

const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")
