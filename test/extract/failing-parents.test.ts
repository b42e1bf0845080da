/** Children of parents of which some cannot be read: how long it goes on, what is not requested any more, and what it says. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer } from "effect"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type ChildOf, childRequestOf, defineChild, defineList } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import {
  type ApiError,
  BudgetExhausted,
  Forbidden,
  NotFound,
  RequestRejected,
  Unavailable
} from "../../src/stages/api/errors.ts"
import { readChildren } from "../../src/stages/extract/children.ts"
import type { PageEntry } from "../../src/stores/vault/entry.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
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

interface Given extends Partial<ChildOf> {
  /** Details of the things are read, and no notes. */
  readonly details?: true
  /** The service does not know the things either. */
  readonly isGone?: true
}

/** Reads the notes of so many due things; `fails` says of which, by their number, they cannot be read. */
const reading = (
  parents: number,
  fails: (n: number) => ApiError | undefined,
  { details, isGone, ...more }: Given = {}
) =>
  Effect.gen(function* () {
    const [frames, sent, asked] = [[] as Array<Frame>, [] as Array<number>, [] as Array<number>]
    const notes = notesOf(more)
    const read = details ? things : notes
    const requestsByResource = new Map<string, number>()
    const api = Api.of({
      ...silentApi,
      requestsByResource,
      // One of the texts cannot be fetched.
      linked: (link) => Effect.succeed(link.endsWith("/1") ? undefined : `text of ${link}`),
      send: ({ request, resource }) =>
        Effect.suspend((): ReturnType<Api["Service"]["send"]> => {
          const n = Number(/\d+/.exec(request.path)![0])
          const isAsked = !details && !request.path.endsWith("/notes")
          ;(isAsked ? asked : sent).push(n)
          requestsByResource.set(resource, (requestsByResource.get(resource) ?? 0) + 1)
          const error = isAsked ? (isGone ? new NotFound({ message: "404" }) : undefined) : fails(n)
          return error
            ? Effect.fail(error)
            : Effect.succeed({
                bytes: Buffer.alloc(0),
                body: isAsked || details ? { id: `t${n}`, link: `https://host/${n}` } : { notes: [{ id: `n${n}` }] },
                hasBigNumbers: false,
                at: 0,
                serviceTime: undefined
              })
        })
    })
    const due = Array.from({ length: parents }, (_, n) => ({ id: `t${n}`, version: "1", full: true, checkpoint: null }))
    const rows = (sql: string) => {
      if (sql.includes("AS wanted ON")) return due.filter(({ id }) => sql.includes(`'${id}'`))
      if (sql.includes("LIMIT")) return due
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
    const stored = frames.flatMap(({ entry }) => (entry as PageEntry).parent ?? [])
    return {
      sent,
      asked,
      frames,
      stored,
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
      const refused = (answered: number) => new Forbidden({ message: "no permission", answered })
      const one = yield* reading(60, (n) => (n === 40 ? refused(403) : undefined))
      assert.deepStrictEqual([one.sent.length, one.failure], [60, undefined])
      assert.deepInclude(one.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 1, id: "t40" })
      for (const fails of [() => refused(403), (n: number) => (n > 40 ? refused(401) : undefined)])
        assert.match((yield* reading(60, fails)).failure!, /"Forbidden"/)
      const later = yield* reading(60, (n) => (n > 20 ? refused(403) : undefined))
      assert.match(later.failure!, /"Forbidden"/)
    })
  )

  it.live("are given up after 21 failures in a row, and not after as many with an answer in between", () =>
    Effect.gen(function* () {
      const twenty = yield* reading(60, (n) => (n < 20 ? down : undefined))
      assert.deepStrictEqual([twenty.sent.length, twenty.failure], [60, undefined])
      const more = yield* reading(60, (n) => (n < 21 ? down : undefined))
      assert.match(more.failure!, /"Unavailable"/)
      assert.isBelow(more.sent.length, 40)
      const often = yield* reading(90, (n) => (n % 15 === 14 ? undefined : down))
      assert.deepStrictEqual([often.sent.length, often.failure], [90, undefined])
      assert.deepInclude(often.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 84 })
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
      const errors = [
        new NotFound({ message: "404" }),
        new RequestRejected({ status: 400, message: "no", isOwn: true }),
        new RequestRejected({ status: 422, message: "no", isOwn: true })
      ]
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
      const others = yield* reading(1, () => new RequestRejected({ status: 409, message: "no", isOwn: true }), {
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
})

describe("what the service answers not found for", () => {
  const notFound = new NotFound({ message: "404" })

  it.live("is asked for as a parent: if that is there, its children are a failure, and nothing is deleted", () =>
    Effect.gen(function* () {
      const { asked, frames, outcome } = yield* reading(4, (n) => (n < 2 ? notFound : undefined))
      assert.sameMembers(asked, [0, 1])
      assert.deepInclude(outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 2, id: "t0" })
      assert.isEmpty(frames.filter(({ entry }) => entry.kind === "deleted"))
    })
  )

  it.live("is not believed of the parents either if the service finds none of them", () =>
    Effect.gen(function* () {
      const { frames, outcome } = yield* reading(4, () => notFound, { isGone: true })
      const detail = { message: "the service answers not found, to every request of this kind" }
      assert.deepStrictEqual(outcome!.shortfalls, [{ _tag: "RequestsFailed", count: 4, id: "t0", detail }])
      assert.isEmpty(frames)
    })
  )

  it.live("is a warning where something names it all the same, and the details of others were returned", () =>
    Effect.gen(function* () {
      const { outcome, stored } = yield* reading(9, (n) => (n < 3 ? notFound : undefined), { details: true })
      assert.lengthOf(stored, 6)
      assert.deepStrictEqual(outcome!.shortfalls, [])
      assert.deepInclude(outcome!.warnings, { _tag: "NotFoundButNamed", count: 3, id: "t0" })
    })
  )

  it.live("is every detail: up to twenty are failures, and more end the reading", () =>
    Effect.gen(function* () {
      const twenty = yield* reading(20, () => notFound, { details: true })
      assert.deepInclude(twenty.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 20 })
      const more = yield* reading(21, () => notFound, { details: true })
      assert.match(more.failure!, /answers not found to every request/)
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
