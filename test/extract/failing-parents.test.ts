/** Children of parents of which some cannot be read: how long it goes on, what is not requested any more, and what it says. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer } from "effect"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type ChildOf, childRequestOf, defineChild, defineList } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { refusalIn } from "../../src/stages/api/author.ts"
import { type ApiError, BudgetExhausted, Forbidden, RequestRejected, Unavailable } from "../../src/stages/api/errors.ts"
import { readChildren } from "../../src/stages/extract/children.ts"
import type { PageEntry } from "../../src/stores/vault/entry.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { contextOf, silentApi, vaultOf } from "./fakes.ts"

const common = { description: "d", source: "s", scope: "s" }
const strategy = {
  request: get("/things/{thingId}/notes"),
  paging: { kind: "once" },
  records: "notes",
  pageSize: 10
} as const
const things = defineList({
  ...common,
  table: "things",
  full: [strategy],
  getOne: { request: get("/things/{thingId}"), record: "" },
  detail: {
    refreshAfter: "1 day",
    fields: { link: text("Link"), content: text("Content of the link") },
    linked: { url: "link", as: "content" }
  },
  fields: { id: id("Id") }
})
const notesOf = (more: Partial<ChildOf> = {}) =>
  defineChild({
    ...common,
    table: "notes",
    childOf: { table: "things", column: "thing_id", refreshAfter: "1 day", strategy, ...more },
    fields: { id: id("Id") }
  })

/** The service itself rejects a request, in any words. */
const rejects = (message: string, status = 404, more: object = {}) => {
  const body = Buffer.from(JSON.stringify({ statusCode: status, message, ...more }))
  return new RequestRejected({ status, message, refusal: refusalIn(status, body, undefined) })
}
/** As it rejects the request for an id that was never issued. */
const gone = (n: number) => rejects(`Anything about t${n}`)

const answered = (body: object) => ({
  bytes: Buffer.alloc(0),
  body,
  hasBigNumbers: false,
  at: 0,
  serviceTime: undefined
})

interface Given extends Partial<ChildOf> {
  /** Details of the things are read, and no notes. */
  readonly details?: true
  /** The service does not know the things either. */
  readonly isGone?: true
  /** Each rejection has the next of these, and the last one from then on. */
  readonly traces?: ReadonlyArray<string>
}

/** Reads the notes of so many due things; `fails` says of which, by their number, they cannot be read. */
const reading = (
  parents: number,
  fails: (n: number) => ApiError | undefined,
  { details, isGone, traces, ...more }: Given = {}
) =>
  Effect.gen(function* () {
    const [frames, sent, asked] = [[] as Array<Frame>, [] as Array<number>, [] as Array<number>]
    const notes = notesOf(more)
    const read = details ? things : notes
    const requestsByResource = new Map<string, number>()
    const left = [...(traces ?? [])]
    const api = Api.of({
      ...silentApi,
      requestsByResource,
      // One of the texts cannot be fetched.
      linked: (link) => Effect.succeed(link.endsWith("/1") ? undefined : `text of ${link}`),
      send: ({ request, resource }) =>
        Effect.suspend((): ReturnType<Api["Service"]["send"]> => {
          const one = request.path.split("/")[2]!
          const n = Number(/\d+/.exec(one)?.[0])
          if (request.path.startsWith("/locations/")) return Effect.succeed(answered({}))
          const isAsked = !details && !request.path.endsWith("/notes")
          const isIssued = one === `t${n}`
          if (isIssued) (isAsked ? asked : sent).push(n)
          requestsByResource.set(resource, (requestsByResource.get(resource) ?? 0) + 1)
          const traced = () =>
            rejects(`Anything about ${one}`, 404, { traceId: left.length > 1 ? left.shift() : left[0] })
          const error = !isIssued
            ? traces
              ? traced()
              : rejects(`Anything about ${one}`)
            : traces && fails(n)
              ? traced()
              : isAsked
                ? isGone
                  ? gone(n)
                  : undefined
                : fails(n)
          return error
            ? Effect.fail(error)
            : Effect.succeed(
                answered(isAsked || details ? { id: `t${n}`, link: `https://host/${n}` } : { notes: [{ id: `n${n}` }] })
              )
        })
    })
    const due = Array.from({ length: parents }, (_, n) => ({ id: `t${n}`, version: "1", full: true, checkpoint: null }))
    const rows = (sql: string) => {
      const done = new Set(
        frames
          .flatMap(({ entry }) => (entry as PageEntry).parent ?? [])
          .filter(({ done }) => done)
          .map(({ id }) => id)
      )
      if (sql.includes("absent ON")) return isGone ? [] : [{ _key: "t500", _explained: false, id: "t500" }]
      if (sql.includes("FILTER (WHERE"))
        return [
          {
            label: read === things ? "things/details" : "notes",
            due: due.filter(({ id }) => !done.has(id)).length,
            oldestFetch: null
          }
        ]
      if (sql.includes("AS wanted ON")) return due.filter(({ id }) => sql.includes(`'${id}'`))
      if (sql.includes("LIMIT")) return due.filter(({ id }) => !done.has(id))
      return sql.includes("min(") ? [{ at: null }] : []
    }
    const warehouse = { rows: (sql: string) => Effect.sync(() => rows(sql)) } as unknown as Warehouse["Service"]
    const parentsRead = yield* Deferred.make<void>()
    yield* Deferred.succeed(parentsRead, undefined)
    const planned = { childCapabilities: undefined, refreshCutoff: undefined, parents: undefined }
    const known = { ...contextOf().known, hasNoDeleted: () => true, hasMissing: () => false }
    const exit = yield* readChildren(
      read,
      childRequestOf(read)!,
      planned as never,
      parentsRead,
      contextOf({ resources: [things, notes], known })
    ).pipe(
      Effect.provide(
        Layer.mergeAll(
          Layer.succeed(Api, api),
          Layer.succeed(Vault, vaultOf(frames)),
          Layer.succeed(Warehouse, warehouse)
        )
      ),
      Effect.exit
    )
    const noted = frames.flatMap(({ entry }) => (entry as PageEntry).parent ?? [])
    const stored = noted.filter(({ done }) => done)
    return {
      sent,
      asked,
      frames: frames.filter(({ entry }) => (entry as PageEntry).parent?.done !== false),
      stored,
      noted,
      outcome: Exit.isSuccess(exit) ? exit.value : undefined,
      failure: Exit.isFailure(exit) ? JSON.stringify(exit) : undefined
    }
  })
const down = new Unavailable({ message: "500", later: false })

describe("children of parents that cannot be read", () => {
  it.live("are left out, with their number and one of their ids", () =>
    Effect.gen(function* () {
      const { outcome, sent, stored } = yield* reading(30, (n) => (n === 3 || n === 7 ? down : undefined))
      assert.strictEqual(sent.length, 30)
      assert.deepStrictEqual(stored.length, 28)
      assert.isTrue(stored.every(({ done, full, version }) => done && full && version === "1"))
      assert.deepStrictEqual(outcome!.shortfalls, [
        { _tag: "RequestsFailed", count: 2, id: "t3", detail: { message: "500" } }
      ])
      assert.strictEqual(outcome!.requests, 30)
      assert.deepStrictEqual((yield* reading(5, () => undefined)).outcome!.shortfalls, [])
    })
  )

  it.live("are left out if the token may not read one of them, and end the reading if it may read none", () =>
    Effect.gen(function* () {
      for (const answered of [401, 403]) {
        const refused = new Forbidden({ message: "no permission", answered })
        const one = yield* reading(60, (n) => (n === 40 ? refused : undefined))
        assert.deepStrictEqual([one.sent.length, one.failure], [60, undefined])
        assert.deepInclude(one.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 1, id: "t40" })
        const later = yield* reading(60, (n) => (n > 20 ? refused : undefined))
        assert.deepStrictEqual([later.sent.length, later.stored.length], [60, 21])
        const all = yield* reading(60, () => refused)
        assert.isBelow(all.sent.length, 40)
        assert.deepStrictEqual(
          all.outcome!.shortfalls.map(({ _tag }) => _tag),
          ["RequestsFailed", "NotRequested"]
        )
      }
    })
  )

  it.live("are given up after 21 failures in a row only if nothing was answered, and what was not asked is said", () =>
    Effect.gen(function* () {
      const twenty = yield* reading(60, (n) => (n < 20 ? down : undefined))
      assert.deepStrictEqual([twenty.sent.length, twenty.failure], [60, undefined])
      const more = yield* reading(60, (n) => (n < 21 ? down : undefined))
      assert.isBelow(more.sent.length, 40)
      const [failed, notRequested] = more.outcome!.shortfalls
      assert.deepInclude(failed, { _tag: "RequestsFailed", id: "t0" })
      assert.strictEqual(notRequested!._tag, "NotRequested")
      const counts = more.outcome!.shortfalls.map((one) => ("count" in one ? one.count : 0))
      assert.strictEqual(counts[0]! + counts[1]!, 60 - more.stored.length)
      const after = yield* reading(90, (n) => (n === 0 ? undefined : n < 70 ? down : undefined))
      assert.deepStrictEqual([after.sent.length, after.stored.length], [90, 21])
      const often = yield* reading(90, (n) => (n % 15 === 14 ? undefined : down))
      assert.deepStrictEqual([often.sent.length, often.failure], [90, undefined])
      assert.deepInclude(often.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 84 })
    })
  )

  it.live("are all asked, at whatever place those stand that the service itself rejects", () =>
    Effect.gen(function* () {
      const random = randomFrom(3)
      for (const status of [400, 404, 409, 422]) {
        const bad = new Set(Array.from({ length: 200 }, (_, n) => n).filter((n) => n < 30 || random() < 0.3))
        const { noted, outcome, sent, stored } = yield* reading(200, (n) =>
          bad.has(n) ? rejects("Notes of this one cannot be read", status) : undefined
        )
        assert.deepStrictEqual([sent.length, new Set(sent).size, stored.length], [200, 200, 200 - bad.size])
        assert.deepInclude(outcome!.shortfalls, {
          _tag: "RequestsFailed",
          count: bad.size,
          id: "t0",
          detail: { message: "the service rejected the request (Notes of this one cannot be read)" }
        })
        assert.strictEqual(noted.filter(({ done }) => !done).length, bad.size, "the next run asks for them last")
      }
      const none = yield* reading(200, () => rejects("Notes cannot be read"))
      assert.strictEqual(none.sent.length, 40)
      assert.deepInclude(none.outcome!.shortfalls, { _tag: "NotRequested", count: 160 })
    })
  )

  it.live("are not requested once the budget is used up", () =>
    Effect.gen(function* () {
      const { failure, sent } = yield* reading(200, (n) =>
        n >= 10 ? new BudgetExhausted({ message: "no more" }) : undefined
      )
      assert.match(failure!, /"BudgetExhausted"/)
      assert.isAtMost(sent.length, 10 + 12, "those that were in flight")
    })
  )

  it.live("are none where the service says so by an error, which is stored so that it is not asked again", () =>
    Effect.gen(function* () {
      const errors = [rejects("no"), rejects("no", 400), rejects("no", 422)]
      const { outcome, stored } = yield* reading(3, (n) => errors[n], { noneIsError: true })
      assert.deepStrictEqual(outcome!.shortfalls, [])
      assert.deepStrictEqual(
        stored.map(({ done, id }) => [id, done]),
        [
          ["t0", true],
          ["t1", true],
          ["t2", true]
        ]
      )
      const others = yield* reading(1, () => rejects("no", 409), {
        noneIsError: true
      })
      assert.deepInclude(others.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 1 })
      assert.deepStrictEqual(others.stored, [])
      const stranger = yield* reading(1, () => new RequestRejected({ status: 404, message: "<html>" }), {
        noneIsError: true
      })
      assert.deepInclude(
        stranger.outcome!.shortfalls[0],
        { _tag: "RequestsFailed", count: 1 },
        "no word of the service"
      )
      const plain = yield* reading(1, () => errors[1])
      assert.deepInclude(plain.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 1 })
    })
  )

  it.live("are none only while the route answers for another parent, and refuses as it did before", () =>
    Effect.gen(function* () {
      const random = randomFrom(5)
      const words = ["no recording", "the store is down", "try later", "none"]
      for (let round = 0; round < 12; round++) {
        const [usual, other] = [words[round % 4]!, words[(round + 1) % 4]!]
        const without = new Set(Array.from({ length: 60 }, (_, n) => n).filter(() => random() < 0.4))
        const isNone = (n: number) => (without.has(n) ? rejects(`${usual} of t${n}`) : undefined)
        // Some of those that have children are refused for a while, in other words.
        const odd = new Set([...Array(60).keys()].filter((n) => !without.has(n) && random() < 0.2))
        const healthy = yield* reading(60, isNone, { noneIsError: true })
        assert.deepStrictEqual(healthy.outcome!.shortfalls, [])
        assert.strictEqual(healthy.stored.length, 60)
        assert.isAtMost(healthy.sent.length, 60 + 2 * 2, "two more requests for each batch")
        const asked = new Set<number>()
        const troubled = yield* reading(
          60,
          (n) => {
            const isFirst = !asked.has(n)
            asked.add(n)
            return isFirst && odd.has(n) ? rejects(other) : isNone(n)
          },
          { noneIsError: true }
        )
        assert.sameMembers(
          troubled.stored.map(({ id }) => Number(id.slice(1))),
          [...Array(60).keys()].filter((n) => !odd.has(n))
        )
        // From a moment on, every parent is refused as those are that have none.
        let begun = 0
        const broken = yield* reading(60, (n) => (++begun > 45 ? rejects(`${usual} of t${n}`) : isNone(n)), {
          noneIsError: true
        })
        const kept = new Set(broken.stored.map(({ id }) => Number(id.slice(1))))
        assert.isTrue(
          [...kept].every((n) => n < 45),
          [...kept].join()
        )
        assert.strictEqual(broken.outcome!.shortfalls[0]!._tag, "RequestsFailed")
      }
    })
  )
})

describe("what the service answers not found for", () => {
  it.live("is asked for as a parent: if that is there, its children are a failure, and nothing is deleted", () =>
    Effect.gen(function* () {
      const { asked, frames, outcome } = yield* reading(4, (n) => (n < 2 ? gone(n) : undefined))
      assert.sameMembers(asked, [500, 0, 1], "one that exists first")
      assert.deepInclude(outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 2, id: "t0" })
      assert.isEmpty(frames.filter(({ entry }) => entry.kind === "deleted"))
    })
  )

  it.live(
    "are gone although what an answer has of its own looks like a word, as that of a second answer does not",
    () =>
      Effect.gen(function* () {
        const [one, another] = ["abcdefghijklmnopqrst", "tsrqponmlkjihgfedcba"]
        const only = (n: number) => (n === 1 ? gone(1) : undefined)
        const found = yield* reading(3, only, { traces: [one, another, "a1cdefghijklmnopqrst"] })
        assert.deepStrictEqual(found.outcome!.shortfalls, [])
        const never = yield* reading(3, only, { traces: [one, another, "another one that is no trace"] })
        assert.deepInclude(never.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 1, id: "t1" })
      })
  )

  it.live("is not believed of the parents either if the service finds none of them", () =>
    Effect.gen(function* () {
      const { frames, outcome } = yield* reading(4, gone, { isGone: true })
      assert.deepInclude(outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 4, id: "t0" })
      assert.isEmpty(frames)
    })
  )

  it.live("is a warning where something names it all the same, and the details of others were returned", () =>
    Effect.gen(function* () {
      const { outcome, stored } = yield* reading(9, (n) => (n < 3 ? gone(n) : undefined), { details: true })
      assert.lengthOf(stored, 6)
      assert.deepStrictEqual(outcome!.shortfalls, [])
      assert.deepInclude(outcome!.warnings, { _tag: "NotFoundButNamed", count: 3, id: "t0" })
    })
  )

  it.live("is every detail, and no record is returned: then none is deleted", () =>
    Effect.gen(function* () {
      const { frames, outcome } = yield* reading(20, gone, { details: true, isGone: true })
      assert.deepInclude(outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 20 })
      assert.isEmpty(frames)
    })
  )
})

describe("a detail", () => {
  it.live("is stored with the text that it links to, and one whose text cannot be fetched is counted", () =>
    Effect.gen(function* () {
      const { frames, outcome } = yield* reading(3, () => undefined, { details: true })
      assert.deepStrictEqual(
        frames.map(({ body, entry }) => [entry.kind, JSON.parse(String(body)).content]).toSorted(),
        [
          ["detail", undefined],
          ["detail", "text of https://host/0"],
          ["detail", "text of https://host/2"]
        ].toSorted()
      )
      assert.deepInclude(outcome!.warnings, { _tag: "LinkedTextsMissing", count: 1 })
    })
  )
})
