/** What is an answer: for every operation of the catalogue, and for errors in every form with the status of a success. */
import { assert, describe, it } from "@effect/vitest"
import { errorBodies } from "../../sandbox/http/error-answers.ts"
import { type Expected, answerOf, expectedOf, singleRecord } from "../../src/catalog/answer.ts"
import { discover } from "../../src/catalog/discover.ts"
import { type Resource, type Strategy, childRequestOf } from "../../src/catalog/resource.ts"

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
  const kindOf = (body: unknown) => answerOf(body, expected).kind

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
    if (path === "" && resource.getOne?.record === path) return
    assert.deepStrictEqual(answerOf(around(path, []), expected), { kind: "data", records: [] })
    if (path !== "") assert.strictEqual(kindOf({ oops: [] }), "no list")
  })
})

describe("a record", () => {
  const single = catalogue.resources.filter(({ getOne }) => getOne !== undefined)
  it.each(single.map((resource) => [resource.table, resource] as const))(
    "of %s stays data whatever words its own fields have",
    (_, resource) => {
      const words = { status: "failed", error: "550 no such mailbox", message: "error", success: false, code: 500 }
      const own = Object.entries(words).filter(([name]) => Object.hasOwn(resource.fields, name))
      const record = { id: "r1", contactId: "c1", ...Object.fromEntries(own) }
      const expected = singleRecord(resource, "r1")
      assert.strictEqual(answerOf(around(expected.records, record), expected).kind, "data")
      assert.strictEqual(answerOf(around(expected.records, { id: "r1" }), expected).kind, "data")
    }
  )

  it("of another id is data if it has fields of its own, and an error that repeats the id is none", () => {
    const emails = singleRecord(named("emails"), "r1")
    assert.strictEqual(
      answerOf({ id: "other", subject: "Hello", status: "failed", error: "bounced" }, emails).kind,
      "data"
    )
    assert.strictEqual(answerOf({ id: "r1", success: false, message: "timed out" }, emails).kind, "none")
    assert.strictEqual(answerOf({ id: "request-1", status: "failed", error: "timed out" }, emails).kind, "none")
    assert.strictEqual(answerOf({ status: 502, error: "Bad Gateway", locationId: "L" }, emails).kind, "none")
  })

  it("may come in the shapes that the notes allow", () => {
    const kindOf = (table: string, body: unknown) => {
      const resource = named(table)
      return answerOf(body, expectedOf(resource, strategiesOf(resource)[0]!, "all", "p1")).kind
    }
    assert.strictEqual(kindOf("location_timezones", { timezones: [] }), "data")
    assert.strictEqual(kindOf("location_timezones", { zones: ["Europe/Paris", "UTC"] }), "data")
    assert.strictEqual(kindOf("location_timezones", ["Europe/Paris"]), "data")
    assert.strictEqual(kindOf("funnel_pages", { _id: "page", name: "One page alone" }), "data")
    assert.strictEqual(kindOf("order_notes", ["text"]), "data")
    assert.strictEqual(kindOf("order_notes", { notes: [] }), "data")
    assert.strictEqual(kindOf("free_slots", {}), "data")
    assert.strictEqual(kindOf("redirects", { data: { count: 0, data: [] } }), "no list")
    assert.strictEqual(kindOf("invoice_settings", { title: "Invoice", dueAfterXDays: 14 }), "data")
    assert.strictEqual(
      kindOf("social_posts", { success: true, statusCode: 201, message: "Fetched", results: { posts: [] } }),
      "data"
    )
    assert.strictEqual(kindOf("order_fulfillments", { status: true, data: [] }), "data")
  })
})

describe("an empty list", () => {
  const notes = named("contact_notes")
  const expected = expectedOf(notes, childRequestOf(notes)!.strategy, "all")
  const social = named("social_tags")
  const kindOf = (body: unknown, seen?: ReadonlySet<string>, more: Expected = expected) =>
    answerOf(body, { ...more, ...(seen && { seen }) }).kind

  it.each<[string, unknown]>([
    ["nothing", { notes: [] }],
    ["a total and a trace", { notes: [], total: 0, traceId: "t" }],
    ["the success", { success: true, statusCode: 200, notes: [] }],
    [
      "the position in the list",
      { notes: [], meta: { total: 0, perPage: 20, currentPage: 1, nextPage: null, nextPageUrl: "/notes?page=2" } }
    ],
    ["a success in a word", { status: "SUCCESS", meta: { total: 0, code: 200 }, notes: [] }],
    ["members without content", { notes: [], message: "", errors: [], warning: null, isPartial: false }]
  ])("is data beside %s", (_, body) => assert.strictEqual(kindOf(body), "data"))

  it.each<[string, unknown]>([
    ["a message", { message: "Upstream timed out", notes: [] }],
    ["a message and a total of 0", { message: "Upstream timed out", total: 0, notes: [] }],
    ["a message although it is a success", { success: true, message: "Upstream timed out", notes: [] }],
    ["a warning in another language", { hinweis: "später", notes: [] }],
    ["an object", { notes: [], meta2: { degraded: true } }],
    ["a number", { notes: [], retryAfter: 30 }],
    ["a flag", { notes: [], isPartial: true }],
    ["a status that is no success", { status: "degraded", notes: [] }],
    ["a flag in its meta", { notes: [], meta: { partial: true } }],
    ["a status in its meta that is no success", { notes: [], meta: { status: "degraded" } }],
    ["a text in its meta", { notes: [], meta: { total: 0, hint: "index is being rebuilt" } }],
    ["an error in its meta", { notes: [], meta: { total: 0, error: "Upstream timed out" } }]
  ])("is no answer beside %s", (_, body) => assert.strictEqual(kindOf(body), "none"))

  it("is data beside what answers with records have, or what the documents name", () => {
    assert.strictEqual(kindOf({ notes: [], summary: "of the contact" }, new Set(["summary"])), "data")
    assert.strictEqual(kindOf({ notes: [], summary: "of the contact" }, new Set(["other"])), "none")
    assert.strictEqual(kindOf({ notes: [], meta: { source: "index" } }, new Set(["meta", "meta.source"])), "data")
    assert.strictEqual(kindOf({ notes: [], meta: { partial: true } }, new Set(["meta", "meta.source"])), "none")
    const tags = expectedOf(social, strategiesOf(social)[0]!, "all")
    const body = { success: true, statusCode: 200, message: "Fetched", results: { tags: [], count: 0 } }
    assert.strictEqual(kindOf(body, undefined, tags), "data")
    assert.strictEqual(kindOf({ ...body, results: { tags: [], note: "later" } }, undefined, tags), "none")
  })

  it.each([[null], [{}], [[]], ["Upstream timed out"], [{ message: "Upstream timed out" }]])(
    "is no answer either if all that it has is %j, which is no record",
    (one) => assert.strictEqual(kindOf({ notes: [one] }), "none")
  )

  it("with records is data whatever stands beside it", () =>
    assert.strictEqual(kindOf({ message: "Partial", notes: [{ id: "n", body: "text" }] }), "data"))
})
