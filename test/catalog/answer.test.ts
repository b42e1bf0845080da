/** What is an answer: for every operation of the catalogue, and for errors in every form with the status of a success. */
import { assert, describe, it } from "@effect/vitest"
import { errorBodies } from "../../sandbox/http/error-answers.ts"
import { type Expected, answerOf, expectedOf, singleRecord } from "../../src/catalog/answer.ts"
import { Shapes } from "../../src/catalog/beside.ts"
import { discover } from "../../src/catalog/discover.ts"
import { type Resource, type Strategy, childRequestOf } from "../../src/catalog/resource.ts"
import { randomFrom } from "../support/random.ts"

const catalogue = await discover()
const named = (table: string) => catalogue.resources.find((resource) => resource.table === table)!

const strategiesOf = (resource: Resource): ReadonlyArray<Strategy> => [
  ...(resource.full ?? []),
  ...(resource.changes?.newest ? [resource.changes.newest] : []),
  ...(resource.changes?.strategies ?? []),
  ...(resource.changes?.added ?? []),
  ...(resource.backfill?.strategies ?? []),
  ...(childRequestOf(resource) ? [childRequestOf(resource)!.strategy] : []),
  ...(resource.childOf ? [resource.childOf.strategy] : [])
]
const operations = catalogue.resources.flatMap((resource): ReadonlyArray<readonly [string, Expected]> => [
  ...strategiesOf(resource).map(
    (strategy) =>
      [
        `${resource.table} ${strategy.request.path} ${strategy.records}`,
        expectedOf(resource, strategy, "SMS", "r1")
      ] as const
  ),
  ...(resource.getOne
    ? [[`${resource.table} ${resource.getOne.request.path}`, singleRecord(resource, "r1")] as const]
    : [])
])
/** A body with the value at the place of the records. */
const around = (path: string, value: unknown, more: object = {}): unknown =>
  path === ""
    ? value
    : { ...more, ...(path.split(".").reduceRight((inside, name) => ({ [name]: inside }), value) as object) }

describe.each(operations)("%s", (_, expected) => {
  const { records: path, resource } = expected
  const kindOf = (body: unknown) => answerOf(body, { ...expected, shapes: new Shapes() }).kind

  it("takes no error for data, in whatever form", () => {
    for (const [form, body] of Object.entries(errorBodies)) {
      // A calendar without a free slot may have no member at all.
      if (resource.table === "free_slots" && form === "empty") continue
      assert.strictEqual(kindOf(body), "none", form)
      // Also beside an empty list, and in the place of the record.
      const failed = ["success", "ok", "error", "errors", "graphql", "statusCode", "status", "statusText", "failed"]
      if (path !== "" && failed.includes(form))
        assert.strictEqual(kindOf(around(path, [], body as object)), "none", form)
      if (path !== "" && expected.paging.kind === "once")
        assert.notStrictEqual(kindOf(around(path, body)), "data", form)
    }
  })

  it("takes an empty list for data, and no list for none", () => {
    if (expected.id !== undefined || (path === "" && resource.getOne?.record === path)) return
    assert.deepStrictEqual(answerOf(around(path, []), expected), { kind: "data", path, records: [] })
    if (path !== "") assert.strictEqual(kindOf({ oops: [] }), "none")
  })
})

describe("a record", () => {
  const single = catalogue.resources.filter(({ getOne }) => getOne !== undefined)
  it.each(single.map((resource) => [resource.table, resource] as const))(
    "of %s stays data whatever words its own fields have",
    (_, resource) => {
      const words = { status: "failed", error: "550 no such mailbox", message: "error", success: false, code: 500 }
      const own = Object.entries(words).filter(([name]) => Object.hasOwn(resource.fields, name))
      const record = { id: "r1", ...Object.fromEntries(own) }
      const expected = singleRecord(resource, "r1")
      assert.strictEqual(answerOf(around(expected.records, record), expected).kind, "data")
      assert.strictEqual(answerOf(around(expected.records, { id: "r1" }), expected).kind, "data")
    }
  )

  it("of another id is another one if it has fields of its own, and an error that repeats the id is none", () => {
    const emails = singleRecord(named("emails"), "r1")
    assert.strictEqual(answerOf({ id: "other", subject: "Hello", status: "sent" }, emails).kind, "another")
    assert.strictEqual(answerOf({ id: "r1", success: false, message: "timed out" }, emails).kind, "none")
    assert.strictEqual(answerOf({ id: "request-1", status: "failed", error: "timed out" }, emails).kind, "another")
    assert.strictEqual(answerOf({ status: 502, error: "Bad Gateway", locationId: "L" }, emails).kind, "none")
  })

  it("may come in the shapes that the notes allow", () => {
    const kindOf = (table: string, body: unknown, status?: number) => {
      const resource = named(table)
      const expected = expectedOf(resource, strategiesOf(resource)[0]!, "all", "p1")
      return answerOf(body, { ...expected, shapes: new Shapes() }, status).kind
    }
    assert.strictEqual(kindOf("location_timezones", { timezones: [] }), "data")
    assert.strictEqual(kindOf("location_timezones", { zones: ["Europe/Paris", "UTC"] }), "data")
    assert.strictEqual(kindOf("location_timezones", ["Europe/Paris"]), "data")
    assert.strictEqual(kindOf("funnel_pages", { _id: "page", name: "One page alone" }), "data")
    assert.strictEqual(kindOf("order_notes", ["text"]), "data")
    assert.strictEqual(kindOf("order_notes", { notes: [] }), "data")
    assert.strictEqual(kindOf("free_slots", {}), "data")
    assert.strictEqual(kindOf("redirects", { data: { count: 0, data: [] } }), "data")
    assert.strictEqual(kindOf("redirects", { data: [] }), "data")
    assert.strictEqual(kindOf("invoice_settings", { title: "Invoice", dueAfterXDays: 14 }), "data")
    assert.strictEqual(
      kindOf("social_posts", { success: true, statusCode: 201, message: "Fetched", results: { posts: [] } }, 201),
      "data"
    )
    assert.strictEqual(kindOf("order_fulfillments", { status: true, data: [] }), "data")
  })
})

describe("an empty list", () => {
  const notes = named("contact_notes")
  const expected = expectedOf(notes, childRequestOf(notes)!.strategy, "all")
  const social = named("social_tags")
  const kindOf = (
    body: unknown,
    { shapes = new Shapes(), status = 200, ...more }: Partial<Expected & { status: number }> = {}
  ) => answerOf(body, { ...expected, ...more, shapes }, status).kind
  const withRecords = (more: object = {}) => ({ notes: [{ id: "n", body: "text" }], ...more })
  const random = randomFrom(5)
  const int = (below: number) => Math.floor(random() * below)
  const drawn = (depth = 2): unknown =>
    [
      () => null,
      () => random() < 0.5,
      () => int(3) - 1,
      () => ["", "ok", "failed", "0", "Upstream timed out"][int(5)],
      () => Array.from({ length: int(3) }, () => drawn(depth - 1)),
      () => Object.fromEntries(Array.from({ length: int(3) }, () => [name(), depth > 0 ? drawn(depth - 1) : 1]))
    ][int(6)]!()
  const names = "total count success meta status error nextPage failedShards hinweis warning data code ok".split(" ")
  const name = () => names[int(names.length)]!

  it("is data alone, and with what the definition names in the way that it has it", () => {
    assert.strictEqual(kindOf({ notes: [] }), "data")
    assert.strictEqual(kindOf({ notes: [], traceId: "t" }), "data")
    const tags = expectedOf(social, strategiesOf(social)[0]!, "all")
    const body = { success: true, statusCode: 200, message: "Fetched", results: { tags: [], count: 0 } }
    assert.strictEqual(kindOf(body, tags), "data")
    for (const wrong of [
      { ...body, success: false },
      { ...body, success: undefined },
      { ...body, success: "true" },
      { ...body, statusCode: 500 },
      { ...body, results: { tags: [], note: "later" } },
      { ...body, results: { tags: [], count: 3 } }
    ])
      assert.strictEqual(
        kindOf(JSON.parse(JSON.stringify(wrong)), { ...tags, isCounted: true }),
        "none",
        JSON.stringify(wrong)
      )
  })

  it("is no answer beside any other member, whatever it is called and whatever it has", () => {
    for (let n = 0; n < 2000; n++) {
      const beside = { [name()]: drawn() }
      assert.strictEqual(kindOf({ notes: [], ...beside }), "none", JSON.stringify(beside))
      const answer = answerOf({ notes: [], ...beside }, { ...expected, shapes: new Shapes() })
      assert.include(JSON.stringify(answer), Object.keys(beside)[0]!)
    }
  })

  it("is no answer with any other status than those of answers with records", () => {
    for (const status of [201, 202, 203, 204, 207, 226, 299])
      assert.strictEqual(kindOf({ notes: [] }, { status }), "none", String(status))
    const shapes = new Shapes()
    assert.strictEqual(kindOf(withRecords(), { shapes, status: 202 }), "data")
    assert.strictEqual(kindOf({ notes: [] }, { shapes, status: 202 }), "data")
    assert.strictEqual(kindOf({ notes: [] }, { shapes, status: 203 }), "none")
  })

  it("is data beside what answers with records had, of the same kind, and nothing more", () => {
    const shown = { meta: { source: "index", shards: 0, took: 3, tags: [] }, isLast: true, note: null }
    const shapes = () => {
      const seen = new Shapes()
      kindOf(withRecords(shown), { shapes: seen })
      return seen
    }
    for (const [kind, beside] of [
      ["data", shown],
      ["data", { ...shown, meta: { source: "cache", took: 0 } }],
      ["data", { isLast: true }],
      ["none", { ...shown, meta: { ...shown.meta, shards: 3 } }],
      ["none", { ...shown, meta: { ...shown.meta, source: 7 } }],
      ["none", { ...shown, meta: { ...shown.meta, tags: ["partial"] } }],
      ["none", { ...shown, meta: { ...shown.meta, partial: true } }],
      ["none", { ...shown, isLast: false }],
      ["none", { meta: shown.meta }],
      ["none", { ...shown, note: "later" }]
    ] as const)
      assert.strictEqual(kindOf({ notes: [], ...beside }, { shapes: shapes() }), kind, JSON.stringify(beside))
    const same = new Shapes()
    for (let n = 0; n < 6; n++) kindOf(withRecords({ message: "Fetched" }), { shapes: same })
    assert.strictEqual(kindOf({ notes: [], message: "Fetched" }, { shapes: same }), "data")
    assert.strictEqual(kindOf({ notes: [], message: "Upstream timed out" }, { shapes: same }), "none")
  })

  it("is no answer if it is the first page and says that the list goes on", () => {
    const messages = named("messages")
    const read = expectedOf(messages, messages.childOf!.strategy, "all")
    const body = { messages: { messages: [], nextPage: true, lastMessageId: "m" } }
    assert.strictEqual(kindOf(body, read), "none")
    assert.strictEqual(kindOf(body, { ...read, isFirst: () => false }), "data")
    assert.strictEqual(kindOf({ messages: { messages: [], nextPage: false, lastMessageId: null } }, read), "data")
  })

  it("is learnt with what it always has beside it, if such answers and others alternate", () => {
    const empty = { notes: [], message: "No notes" }
    const turns = (bodies: ReadonlyArray<unknown>, shapes = new Shapes()) => ({
      kinds: bodies.map((body) => kindOf(body, { shapes })),
      shapes
    })
    const { kinds, shapes } = turns([
      withRecords(),
      empty,
      withRecords(),
      empty,
      empty,
      withRecords(),
      empty,
      withRecords(),
      empty
    ])
    assert.deepStrictEqual([kinds.at(-1), kinds.filter((kind) => kind === "none").length], ["data", 4])
    assert.deepStrictEqual(shapes.learnt, ["message=No notes"])
    const later = new Shapes(shapes.stored.kinds, shapes.stored.empties)
    assert.deepStrictEqual(turns([empty, { notes: [], message: "Upstream timed out" }], later).kinds, ["data", "none"])
    for (const never of [
      Array.from({ length: 30 }, () => empty),
      [...Array.from({ length: 9 }, () => withRecords()), ...Array.from({ length: 9 }, () => empty)],
      // It can be empty without that, too.
      [{ notes: [] }, ...Array.from({ length: 9 }, () => [withRecords(), empty]).flat()]
    ])
      assert.deepStrictEqual(turns(never).shapes.learnt, [])
    const [asked, doubtful] = [new Shapes(), { question: {} }]
    kindOf(empty, { shapes: asked, ...doubtful })
    kindOf(withRecords(), { shapes: asked, ...doubtful })
    for (let n = 0; n < 9; n++) turns([empty, withRecords()], asked)
    assert.deepStrictEqual(asked.learnt, [], "the same request was answered with records")
  })

  it.each([[null], [{}], [[]], ["Upstream timed out"], [{ message: "Upstream timed out" }]])(
    "is no answer either if all that it has is %j, which is no record",
    (one) => assert.strictEqual(kindOf({ notes: [one] }), "none")
  )

  it("with records is data whatever stands beside it", () =>
    assert.strictEqual(kindOf(withRecords({ message: "Partial" })), "data"))
})

it("a list of one record may be that record, in any of its places, and an error there is none", () => {
  const associations = named("associations")
  const expected = expectedOf(associations, associations.full![0]!, "")
  const one = { id: "a1", key: "owner", firstObjectKey: "contact" }
  for (const path of ["associations", "data", "results", ""])
    assert.deepStrictEqual(answerOf(around(path, one), expected), { kind: "data", path, records: [one] })
  for (const error of [{ id: "t1", message: "no" }, { id: "t1", error: { code: 1 } }, { traceId: "t1" }])
    assert.strictEqual(answerOf(error, expected).kind, "none")
  const calendars = named("calendars")
  assert.strictEqual(answerOf({ id: "c1", name: "One" }, expectedOf(calendars, calendars.full![0]!, "")).kind, "none")
})
