/** Deleted records: a complete list lacks them, single requests confirm them, and their rows are marked, not removed. */
import { assert, describe, it } from "@effect/vitest"
import { openAmong } from "../support/account.ts"
import { beginForAll, contactsWithout } from "../support/life.ts"

const tables =
  "contacts,contact_notes,products,prices,conversations,messages,social_posts,redirects,pipelines,opportunities"
const others = "emails,recordings,transcript_sentences,recurring_tasks,object_fields,object_folders"
const slow = { tags: ["slow"] }

describe("deletions", () => {
  const life = beginForAll(
    () => openAmong(tables, `${tables},${others}`, "--contacts", "200"),
    (life) => life.sync()
  )
  const ids = (sql: string) => life.ids(sql)
  const deleted = (table: string) => life.deleted(table)
  const liveIds = (table: string, order = "id") =>
    ids(`SELECT id FROM crm.${table} WHERE _deleted_at IS NULL ORDER BY ${order}`)
  const remove = (path: string) => life.service.call("DELETE", `${path}?locationId=${life.service.locationId}`)

  it(
    "are confirmed by one request each after a complete list, and their last version is in the history",
    slow,
    async () => {
      // A second attempt begins with what the first one has deleted.
      const earlier = new Set([...(await deleted("contacts")), ...(await deleted("products"))])
      const deletedNow = async (table: string) => (await deleted(table)).filter((id) => !earlier.has(id))
      const contacts = (await liveIds("contacts")).slice(0, 3)
      const [product] = await liveIds("products")
      for (const id of contacts) await remove(`/contacts/${id}`)
      await remove(`/products/${product}`)
      await life.service.post("stats/reset", {})
      await life.sync("--again=all")
      assert.deepStrictEqual(await deletedNow("contacts"), contacts)
      assert.deepStrictEqual(await deletedNow("products"), [product])
      await life.equalsService()
      const { requestsByOperation } = await life.service.stats()
      // Three are controls. The children's reading may ask at the same time.
      assert.isAtMost(requestsByOperation["GET /contacts/:contactId"]!, 2 * (3 + 3))
      assert.isAtMost(requestsByOperation["GET /products/:productId"]!, 2 * (1 + 3))
      const [remaining] = await life.ask(
        `SELECT (SELECT count(*) FROM crm.contact_notes AS n JOIN crm.contacts AS c ON c.id = n.contact_id
         WHERE c._deleted_at IS NOT NULL AND n._deleted_at IS NULL) AS notes,
       (SELECT count(*) FROM crm.prices WHERE product_id = '${product}' AND _deleted_at IS NULL) AS prices`
      )
      assert.deepStrictEqual(remaining, { notes: "0", prices: "0" }, "their children are deleted as well")
      const versions = await life.ask(
        `SELECT h._valid_to = c._deleted_at AND c._deleted_at = c._synced_at AS joined, h._deleted_at FROM crm_history.contacts AS h
       JOIN crm.contacts AS c USING (id) WHERE c.id IN ('${contacts.join("', '")}')`
      )
      assert.deepStrictEqual(
        versions,
        contacts.map(() => ({ joined: true, _deleted_at: null }))
      )
      assert.strictEqual((await life.reading("contacts"))!["deleted_rows"], "3")
    }
  )

  it(
    "of many conversations take their messages along, and leave room for messages that are deleted alone",
    slow,
    async () => {
      const live = await life.ask(
        `SELECT conversation_id AS id, count(*) AS n, sum(count(*)) OVER () AS total FROM crm.messages WHERE _deleted_at IS NULL GROUP BY ALL ORDER BY n DESC, id`
      )
      const total = Number(live[0]!["total"])
      let taken = 0
      const chosen = live.filter(({ n }) => taken <= total * 0.35 && (taken += Number(n)) > 0)
      assert.isAtMost(chosen.length, 20)
      for (const { id } of chosen) await remove(`/conversations/${String(id)}`)
      const [single] = await ids(
        `SELECT id FROM crm.messages WHERE _deleted_at IS NULL AND conversation_id = '${live.at(-1)!["id"]}' ORDER BY id`
      )
      await life.service.post("remove", { collection: "messages", id: single })
      await life.sync("--again=all --only conversations")
      assert.includeMembers(
        [...(await deleted("conversations"))],
        chosen.map(({ id }) => String(id))
      )
      assert.include(await deleted("messages"), single)
      await life.equalsService()
    }
  )

  it(
    "of too many rows are refused until --accept-deletions, also of rows that are deleted with others",
    slow,
    async () => {
      const [pipeline] = await ids(
        "SELECT pipeline_id AS id FROM crm.opportunities GROUP BY ALL ORDER BY count(*) DESC LIMIT 1"
      )
      const opportunities = await ids(`SELECT id FROM crm.opportunities WHERE pipeline_id = '${pipeline}' ORDER BY id`)
      assert.isAbove(opportunities.length, 20)
      await remove(`/opportunities/pipelines/${pipeline}`)
      const redirects = await liveIds("redirects")
      assert.isAbove(redirects.length, 20)
      for (const id of redirects) await remove(`/funnels/lookup/redirect/${id}`)
      const all = "--again=all --only pipelines,opportunities,redirects"
      const { stderr } = await life.sync(all)
      assert.match(
        stderr,
        /pipelines: 1 row is missing from the list, and with it \d+ of \d+ rows of opportunities: .*--accept-deletions/
      )
      assert.match(stderr, /redirects: \d+ of \d+ rows are missing from the list.*--accept-deletions/)
      for (const table of ["pipelines", "opportunities", "redirects"]) assert.deepStrictEqual(await deleted(table), [])
      await life.sync(`${all} --accept-deletions`)
      assert.deepStrictEqual(await deleted("pipelines"), [pipeline])
      assert.deepStrictEqual(await deleted("opportunities"), opportunities)
      assert.deepStrictEqual(await deleted("redirects"), redirects)
    }
  )

  /** What the list of contacts does with the first contact, which exists or does not. */
  const lists: ReadonlyArray<
    readonly [string, { code: number; exists: boolean; hidden: boolean; total: number; says: RegExp }]
  > = [
    [
      "are not made if the record still exists when it is requested",
      { exists: true, hidden: true, total: 0, code: 0, says: /contacts: .*still exist/ }
    ],
    [
      "are found although the service always counts one record too many",
      {
        exists: false,
        hidden: false,
        total: 1,
        code: 0,
        says: /contacts: the service counts \d+ records, and \d+ were/
      }
    ],
    [
      "are not looked for in an incomplete list",
      { exists: false, hidden: false, total: 20, code: 3, says: /contacts: .*deleted rows were not looked for/s }
    ]
  ]
  it.each(lists)("%s, and the run says so", async (_, { code, exists, hidden, says, total }) => {
    const [contact] = await liveIds("contacts")
    if (!exists) await remove(`/contacts/${contact}`)
    life.alter = ({ path }, answer) => {
      if (path !== "/contacts/search") return answer
      const page = contactsWithout(answer, hidden ? [contact!] : [])
      return { ...page, total: page.total + total }
    }
    const { stderr } = await life.sync("--again=all --only contacts", code)
    life.alter = undefined
    assert.match(stderr, says)
    assert.strictEqual((await deleted("contacts")).includes(contact!), !exists && code === 0)
  })

  it("are not made from a list of deleted records that also returns the other records", async () => {
    let all: unknown
    life.alter = ({ path, body }, answer) => {
      if (!path.endsWith("/posts/list")) return answer
      return body.includes('"deleted"') ? all : (all = answer)
    }
    const { stderr } = await life.sync("--only social_posts")
    life.alter = undefined
    assert.notInclude(stderr, "social_posts: ", "known of the service, and the same each night")
    assert.isAbove((await liveIds("social_posts")).length, 5)
    assert.deepStrictEqual(await deleted("social_posts"), [])
  })

  it("of a message are found by a full sync, because its table has rows that the list omits", async () => {
    const [message] = await ids(
      `SELECT m.id FROM crm.messages AS m JOIN crm.conversations AS c ON c.id = m.conversation_id
       WHERE m._deleted_at IS NULL AND c._deleted_at IS NULL AND c.type <> 'TYPE_GROUP_SMS' ORDER BY m.id`
    )
    await life.service.post("remove", { collection: "messages", id: message })
    const only = "--only messages --except emails,recordings,transcript_sentences"
    await life.sync(only)
    assert.notInclude(await deleted("messages"), message)
    await life.sync(`--again=all ${only}`)
    assert.include(await deleted("messages"), message)
  })

  it("of a record that the settings name are found by the request for it", async () => {
    const { locationId, records } = life.service
    const [task, other] = (await records("recurringTasks")).map(({ id }) => String(id))
    const sync = () =>
      life.run(["sync", "--only", "recurring_tasks"], { SLUICE_RECURRING_TASK_IDS: `${task},${other}` })
    await sync()
    assert.deepStrictEqual(await deleted("recurring_tasks"), [])
    await life.service.call("DELETE", `/locations/${locationId}/recurring-tasks/${task}`)
    assert.match((await sync()).stderr, /named in the settings, does not exist/)
    assert.deepStrictEqual(await deleted("recurring_tasks"), [task])
  })

  it("of records in partitions that the settings name are found in those that were read", slow, async () => {
    const sync = (keys: string) => life.sync("--only object_fields,object_folders", 0, { SLUICE_OBJECT_KEYS: keys })
    await sync("custom_objects.project,business")
    const [field, ...rest] = await ids("SELECT id FROM crm.object_fields WHERE object_key = 'business' ORDER BY id")
    assert.isAbove(rest.length, 2)
    await life.service.post("remove", { collection: "objectFields", id: field })
    // An object that is no longer named, or that the service does not know, keeps its fields.
    for (const keys of ["business", "business,custom_objects.unknown"]) {
      await sync(keys)
      assert.deepStrictEqual(await deleted("object_fields"), [field])
    }
  })

  it("of children are made whenever their parent was found deleted", async () => {
    const [found] = await life.ask("SELECT id, contact_id FROM crm.contact_notes WHERE _deleted_at IS NULL ORDER BY id")
    const [contact, note] = [String(found!["contact_id"]), String(found!["id"])]
    await remove(`/contacts/${contact}`)
    // An earlier version found the contact deleted, and left its notes.
    await life.change(`UPDATE crm.contacts SET _deleted_at = now() - INTERVAL 20 DAY WHERE id = '${contact}'`)
    await life.sync("--only contact_notes")
    assert.include(await deleted("contact_notes"), note)
  })
})
