/** Deleted records: a complete list lacks them, single requests confirm them, and their rows are marked, not removed. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, discard, openAlone, openAmong } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { Refusal, alteredService } from "../support/proxy.ts"
import { sluice } from "../support/sluice.ts"

const tables =
  "contacts,contact_notes,products,prices,conversations,messages,social_posts,redirects,pipelines,opportunities"
const others = "emails,recordings,transcript_sentences,recurring_tasks,object_fields,object_folders"

describe("deletions", () => {
  let account: Account
  const sync = (...flags: ReadonlyArray<string>) => sluice(["sync", ...flags], account.environment)
  beforeAll(async () => {
    account = await openAmong(tables, `${tables},${others}`, "--contacts", "200")
    const ran = await account.sync()
    assert.strictEqual(ran.code, 0, ran.stderr)
  })
  afterAll(() => account.service.stop())

  const ids = async (sql: string) => (await query(account.warehouse, sql)).map((row) => String(row["id"]))
  const deleted = (table: string) => ids(`SELECT id FROM crm.${table} WHERE _deleted_at IS NOT NULL ORDER BY id`)

  it(
    "are confirmed by one request each after a complete list, and their last version is in the history",
    { tags: ["slow"] },
    async () => {
      const contacts = (await ids("SELECT id FROM crm.contacts ORDER BY id")).slice(0, 3)
      const [product] = await ids("SELECT id FROM crm.products ORDER BY id")
      for (const id of contacts) await account.service.call("DELETE", `/contacts/${id}`)
      await account.service.call("DELETE", `/products/${product}?locationId=${account.service.locationId}`)
      await account.service.post("stats/reset", {})
      const ran = await account.sync("--full")
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(await deleted("contacts"), contacts)
      assert.deepStrictEqual(await deleted("products"), [product])
      assert.deepStrictEqual(await account.differences(), [])

      const { requestsByOperation } = await account.service.stats()
      // One more shows that the route returns records that exist. The children's reading may ask at the same time.
      assert.isAtMost(requestsByOperation["GET /contacts/:contactId"]!, 2 * (3 + 1))
      assert.isAtMost(requestsByOperation["GET /products/:productId"]!, 2 * (1 + 1))
      // Their children are deleted as well.
      const [remaining] = await query(
        account.warehouse,
        `SELECT (SELECT count(*) FROM crm.contact_notes AS n JOIN crm.contacts AS c ON c.id = n.contact_id
         WHERE c._deleted_at IS NOT NULL AND n._deleted_at IS NULL) AS notes,
       (SELECT count(*) FROM crm.prices WHERE product_id = '${product}' AND _deleted_at IS NULL) AS prices`
      )
      assert.deepStrictEqual(remaining, { notes: "0", prices: "0" })
      const versions = await query(
        account.warehouse,
        `SELECT h._valid_to = c._deleted_at AND c._deleted_at = c._synced_at AS joined, h._deleted_at FROM crm_history.contacts AS h
       JOIN crm.contacts AS c USING (id) WHERE c._deleted_at IS NOT NULL`
      )
      assert.deepStrictEqual(
        versions,
        [1, 2, 3].map(() => ({ joined: true, _deleted_at: null }))
      )
      const [counted] = await query(
        account.warehouse,
        "SELECT deleted_rows FROM meta.run_resources WHERE resource = 'contacts' ORDER BY run_id DESC LIMIT 1"
      )
      assert.strictEqual(counted!["deleted_rows"], "3")
    }
  )

  it("of a conversation delete its messages as well", { tags: ["slow"] }, async () => {
    const [conversation] = await ids(
      `SELECT conversation_id AS id FROM crm.messages WHERE _deleted_at IS NULL GROUP BY ALL HAVING count(*) > 3 ORDER BY 1`
    )
    const messages = await ids(`SELECT id FROM crm.messages WHERE conversation_id = '${conversation}' ORDER BY id`)
    const before = await deleted("messages")
    await account.service.call("DELETE", `/conversations/${conversation}`)
    const ran = await sync("--full", "--only", "conversations")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.includeMembers([...(await deleted("conversations"))], [conversation!])
    assert.deepStrictEqual(await deleted("messages"), [...before, ...messages].sort())
    assert.deepStrictEqual(await account.differences(), [])
  })

  it(
    "of many conversations take their messages along, and leave room for messages that are deleted alone",
    { tags: ["slow"] },
    async () => {
      const live = await query(
        account.warehouse,
        `SELECT conversation_id AS id, count(*) AS n, sum(count(*)) OVER () AS total FROM crm.messages WHERE _deleted_at IS NULL GROUP BY ALL ORDER BY n DESC, id`
      )
      const total = Number(live[0]!["total"])
      let taken = 0
      const chosen = live.filter(({ n }) => taken <= total * 0.35 && (taken += Number(n)) > 0)
      assert.isAtMost(chosen.length, 20)
      for (const { id } of chosen) await account.service.call("DELETE", `/conversations/${id}`)
      const [single] = await ids(
        `SELECT id FROM crm.messages WHERE _deleted_at IS NULL AND conversation_id = '${live.at(-1)!["id"]}' ORDER BY id`
      )
      await account.service.post("remove", { collection: "messages", id: single })
      const ran = await sync("--full", "--only", "conversations")
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.include(await deleted("messages"), single)
      assert.deepStrictEqual(await account.differences(), [], ran.stderr)
    }
  )

  it("are not made if the record still exists when it is requested, and the run reports this", async () => {
    const [hidden] = await ids("SELECT id FROM crm.contacts WHERE _deleted_at IS NULL ORDER BY id")
    const altered = await alteredService(account.service, ({ path }, body) => {
      if (path !== "/contacts/search") return body
      const { contacts, total } = body as { contacts: ReadonlyArray<{ readonly id: string }>; total: number }
      return { contacts: contacts.filter(({ id }) => id !== hidden), total: total - 1 }
    })
    try {
      const environment = { ...account.environment, SLUICE_BASE_URL: altered.url }
      const ran = await sluice(["sync", "--full", "--only", "contacts"], environment)
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.match(ran.stderr, /contacts: .*still exist/)
      assert.notInclude(await deleted("contacts"), hidden)
    } finally {
      altered.close()
    }
  })

  it("are not made from a list of deleted records that also returns the other records", async () => {
    let all: unknown
    const altered = await alteredService(account.service, ({ path, body }, answer) => {
      if (!path.endsWith("/posts/list")) return answer
      return body.includes('"deleted"') ? all : (all = answer)
    })
    try {
      const environment = { ...account.environment, SLUICE_BASE_URL: altered.url }
      const ran = await sluice(["sync", "--only", "social_posts"], environment)
      assert.strictEqual(ran.code, 0, ran.stderr)
      // Known of the service, and the same each night: no warning.
      assert.notInclude(ran.stderr, "social_posts: ")
      assert.isAbove((await ids("SELECT id FROM crm.social_posts")).length, 5)
      assert.deepStrictEqual(await deleted("social_posts"), [])
    } finally {
      altered.close()
    }
  })

  it(
    "of too many rows are refused until --accept-deletions, also of rows that are deleted with others",
    { tags: ["slow"] },
    async () => {
      const [pipeline] = await ids(
        "SELECT pipeline_id AS id FROM crm.opportunities GROUP BY ALL ORDER BY count(*) DESC LIMIT 1"
      )
      const opportunities = await ids(`SELECT id FROM crm.opportunities WHERE pipeline_id = '${pipeline}' ORDER BY id`)
      assert.isAbove(opportunities.length, 20)
      await account.service.call("DELETE", `/opportunities/pipelines/${pipeline}`)
      const both = ["--full", "--only", "pipelines,opportunities"]
      const withOthers = await sync(...both)
      assert.match(
        withOthers.stderr,
        /pipelines: 1 row is missing from the list, and with it \d+ of \d+ rows of opportunities: .*--accept-deletions/
      )
      assert.deepStrictEqual([...(await deleted("pipelines")), ...(await deleted("opportunities"))], [])
      assert.strictEqual((await sync(...both, "--accept-deletions")).code, 0)
      assert.deepStrictEqual(await deleted("pipelines"), [pipeline])
      assert.deepStrictEqual(await deleted("opportunities"), opportunities)

      const redirects = await ids("SELECT id FROM crm.redirects ORDER BY id")
      assert.isAbove(redirects.length, 20)
      for (const id of redirects)
        await account.service.call("DELETE", `/funnels/lookup/redirect/${id}?locationId=${account.service.locationId}`)
      const refused = await sync("--only", "redirects")
      assert.match(refused.stderr, /redirects: \d+ of \d+ rows are missing from the list.*--accept-deletions/)
      assert.deepStrictEqual(await deleted("redirects"), [])
      const accepted = await sync("--only", "redirects", "--accept-deletions")
      assert.strictEqual(accepted.code, 0, accepted.stderr)
      assert.deepStrictEqual(await deleted("redirects"), redirects)
    }
  )

  it("of a message are found by a full sync, not by an incremental one", async () => {
    const [message, ...others] = await ids(
      `SELECT m.id FROM crm.messages AS m JOIN crm.conversations AS c ON c.id = m.conversation_id
       WHERE m._deleted_at IS NULL AND c._deleted_at IS NULL AND c.type <> 'TYPE_GROUP_SMS' ORDER BY m.id`
    )
    assert.isAbove(others.length, 100)
    await account.service.post("remove", { collection: "messages", id: message })
    const only = ["--only", "messages", "--except", "emails,recordings,transcript_sentences"]
    const before = await deleted("messages")
    assert.strictEqual((await sync(...only)).code, 0)
    assert.deepStrictEqual(await deleted("messages"), before)
    const ran = await sync("--full", ...only)
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.deepStrictEqual(await deleted("messages"), [...before, message].sort())
  })

  it("of a record that the settings name are found by the request for it", async () => {
    const { locationId } = account.service
    const [task, other] = (await account.service.records("recurringTasks")).map(({ id }) => String(id))
    const only = ["sync", "--only", "recurring_tasks"]
    const environment = { ...account.environment, SLUICE_RECURRING_TASK_IDS: `${task},${other}` }
    await sluice(only, environment)
    assert.deepStrictEqual(await deleted("recurring_tasks"), [])
    await account.service.call("DELETE", `/locations/${locationId}/recurring-tasks/${task}`)
    const ran = await sluice(only, environment)
    assert.match(ran.stderr, /named in the settings, does not exist/)
    assert.deepStrictEqual(await deleted("recurring_tasks"), [task])
  })

  it(
    "of records in partitions that the settings name are found in those that were read",
    { tags: ["slow"] },
    async () => {
      const only = ["sync", "--only", "object_fields,object_folders"]
      const reading = (keys: string) => sluice(only, { ...account.environment, SLUICE_OBJECT_KEYS: keys })
      const [all, other] = ["custom_objects.project,business", "business"]
      assert.strictEqual((await reading(all!)).code, 0)
      const fieldsOf = (key: string) => ids(`SELECT id FROM crm.object_fields WHERE object_key = '${key}' ORDER BY id`)
      const [field] = await fieldsOf("business")
      assert.isAbove((await fieldsOf("business")).length, 3)
      await account.service.post("remove", { collection: "objectFields", id: field })
      const ran = await reading(other!)
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(await deleted("object_fields"), [field])
      // An object that is no longer named, or that the service does not know, keeps its fields.
      assert.strictEqual((await reading(`${other},custom_objects.unknown`)).code, 0)
      assert.deepStrictEqual(await deleted("object_fields"), [field])
    }
  )

  it("of children are made whenever their parent was found deleted", async () => {
    const [note] = await query(
      account.warehouse,
      `SELECT n.id, n.contact_id FROM crm.contact_notes AS n WHERE n._deleted_at IS NULL ORDER BY n.id`
    )
    const [contact, id] = [String(note!["contact_id"]), String(note!["id"])]
    await account.service.call("DELETE", `/contacts/${contact}`)
    // An earlier version found the contact deleted, and left its notes.
    await query(
      account.warehouse,
      `UPDATE crm.contacts SET _deleted_at = now() - INTERVAL 20 DAY WHERE id = '${contact}'`,
      "READ_WRITE"
    )
    assert.strictEqual((await sync("--only", "contact_notes")).code, 0)
    assert.include(await deleted("contact_notes"), id)
  })

  it("of a parent that the service restores are undone, also for its children", { tags: ["slow"] }, async () => {
    const [note] = await query(
      account.warehouse,
      "SELECT id, contact_id FROM crm.contact_notes WHERE _deleted_at IS NULL ORDER BY id DESC"
    )
    const [contact, id] = [String(note!["contact_id"]), String(note!["id"])]
    const altered = await alteredService(account.service, ({ path }, body) => {
      if (path.startsWith(`/contacts/${contact}`))
        return new Refusal(404, { statusCode: 404, message: `Contact with id ${contact} not found` })
      if (path !== "/contacts/search") return body
      const { contacts, total } = body as { contacts: ReadonlyArray<{ readonly id: string }>; total: number }
      return { contacts: contacts.filter((one) => one.id !== contact), total: total - 1 }
    })
    const only = ["--full", "--only", "contacts,contact_notes"]
    const away = await sluice(["sync", ...only], { ...account.environment, SLUICE_BASE_URL: altered.url })
    altered.close()
    assert.strictEqual(away.code, 0, away.stderr)
    assert.include(await deleted("contacts"), contact)
    assert.include(await deleted("contact_notes"), id)
    assert.strictEqual((await sync("--full", "--only", "contacts")).code, 0)
    assert.strictEqual((await sync("--only", "contact_notes")).code, 0)
    assert.notInclude([...(await deleted("contacts")), ...(await deleted("contact_notes"))], id)
    assert.deepStrictEqual(await account.differences(), [])
  })

  it("are found although the service always counts one record too many, and the run says so", async () => {
    const altered = await alteredService(account.service, ({ path }, body) =>
      path === "/contacts/search" ? { ...(body as object), total: (body as { total: number }).total + 1 } : body
    )
    try {
      const [contact] = await ids("SELECT id FROM crm.contacts WHERE _deleted_at IS NULL ORDER BY id")
      await account.service.call("DELETE", `/contacts/${contact}`)
      const ran = await sluice(["sync", "--full", "--only", "contacts"], {
        ...account.environment,
        SLUICE_BASE_URL: altered.url
      })
      assert.match(ran.stderr, /contacts: the service counts \d+ records, and \d+ were read/)
      assert.include(await deleted("contacts"), contact)
    } finally {
      altered.close()
    }
  })

  it("are not looked for in an incomplete list, and the run says so", async () => {
    const altered = await alteredService(account.service, ({ path }, body) =>
      path === "/contacts/search" ? { ...(body as object), total: (body as { total: number }).total + 20 } : body
    )
    const before = await deleted("contacts")
    const ran = await sluice(["sync", "--full", "--only", "contacts"], {
      ...account.environment,
      SLUICE_BASE_URL: altered.url
    })
    altered.close()
    assert.strictEqual(ran.code, 3)
    assert.match(ran.stderr, /contacts: .*deleted rows were not looked for/s)
    assert.deepStrictEqual(await deleted("contacts"), before)
  })
})

describe("many rows missing from a list", () => {
  it("are all requested: none is marked deleted because it was beyond some number", { tags: ["slow"] }, async () => {
    const account = await openAlone("contacts", "--contacts", "2000")
    const first = await account.sync()
    assert.strictEqual(first.code, 0, first.stderr)
    const ids = (await query(account.warehouse, "SELECT id FROM crm.contacts ORDER BY id")).map(({ id }) => String(id))
    const hidden = new Set(ids.slice(0, 590))
    const altered = await alteredService(account.service, ({ path }, body) => {
      if (path !== "/contacts/search") return body
      const { contacts, total } = body as { contacts: ReadonlyArray<{ readonly id: string }>; total: number }
      // Others take their place, so that the pages and the total stay as they are.
      return { contacts: contacts.map((one) => (hidden.has(one.id) ? { ...one, id: `x${one.id}` } : one)), total }
    })
    const ran = await sluice(["sync", "--full", ...account.selection], {
      ...account.environment,
      SLUICE_BASE_URL: altered.url
    })
    altered.close()
    assert.match(ran.stderr, /contacts: 590 rows are missing from the list but still exist/)
    const deleted = await query(account.warehouse, "SELECT id FROM crm.contacts WHERE _deleted_at IS NOT NULL")
    assert.deepStrictEqual(deleted, [])
    discard(account)
  })
})
