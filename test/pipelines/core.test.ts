/** The core account's tables, value by value, against what the service holds; the comparison knows no definition. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { emails } from "../../pipelines/conversations/emails.ts"
import { type Account, openAccount } from "../support/account.ts"
import { differences, query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type Shown, columns, text } from "./records.ts"

const dayMs = 86_400_000
const freeSlotDays = 40

/** Tables whose plain values are compared by the naming rules; the others are compared with rows written out. */
const plainTables =
  "locations users custom_fields object_fields object_folders workflows calendars appointments messages emails"
const otherTables =
  "location_timezones messaging_providers saved_templates saved_template_attachments recurring_tasks free_slots " +
  "custom_field_options object_field_options user_permissions user_scopes user_phones user_locations " +
  "email_recipients email_attachments transcript_sentences recordings"

describe("the core account", () => {
  let account: Account
  let [startedAt, slotRequests] = [0, 0]
  /** Half a surrogate pair is no text in any encoding and becomes U+FFFD. */
  const held = async (collection: string) => {
    const records = JSON.stringify(await account.service.records(collection))
    const wellFormed = (_: string, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value)
    return JSON.parse(records, wellFormed) as ReadonlyArray<Shown>
  }
  const call = async (path: string) => (await account.service.call("GET", path)) as Shown

  beforeAll(async () => {
    // More conversations with one last date than a page holds cannot all be read; these fit on one.
    const world = "--world nasty --contacts 200 --appointments 3000 --conversations 90 --messages 1500"
    account = await openAccount(...world.split(" "), "--quirk", "contactShape=reduced")
    const asked = {
      SLUICE_OBJECT_KEYS: "custom_objects.project,business",
      SLUICE_RECURRING_TASK_IDS: (await held("recurringTasks")).map(({ id }) => id).join(),
      SLUICE_FREE_SLOT_DAYS: String(freeSlotDays)
    }
    startedAt = Date.now()
    const only = ["--only", "account,calendars,conversations,contacts,tasks"]
    const ran = await sluice(["sync", ...only], { ...account.environment, ...asked })
    assert.strictEqual(ran.code, 0, ran.stderr)
    const { requestsByOperation } = await account.service.stats()
    slotRequests = requestsByOperation["GET /calendars/:calendarId/free-slots"] ?? 0
  })
  afterAll(() => account.service.stop())

  /** The table's rows, in the columns of the rows expected, are these in any order. Expecting nothing proves nothing. */
  const holds = async (table: string, expected: ReadonlyArray<Shown>, where = "true") => {
    assert.isNotEmpty(expected, table)
    const names = Object.keys(expected[0]!).map((column) => `"${column}"`)
    const rows = await query(account.warehouse, `SELECT ${names.join()} FROM crm.${table} WHERE ${where}`)
    assert.deepStrictEqual(rows.map(text).sort(), expected.map(text).sort(), table)
  }

  /** The same for a child table, from the items of each record. */
  const holdsItems = (
    table: string,
    parent: string,
    records: ReadonlyArray<Shown>,
    itemsOf: (record: Shown) => ReadonlyArray<Shown>
  ) => {
    const rows = records.flatMap((record) => itemsOf(record).map((item) => ({ [parent]: record["id"], ...item })))
    return holds(table, rows)
  }

  it.each(plainTables.split(" "))("%s holds each plain value of each record", async (table) => {
    const records = await held(table === "object_folders" ? "folders" : table)
    assert.isNotEmpty(records)
    assert.deepStrictEqual(await differences(account.warehouse, table, records), [])
  })

  it("tasks holds those too whose flag says neither open nor completed", async () => {
    const records = await held("tasks")
    assert.isTrue(records.some(({ completed }) => typeof completed === "number"))
    await holds(
      "tasks",
      records.map((record) => columns(record, "id title contactId"))
    )
  })

  it("messages holds the kinds that the export leaves out", async () => {
    const left = ["TYPE_GROUP_SMS", "TYPE_SMS_REVIEW_REQUEST"]
    const records = (await held("messages")).filter(({ messageType }) => left.includes(messageType))
    assert.deepStrictEqual([...new Set(records.map(({ messageType }) => messageType))].sort(), left)
    const rows = records.map((record) => columns(record, "id conversationId messageType"))
    await holds("messages", rows, "message_type IN ('TYPE_GROUP_SMS', 'TYPE_SMS_REVIEW_REQUEST')")
  })

  it("location_timezones and messaging_providers hold what their lists show", async () => {
    const path = `/locations/${account.service.locationId}`
    const { timezones } = await call(`${path}/timezones`)
    const zones = timezones.map((timezone: string) => ({ timezone }))
    await holds("location_timezones", zones)
    const listed = ["SMS", "Email"].map(async (channel) => {
      const { conversationChannel } = await call(`${path}/conversationChannels/${channel}`)
      return conversationChannel[channel].map(({ conversationProvider }: Shown) => {
        const { _id, default: is_default, ...named } = conversationProvider
        return { id: _id, ...named, is_default, channel }
      })
    })
    await holds("messaging_providers", (await Promise.all(listed)).flat())
  })

  it("saved_templates holds the live and, as deleted, the deleted ones, each with its files", async () => {
    const { locationId } = account.service
    const { templates } = await call(`/locations/${locationId}/templates?originId=${locationId}&deleted=true&limit=100`)
    const deleted = new Set(templates.map(({ id }: Shown) => id))
    const records = await held("templates")
    const rows = records.map((record) => ({
      ...columns(record, "id name type dateAdded"),
      ...columns(record["template"], "body subject html", "template_"),
      deleted: deleted.has(record["id"])
    }))
    await holds("saved_templates", rows)
    const gone = rows.filter((row) => row.deleted)
    await holds("saved_templates", gone, "_deleted_at IS NOT NULL")
    await holdsItems("saved_template_attachments", "saved_template_id", records, ({ template, urlAttachments = [] }) =>
      [
        ...template.attachments.map((url: string) => ({ kind: "attachments", url })),
        ...urlAttachments.map((url: string) => ({ kind: "urlAttachments", url }))
      ].map((file, position) => ({ ...file, position }))
    )
  })

  it("choice fields have their options", async () => {
    await holdsItems(
      "custom_field_options",
      "custom_field_id",
      await held("customFields"),
      ({ picklistOptions = [] }) => picklistOptions.map((option: string, position: number) => ({ option, position }))
    )
    await holdsItems("object_field_options", "object_field_id", await held("objectFields"), ({ options = [] }) =>
      options.map((option: Shown) => columns(option, "key label url"))
    )
  })

  it("recurring_tasks holds the tasks asked for with their schedules", async () => {
    const own = "id title description contactId assignedTo totalOccurrence deleted createdAt updatedAt"
    const rule =
      "intervalType interval startDate endDate dueAfterSeconds dayOfMonth dayOfWeek monthOfYear count createTaskIfOverDue"
    const rows = (await held("recurringTasks")).map((task) => ({
      ...columns(task, own),
      ...columns(task["rruleOptions"], rule, "rrule_")
    }))
    await holds("recurring_tasks", rows)
  })

  it("what no document names is in _extra, and nothing else is", async () => {
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

  it("appointments and calendars have their members, contacts their visits, and each says who made it", async () => {
    await holdsItems("appointment_users", "appointment_id", await held("appointments"), ({ users = [] }) =>
      users.map((user: string) => ({ user_id: user }))
    )
    await holdsItems("calendar_members", "calendar_id", await held("calendars"), ({ teamMembers }) =>
      teamMembers.map((member: Shown) => columns(member, "userId priority isPrimary"))
    )
    await holdsItems("contact_attributions", "contact_id", await held("contacts"), ({ attributions = [] }) =>
      attributions.map((visit: Shown, position: number) => ({
        position,
        session_source: visit["utmSessionSource"],
        ad_id: visit["utmAdId"],
        ...columns(visit, "medium utmCampaignId adSource isFirst isLast dateAdded")
      }))
    )
    await holdsItems("message_emails", "message_id", await held("messages"), ({ meta }) =>
      (meta?.email?.messageIds ?? []).map((email: string) => ({ email_id: email }))
    )
    await holdsItems("conversation_followers", "conversation_id", await held("conversations"), ({ followers }) =>
      followers.map((user: string) => ({ user_id: user }))
    )
    await holds(
      "appointments",
      (await held("appointments")).map(({ id, createdBy }) => ({
        id,
        created_by_id: createdBy.userId,
        created_by_source: createdBy.source
      }))
    )
  })

  it("what the service lists as deleted is marked so", async () => {
    const deleted = (await held("tasks")).filter((task) => task["deleted"])
    await holds(
      "tasks",
      deleted.map(({ id }) => ({ id })),
      "_deleted_at IS NOT NULL"
    )
  })

  it("free_slots holds each slot of each window once", async () => {
    const [hourMs, longestMs, end] = [3_600_000, 31 * dayMs, startedAt + freeSlotDays * dayMs]
    const slotsIn = async (calendar: string, from: number, to: number) => {
      const answer = await call(`/calendars/${calendar}/free-slots?startDate=${from}&endDate=${to}`)
      return Object.entries(answer).flatMap(([date, { slots }]) =>
        slots.map((slot: string) => ({ calendar_id: calendar, date, starts_at: new Date(slot).toISOString() }))
      )
    }
    const seam = startedAt + longestMs
    const windows = (await held("calendars")).flatMap(({ id }) => [
      slotsIn(id, startedAt, seam),
      slotsIn(id, seam, end)
    ])
    assert.strictEqual(slotRequests, windows.length, "no window is refused")
    const slots = (await Promise.all(windows)).flat()
    // The run began after we did, and slots pass while we ask, so those at the edges of a window may differ.
    const edges = [Date.now(), seam, end]
    const certain = ({ starts_at }: Shown) => edges.every((edge) => Math.abs(Date.parse(starts_at) - edge) > hourMs)
    const apart = edges.map((edge) => `abs(epoch_ms(starts_at) - ${edge}) > ${hourMs}`)
    await holds("free_slots", slots.filter(certain), apart.join(" AND "))
  })

  it("emails are found where a message names them, one level deeper too, and nowhere else", async () => {
    const named = `SELECT ${emails.childOf!.ids} AS id FROM (VALUES ('{"email": {"messageIds": ["a", "b"]}}'::JSON),
      ('{"email": {"email": {"messageIds": ["c"]}}}'), ('{"callStatus": "completed"}'), (NULL)) AS messages (meta)`
    const rows = await query(account.warehouse, `SELECT id FROM (${named}) WHERE id <> '' ORDER BY id`)
    assert.deepStrictEqual(rows, [{ id: "a" }, { id: "b" }, { id: "c" }])
  })

  it("emails have their receivers by kind, and their files", async () => {
    const records = await held("emails")
    const kinds = ["to", "cc", "bcc"]
    for (const kind of kinds) assert.include(records.flatMap(Object.keys), kind)
    await holdsItems("email_recipients", "email_id", records, (email) =>
      kinds.flatMap((kind) => (email[kind] ?? []).map((address: string) => ({ kind, address })))
    )
    await holdsItems("email_attachments", "email_id", records, ({ attachments }) =>
      attachments.map((url: string, position: number) => ({ url, position }))
    )
  })

  it("transcript_sentences holds each sentence of each transcript", async () => {
    const own = "mediaChannel sentenceIndex startTime endTime transcript confidence"
    const rows = (await held("transcripts")).flatMap(({ messageId, sentences }) =>
      sentences.map((sentence: Shown) => ({ message_id: messageId, ...columns(sentence, own) }))
    )
    await holds("transcript_sentences", rows)
  })

  it("recordings holds a file for each recorded call, to the byte as the service sends it", async () => {
    const { service, output, warehouse } = account
    const recorded = await Promise.all(
      (await held("transcripts")).map(async ({ messageId }) => {
        const path = `/conversations/messages/${messageId}/locations/${service.locationId}/recording`
        const headers = { authorization: `Bearer ${service.token}`, version: "v3" }
        const sound = Buffer.from(await (await fetch(service.url + path, { headers })).arrayBuffer())
        return { message_id: messageId, bytes: sound.length, sha256: sha256Of(sound), content_type: "audio/x-wav" }
      })
    )
    await holds("recordings", recorded)
    for (const { path, sha256 } of await query(warehouse, "SELECT path, sha256 FROM crm.recordings"))
      assert.strictEqual(sha256Of(readFileSync(join(output, String(path)))), sha256)
  })

  it("users have their permissions, scopes, phones and locations", async () => {
    const records = await held("users")
    await holdsItems("user_permissions", "user_id", records, ({ permissions }) =>
      Object.entries(permissions).map(([permission, enabled]) => ({ permission, enabled }))
    )
    await holdsItems("user_scopes", "user_id", records, ({ scopes, scopesAssignedToOnly }) => [
      ...scopes.map((scope: string) => ({ scope, assigned_only: false })),
      ...scopesAssignedToOnly.map((scope: string) => ({ scope, assigned_only: true }))
    ])
    await holdsItems("user_phones", "user_id", records, ({ lcPhone = {} }) =>
      Object.entries(lcPhone).map(([phone_location_id, phone]) => ({ phone_location_id, phone }))
    )
    await holdsItems("user_locations", "user_id", records, ({ roles }) =>
      roles.locationIds.map((member_location_id: string) => ({ member_location_id }))
    )
  })

  it("contacts have their names as typed, though the search shows them in small letters", async () => {
    const records = await held("contacts")
    const listed = await account.service.records("contacts?form=list")
    assert.isTrue(listed.some(({ firstName }, index) => firstName !== records[index]!["firstName"]))
    const names = records.map((record) => columns(record, "id firstName lastName name"))
    await holds("contacts", names)
  })

  it("rejects nothing of what came in good order", async () => {
    // Records without an id, tags that come twice, flags that are numbers: the nasty account has them in these alone.
    const nasty = "regexp_matches(table_name, '^(contact|conversation|message)|^(users|tasks)$')"
    const tables = ["rejected_records", "rejected_values"].map((table) => `SELECT table_name FROM meta.${table}`)
    const [records, values] = tables
    const rejects = `SELECT DISTINCT table_name FROM (${records} UNION ALL ${values} WHERE reason NOT LIKE '%stored as U+FFFD') WHERE`
    assert.isNotEmpty(await query(account.warehouse, `${rejects} ${nasty}`))
    assert.deepStrictEqual(await query(account.warehouse, `${rejects} NOT ${nasty}`), [])
  })

  it("contacts are whole where a setting asks for each by itself, though the search leaves out half of them", async () => {
    const output = newFolder()
    const environment = { ...account.environment, SLUICE_OUTPUT: output, SLUICE_CONTACT_DETAILS: "true" }
    const warehouse = join(output, "warehouse.duckdb")
    const contacts = await held("contacts")
    const settings = contacts.flatMap(({ id, dndSettings = {} }) =>
      Object.entries(dndSettings).flatMap(([channel, setting]) => (setting === null ? [] : [[id, channel]]))
    )
    assert.isNotEmpty(settings)
    for (const again of [[], ["--full"]]) {
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
    assert.strictEqual(read!["status"], "read")
  })

  it("reads what a setting asks for only where it is set", async () => {
    const output = newFolder()
    const only = "object_fields,object_folders,recurring_tasks,free_slots"
    const ran = await sluice(["sync", "--only", only], { ...account.environment, SLUICE_OUTPUT: output })
    assert.strictEqual(ran.code, 0, ran.stderr)
    for (const table of only.split(","))
      assert.deepStrictEqual(await query(join(output, "warehouse.duckdb"), `FROM crm.${table}`), [])
  })
})

const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")
