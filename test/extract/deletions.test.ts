/** When a row counts as deleted: how many of a run, on whose word, and what a single answer proves. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime } from "effect"
import { join } from "node:path"
import { boolean, id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Resource, defineChild, defineList } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { type ApiError, BudgetExhausted, Forbidden, RequestRejected, Unavailable } from "../../src/stages/api/errors.ts"
import { refusalIn } from "../../src/stages/api/author.ts"
import { decideNotFound, decideMissingRows, placeOf } from "../../src/stages/extract/deletions.ts"
import type { RunContext } from "../../src/stages/extract/run-context.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"
import { answerOf, contextOf, silentApi, vaultOf } from "./fakes.ts"

const common = { description: "d", source: "s", scope: "s" }
const once = { request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 } as const
/** The service returns single records of it. */
const things = defineList({
  ...common,
  table: "things",
  full: [once],
  getOne: { request: get("/things/{thingId}"), record: "thing" },
  tombstone: "deleted",
  fields: { id: id("Id"), name: text("Name"), deleted: boolean("Deleted") }
})
/** The service returns no single record of it. */
const marks = defineList({ ...common, table: "marks", full: [once], fields: { id: id("Id") } })
const notes = defineChild({
  ...common,
  table: "notes",
  childOf: { table: "marks", column: "mark_id", refreshAfter: "1 day", strategy: once },
  fields: { id: id("Id") }
})
const badges = defineList({
  ...common,
  table: "badges",
  full: [once],
  cascadesFrom: { table: "marks", column: "mark_id" },
  fields: { id: id("Id"), markId: text("Mark") }
})
const resources: ReadonlyArray<Resource> = [things, marks, notes, badges]

const template = await templateOf({ resources, familyByTable: new Map<string, string>() })
const warehouse = ManagedRuntime.make(
  Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
)
beforeAll(() => warehouse.runPromise(Effect.void))
afterAll(() => warehouse.dispose())

/** `gone`: as for an id that was never issued. */
type Said = "exists" | "gone" | "flagged" | "another" | ApiError
/** What the service rejects, in its own form. */
const rejects = (message: string, status = 404, more: object = {}) =>
  new RequestRejected({
    status,
    message,
    refusal: refusalIn(status, Buffer.from(JSON.stringify({ message, ...more })), undefined)
  })
interface Given {
  readonly resource?: Resource
  /** Rows in the table, of which the reading returned those from `missing` on. */
  readonly rows: number
  readonly missing: number
  readonly share?: number
  /** What the service says about a record; `gone` for those that are missing, and `exists` for the others by default. */
  readonly says?: (id: string, isMissing: boolean) => Said
  /** What it says about an id that was never issued. */
  readonly never?: (id: string) => Said
  /** What a second reading does not return, of those that are missing. */
  readonly missingAgain?: (id: string) => boolean
  readonly isSecondComplete?: boolean
  readonly context?: Partial<RunContext>
  readonly sql?: string
}

let locations = 0
/** Decides about the missing rows of a location of its own. */
const decided = ({
  context: more,
  isSecondComplete = true,
  missing,
  missingAgain = () => true,
  never,
  resource = things,
  rows,
  says,
  share = 0.3,
  sql = ""
}: Given) => {
  const location = `L${locations++}`
  const frames: Array<Frame> = []
  const asked: Array<string> = []
  const isMissing = (id: string) => Number(id.slice(1)) < missing
  const isIssued = (id: string) => /^i\d+$/.test(id) && Number(id.slice(1)) < rows
  const api = Api.of({
    ...silentApi,
    send: ({ request }) =>
      Effect.suspend((): ReturnType<Api["Service"]["send"]> => {
        const one = request.path.split("/").at(-1)!
        asked.push(one)
        const said = isIssued(one)
          ? (says?.(one, isMissing(one)) ?? (isMissing(one) ? "gone" : "exists"))
          : (never?.(one) ?? "gone")
        if (said === "gone") return Effect.fail(rejects(`Any sentence about ${one}`))
        if (typeof said === "object") return Effect.fail(said)
        const thing = { id: said === "another" ? "other" : one, deleted: said === "flagged" }
        return Effect.succeed(answerOf({ thing }))
      })
  })
  const { table } = resource
  const context = contextOf({ location, resources, deletionShareMax: share, ...more })
  const run = Effect.gen(function* () {
    const { run } = yield* Warehouse
    yield* run(
      `INSERT INTO crm.${table} (location_id, id, _synced_at) SELECT '${location}', 'i' || n, TIMESTAMPTZ '2026-01-01' FROM range(${rows}) AS t(n);
       INSERT INTO crm.${table} (location_id, id, _synced_at) VALUES ('elsewhere', 'i0', TIMESTAMPTZ '2026-01-01');
       INSERT INTO meta.seen_keys SELECT '${location}', '${table}', 'i' || n FROM range(${missing}, ${rows}) AS t(n); ${sql.replaceAll("LOCATION", location)}`
    )
    const readAgain = Effect.gen(function* () {
      const found = Array.from({ length: missing }, (_, n) => `i${n}`).filter((one) => !missingAgain(one))
      for (const one of found) yield* run(`INSERT INTO meta.seen_keys VALUES ('${location}', '${table}', '${one}')`)
      return isSecondComplete
    })
    const warnings = yield* decideMissingRows([resource], Date.parse("2026-02-01"), context, readAgain)
    const deleted = frames
      .filter(({ entry }) => entry.kind === "deleted")
      .flatMap(({ body }) => JSON.parse(String(body)) as ReadonlyArray<string>)
    assert.isTrue(frames.every(({ entry }) => entry.location === location && entry.resource === table))
    return { asked, context, deleted, frames, location, warnings }
  })
  return warehouse.runPromise(
    Effect.provide(run, Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf(frames))))
  )
}

describe("how many rows of a table a run may delete", () => {
  it.each([
    // The service says so about each of them: twenty, or the share.
    ["things", 100, 30, 0.3, 30],
    ["things", 100, 31, 0.3, 0],
    ["things", 25, 20, 0.3, 20],
    ["things", 25, 21, 0.3, 0],
    ["things", 1, 1, 0.3, 1],
    ["things", 2, 1, 0, 1],
    // Only a second reading says so: a third of a short list, or the share.
    ["marks", 12, 4, 0, 4],
    ["marks", 12, 5, 0, 0],
    ["marks", 11, 4, 0, 0],
    ["marks", 2, 1, 0, 0],
    ["marks", 2, 1, 0.5, 1],
    ["marks", 90, 20, 0, 20],
    ["marks", 90, 21, 0, 0],
    ["marks", 90, 45, 0.5, 45],
    ["marks", 90, 46, 0.5, 0]
  ])("%s: of %i rows, %i missing, with a share of %d: %i", async (table, rows, missing, share, expected) => {
    const resource = resources.find((one) => one.table === table)!
    const { deleted, warnings } = await decided({ resource, rows, missing, share })
    assert.strictEqual(deleted.length, expected)
    const refused = { _tag: "TooManyDeletions", missing, deleted: missing, rows } as const
    assert.deepStrictEqual(warnings, expected === missing ? [] : [refused])
  })

  it("is counted over all decisions of the run", async () => {
    const removed = new Map([["things", 6]])
    const first = await decided({ rows: 30, missing: 14, context: { removed } })
    assert.strictEqual(first.deleted.length, 14)
    assert.strictEqual(removed.get("things"), 20)
    const second = await decided({ rows: 30, missing: 1, context: { removed } })
    assert.deepStrictEqual(second.deleted, [])
    assert.deepStrictEqual(second.asked, [], "nothing is asked that cannot be used")
    assert.strictEqual(removed.get("things"), 20)
  })

  it("counts what is deleted with a row where nobody but the list says that it is gone", async () => {
    const sql =
      "INSERT INTO crm.notes (location_id, id, mark_id) SELECT 'LOCATION', 'n' || n, 'i' || (n % 8) FROM range(40) AS t(n);"
    const few = await decided({ resource: marks, rows: 12, missing: 4, share: 0.3, sql })
    assert.strictEqual(few.deleted.length, 4)
    assert.deepInclude(Object.fromEntries(few.context.removed), { marks: 4, notes: 20 })
    const more = sql.replace("% 8", "% 4")
    const { deleted, warnings } = await decided({ resource: marks, rows: 12, missing: 4, share: 0.3, sql: more })
    assert.deepStrictEqual(deleted, [])
    assert.deepStrictEqual(warnings, [
      { _tag: "TooManyDeletions", missing: 4, deleted: 40, rows: 40, dependent: "notes" }
    ])
  })

  it("does not count a row whose parent is deleted: that follows", async () => {
    const sql = `UPDATE crm.badges SET mark_id = 'p' WHERE location_id = 'LOCATION';
      INSERT INTO crm.marks (location_id, id, _deleted_at) VALUES ('LOCATION', 'p', now());`
    const { context, deleted, warnings } = await decided({
      resource: badges,
      rows: 30,
      missing: 30,
      share: 0,
      sql
    })
    assert.strictEqual(deleted.length, 30)
    assert.deepStrictEqual([warnings, context.removed.size], [[], 0])
  })
})

describe("a row that a list did not return", () => {
  it("is deleted if the service says of this very record that it is not there, and returns another one", async () => {
    const { asked, deleted, warnings } = await decided({ rows: 10, missing: 2 })
    assert.deepStrictEqual([deleted, warnings], [["i0", "i1"], []])
    assert.lengthOf(asked, 5, "besides, an id that was never issued, and another record before and after")
    assert.deepStrictEqual(asked.filter((one) => /^i[01]$/.test(one)).toSorted(), ["i0", "i1"])
    assert.deepStrictEqual([asked[1], /^i\d+$/.test(asked[0]!)], [asked[4], false])
  })

  it("is deleted whatever a text looks like that each answer has of its own", async () => {
    const own = ["emfqFqYYDlgnPEcMqkCg", "uCJuTtlqmiyJCCEfAdWm"]
    const numbered = (id: string) => rejects(`About ${id}`, 404, { traceId: own.shift() ?? `7${"x".repeat(19)}` })
    const says = (id: string, isMissing: boolean) => (isMissing ? numbered(id) : "exists")
    const { asked, deleted } = await decided({ rows: 10, missing: 3, says, never: numbered })
    assert.deepStrictEqual(deleted.toSorted(), ["i0", "i1", "i2"])
    assert.lengthOf(asked, 7, "one is asked for again")
  })

  it("is deleted if the record itself says so", async () => {
    const { deleted } = await decided({
      rows: 10,
      missing: 1,
      says: (_, isMissing) => (isMissing ? "flagged" : "exists")
    })
    assert.deepStrictEqual(deleted, ["i0"])
  })

  it.each([
    ["exists", "exists" as const, [{ _tag: "MissingRowsExist", rows: 2 }]],
    ["is another one", "another" as const, [{ _tag: "MissingRowsUnknown", rows: 2 }]],
    ["may not be read", new Forbidden({ message: "403" }), [{ _tag: "MissingRowsUnknown", rows: 2 }]],
    ["is refused", new RequestRejected({ status: 422, message: "no" }), [{ _tag: "MissingRowsUnknown", rows: 2 }]],
    ["is refused in other words", rejects("Owner not found"), [{ _tag: "MissingRowsUnknown", rows: 2 }]],
    [
      "is refused with another status",
      rejects("Any sentence about i0", 400),
      [{ _tag: "MissingRowsUnknown", rows: 2 }]
    ],
    ["does not come", new Unavailable({ message: "500", later: false }), [{ _tag: "MissingRowsUnknown", rows: 2 }]],
    ["is over the budget", new BudgetExhausted({ message: "no" }), [{ _tag: "MissingRowsUnknown", rows: 2 }]]
  ] as ReadonlyArray<readonly [string, Said, ReadonlyArray<unknown>]>)(
    "is not deleted if the record %s",
    async (_, said, expected) => {
      const { context, deleted, warnings } = await decided({
        rows: 10,
        missing: 2,
        says: (_, isMissing) => (isMissing ? said : "exists")
      })
      assert.deepStrictEqual([deleted, warnings], [[], expected])
      assert.strictEqual(context.removed.size, 0)
    }
  )

  it("is asked for, however many there are: none is deleted because it was beyond some number", async () => {
    const { asked, deleted, warnings } = await decided({ rows: 2000, missing: 590, says: () => "exists" })
    assert.deepStrictEqual([deleted, warnings], [[], [{ _tag: "MissingRowsExist", rows: 590 }]])
    assert.isAtLeast(new Set(asked).size, 590)
  })

  it("is not believed notFound where the service finds no record at all, unless a second reading agrees", async () => {
    const nothing = { rows: 10, missing: 2, share: 0, says: (): Said => "gone" }
    const agreed = await decided(nothing)
    assert.deepStrictEqual(agreed.deleted, ["i0", "i1"])
    assert.lengthOf(agreed.asked, 2, "where the control does not hold, the records are not asked for")
    const returned = await decided({ ...nothing, missingAgain: (one) => one === "i1" })
    assert.deepStrictEqual([returned.deleted, returned.warnings], [["i1"], [{ _tag: "DeletionsUnconfirmed", rows: 1 }]])
    const stopped = await decided({ ...nothing, isSecondComplete: false })
    assert.deepStrictEqual([stopped.deleted, stopped.warnings], [[], [{ _tag: "DeletionsUnconfirmed", rows: 2 }]])
    const tooMany = await decided({ ...nothing, missing: 4 })
    assert.deepStrictEqual([tooMany.deleted, tooMany.warnings.map(({ _tag }) => _tag)], [[], ["TooManyDeletions"]])
  })

  it("may be the only one: then the list and its own route are two witnesses", async () => {
    assert.deepStrictEqual((await decided({ rows: 1, missing: 1, share: 0 })).deleted, ["i0"])
  })

  it("came in after the reading began, or is elsewhere: then nothing is decided about it", async () => {
    const late = await decided({
      rows: 3,
      missing: 3,
      sql: "UPDATE crm.things SET _synced_at = TIMESTAMPTZ '2026-03-01' WHERE location_id = 'LOCATION';"
    })
    assert.deepStrictEqual([late.deleted, late.asked, late.warnings], [[], [], []])
    const notFound = await decided({
      rows: 3,
      missing: 3,
      sql: "UPDATE crm.things SET _deleted_at = now() WHERE location_id = 'LOCATION';"
    })
    assert.deepStrictEqual([notFound.deleted, notFound.asked], [[], []])
    const none = await decided({ rows: 0, missing: 0 })
    assert.deepStrictEqual([none.deleted, none.asked, none.warnings], [[], [], []])
  })

  it("is not looked for if the reading is known to have returned every row", async () => {
    const known = { ...contextOf().known, hasSeenAll: () => true }
    const { asked, deleted } = await decided({ rows: 3, missing: 2, context: { known } })
    assert.deepStrictEqual([asked, deleted], [[], []])
  })
})

describe("a route proves nothing", () => {
  it.each<readonly [string, Partial<Given>]>([
    ["if an id that was never issued has a record", { never: () => "another" }],
    ["if it may not be asked for one", { never: () => new Forbidden({ message: "403" }) }],
    ["if it does not answer for one", { never: () => new Unavailable({ message: "503", later: false }) }],
    ["if it never says the same of it", { never: (one) => rejects(`Request ${count++} about ${one} failed`) }]
  ])("%s: then a second reading decides", async (_, more) => {
    const agreed = await decided({ rows: 10, missing: 2, share: 0, ...more })
    assert.deepStrictEqual([agreed.deleted, agreed.warnings], [["i0", "i1"], []])
    const returned = await decided({ rows: 10, missing: 2, share: 0, missingAgain: () => false, ...more })
    assert.deepStrictEqual([returned.deleted, returned.warnings], [[], [{ _tag: "DeletionsUnconfirmed", rows: 2 }]])
    for (const { asked } of [agreed, returned])
      assert.isAtMost(asked.filter((one) => !/^i[01]$/.test(one)).length, 3, "requests beside those for the records")
  })
  let count = 0

  it("if a record that exists is not returned any more at the end", async () => {
    const seen = new Set<string>()
    const found = await decided({
      rows: 10,
      missing: 2,
      says: (one, isMissing) => (isMissing || seen.size === seen.add(one).size ? "gone" : "exists")
    })
    assert.deepStrictEqual([found.deleted, found.warnings], [[], [{ _tag: "MissingRowsUnknown", rows: 2 }]])
  })

  it("by any answer that is not that of an id which was never issued, drawn at random", async () => {
    const random = randomFrom(11)
    const pick = <A>(of: ReadonlyArray<A>): A => of[Math.floor(random() * of.length)]!
    const words = "owner contact notFound deleted not found exist longer thing server Session 404 i0 i1 no such".split(
      " "
    )
    const sentence = () => Array.from({ length: 1 + Math.floor(random() * 7) }, () => pick(words)).join(" ")
    for (let n = 0; n < 40; n++) {
      const said = rejects(sentence(), pick([400, 404, 404, 410, 422]))
      const { deleted } = await decided({ rows: 6, missing: 2, says: (_, isMissing) => (isMissing ? said : "exists") })
      assert.deepStrictEqual(deleted, [], said.message)
    }
  })
})

describe("records that the service refused", () => {
  const refused = (keys: ReadonlyArray<string>, named: ReadonlyArray<string> = [], controls: Said = "exists") =>
    Effect.gen(function* () {
      const frames: Array<Frame> = []
      const asked: Array<string> = []
      const location = `L${locations++}`
      yield* (yield* Warehouse).run(
        `INSERT INTO crm.things (location_id, id) SELECT '${location}', 'i' || n FROM range(100) AS t(n)`
      )
      const api = Api.of({
        ...silentApi,
        send: ({ request }) => {
          const one = request.path.split("/").at(-1)!
          asked.push(one)
          return controls === "gone" || !/^i\d+$/.test(one)
            ? Effect.fail(rejects(`Any sentence about ${one}`))
            : Effect.succeed(answerOf({ wrapped: { id: one } }))
        }
      })
      const context = contextOf({ location, resources })
      for (const id of keys)
        context.answers.set(placeOf(things, { id }), { refusal: rejects(`Any sentence about ${id}`).refusal! })
      const found = yield* decideNotFound(things, keys, context, () => Effect.succeed(named)).pipe(
        Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf(frames))))
      )
      const deleted = frames.flatMap(({ body }) => JSON.parse(String(body)) as ReadonlyArray<string>)
      return { ...found, asked, deleted }
    })
  const decide = (...given: Parameters<typeof refused>) => warehouse.runPromise(refused(...given))

  it("are deleted if an id that was never issued is refused so, and another record is returned", async () => {
    const { asked, deleted, notFound } = await decide(["i1"])
    assert.deepStrictEqual([notFound, deleted], [["i1"], ["i1"]])
    assert.lengthOf(asked, 3, "they are not asked for again")
  })

  it("are not deleted if the route returns nothing", async () =>
    assert.deepInclude(await decide(["i1"], [], "gone"), { notFound: [], deleted: [] }))

  it("are not deleted if something read in this run names them, or if they are too many", async () => {
    assert.deepInclude(await decide(["i1"], ["i1"]), { notFound: ["i1"], named: ["i1"], deleted: [] })
    const many = Array.from({ length: 31 }, (_, n) => `i${n}`)
    const { deleted, notFound, warnings } = await decide(many)
    assert.deepStrictEqual([notFound.length, deleted], [31, []])
    assert.deepStrictEqual(warnings, [{ _tag: "TooManyDeletions", missing: 31, deleted: 31, rows: 100 }])
    assert.strictEqual((await decide(many.slice(1))).deleted.length, 30)
  })
})
