/** Changes of a list that is read newest change first: one request where one page suffices, and never at the price of a change. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cursor, get, since, size } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { randomFrom } from "../support/random.ts"
import { type Item, type Parameters, begin, listOf, reading } from "./service.ts"

const byCursor: Strategy = {
  request: get("/items", { sort: "-at", limit: size, after: cursor }),
  paging: { kind: "lastRecord", field: "next" },
  records: "items",
  pageSize: 20,
  firstPageSize: 5,
  total: "total",
  stopBefore: "at",
  notSortedBy: "made"
}
const filtered: Strategy = {
  request: get("/items", { since: since("epochMs"), limit: size, after: cursor }),
  paging: { kind: "lastRecord", field: "next" },
  records: "items",
  pageSize: 20,
  total: "total",
  verifyField: "at"
}
const resource = listOf([filtered], {
  changes: {
    field: "at",
    overlap: "1 minute",
    newest: byCursor,
    strategies: [filtered],
    added: [{ ...filtered, verifyField: "made" }]
  }
})

const minute = 60_000
/** So many records, made one after another. The older ones were changed last, in this order, since `n` records ago. */
const account = (count: number, changed: ReadonlyArray<number> = []): Array<Item> =>
  Array.from({ length: count }, (_, n) => {
    const rank = changed.indexOf(n)
    const made = begin + n * minute
    return { id: `i${n}`, made, at: rank < 0 ? made : begin + (count + rank) * minute }
  })

/** What a service that sorts by `by` answers. */
const answerOf =
  (records: ReadonlyArray<Item>, { by = "at", cut = Infinity } = {}) =>
  ({ after = 0, limit, since: from, sort }: Parameters) => {
    const order = sort === undefined ? "made" : by
    const sorted = records.toSorted((one, other) => Number(other[order]) - Number(one[order]))
    const matching = from === undefined ? sorted : sorted.filter(({ at }) => at >= Number(from))
    const page = matching.slice(Number(after), Number(after) + Math.min(Number(limit), cut))
    return { total: matching.length, items: page.map((item, n) => ({ ...item, next: Number(after) + n + 1 })) }
  }

/** A service that sorts by `by`, or cannot tell of the change. */
const nightOf = (
  records: ReadonlyArray<Item>,
  since: number,
  { undated = 0, ...service }: { readonly by?: string; readonly cut?: number; readonly undated?: number } = {}
) =>
  reading(resource, answerOf(records, service), {
    reading: { mode: "incremental", since, capabilities: { ...noCapabilities, undated } }
  })

const changedIn = (records: ReadonlyArray<Item>, since: number) =>
  records.filter(({ at }) => at >= since).map(({ id }) => id)

describe("a list that is read newest change first", () => {
  const records = account(60, [7, 3])
  const last = begin + 61 * minute

  it.effect("takes one request where one page suffices, with the total of the whole list", () =>
    Effect.gen(function* () {
      const { outcome, requests, seen, status } = yield* nightOf(records, last)
      assert.deepStrictEqual(
        [requests, status, outcome?.total, outcome?.watermark],
        [1, "complete", 60, last + minute + 1]
      )
      assert.isTrue(seen.has("i3"))
      assert.strictEqual(seen.size, 5)
    })
  )

  it.effect("takes one request of a list that is one page", () =>
    Effect.gen(function* () {
      const { requests, seen } = yield* nightOf(account(4), begin)
      assert.deepStrictEqual([requests, seen.size], [1, 4])
    })
  )

  it.effect.each([3, 12, 40])("reads all changes of a night, also %i of them", (count) =>
    Effect.gen(function* () {
      const many = account(
        60,
        Array.from({ length: count }, (_, n) => (n * 37) % 60)
      )
      const from = begin + 60 * minute
      const { requests, seen, status } = yield* nightOf(many, from)
      assert.strictEqual(status, "complete")
      assert.isEmpty(changedIn(many, from).filter((id) => !seen.has(id)))
      assert.isAtMost(requests, 1 + Math.ceil(count / 20))
    })
  )

  it.effect.each([
    ["sorts by another field all the same", { by: "made" }],
    ["sorts the other way round", { by: "backwards" }],
    ["cuts its pages and sorts by another field", { by: "made", cut: 3 }],
    ["has records without a time of change", { undated: 1, by: "made" }]
  ] as const)("is read by a filter if the service %s", ([, service]) =>
    Effect.gen(function* () {
      const from = begin + 60 * minute
      const turned = records.map((one) => ({ ...one, backwards: -one.at }))
      const { outcome, seen, status, warnings } = yield* nightOf(turned, from, service)
      assert.deepStrictEqual([status, warnings], ["complete", ""])
      assert.isEmpty(changedIn(records, from).filter((id) => !seen.has(id)))
      // What it counts is for another request to say.
      assert.isUndefined(outcome?.total)
    })
  )

  it.effect.each([1, 2, 3, 4])(
    "is read by a filter if one record is out of order, after %i others, because another may be anywhere",
    (place) =>
      Effect.gen(function* () {
        const from = begin + 60 * minute
        const answer = answerOf(records)
        const sorted = records.toSorted((one, other) => other.at - one.at)
        const [first, second, ...others] = sorted
        const moved = [...others.slice(0, place), first!, ...others.slice(place, 30), second!, ...others.slice(30)]
        const found = yield* reading(
          resource,
          (parameters) => {
            if (parameters["sort"] === undefined) return answer(parameters)
            const at = Number(parameters["after"] ?? 0)
            const page = moved.slice(at, at + Number(parameters["limit"]))
            return { total: moved.length, items: page.map((item, n) => ({ ...item, next: at + n + 1 })) }
          },
          { reading: { mode: "incremental", since: from } }
        )
        assert.deepStrictEqual([found.status, found.warnings], ["complete", ""])
        assert.isEmpty(changedIn(records, from).filter((id) => !found.seen.has(id)))
      })
  )

  it.effect("is read by a filter as long as no change shows by what the service sorts", () =>
    Effect.gen(function* () {
      // Nothing has changed since it was made, until the oldest record does: the order of the first page is that of both.
      const untouched = account(60)
      const { requests } = yield* nightOf(untouched, begin + 59 * minute)
      assert.isAbove(requests, 1)
    })
  )

  it.effect("proves its order by any page, and is left at the first page that is in another", () =>
    Effect.gen(function* () {
      // The newest records are new: only later pages show by what the service sorts.
      const grown = account(60, [7, 3]).map((one, n) => (n < 30 ? one : { ...one, at: one.at + 60 * minute }))
      const from = begin + 60 * minute
      const { requests, outcome } = yield* nightOf(grown, from)
      assert.deepStrictEqual([requests, outcome?.total], [3, 60])
      // Nothing has changed since eight records were added: a second page is less than the readings by filters.
      const added = account(60, [7, 3]).map((one, n) => (n < 52 ? one : { ...one, at: one.at + 60 * minute }))
      const quiet = yield* nightOf(added, begin + 1000 * minute)
      assert.deepStrictEqual([quiet.requests, quiet.outcome?.total], [2, 60])
      const turned = grown.map((one) => ({ ...one, backwards: -one.at }))
      const [right, wrong] = [yield* nightOf(turned, from), yield* nightOf(turned, from, { by: "backwards" })]
      assert.isAtMost(wrong.requests, right.requests + 2)
    })
  )
})

describe("the nights of a list", () => {
  it.effect(
    "read each change, however late within the overlap, and a quiet one after a quiet one takes a request",
    () =>
      Effect.gen(function* () {
        const random = randomFrom(11)
        const below = (n: number) => Math.floor(random() * n)
        let quiet = 0
        for (let round = 0; round < 40; round++) {
          const { added: _, newest, ...filters } = resource.changes!
          const changes = random() < 0.6 ? { ...filters, newest: newest! } : filters
          const read = listOf([filtered], { changes })
          let records: ReadonlyArray<Item> = account(30 + below(40))
          let [now, watermark] = [begin + 200 * minute, begin + 199 * minute]
          // The index of the service may stand still for a night.
          let shown = records
          let lastChange = begin + 199 * minute
          const returned = new Set<string>()
          const versionOf = ({ at, id }: Item) => `${id} ${at}`
          for (const record of records) returned.add(versionOf(record))
          for (let night = 0; night < 6; night++) {
            const [before, begun] = [records, now]
            now += below(3) === 0 ? 1 + below(5) * 10_000 : minute * (2 + below(3000))
            const changed = new Set(Array.from({ length: below(3) * below(30) }, () => below(records.length)))
            const isBurst = random() < 0.5
            const dated = begun + Math.floor(random() * (now - begun))
            records = records.map((one, n) => {
              if (!changed.has(n)) return one
              const at = isBurst ? dated : begun + Math.floor(random() * (now - begun))
              lastChange = Math.max(lastChange, at)
              return { ...one, at }
            })
            if (random() < 0.2) {
              lastChange = Math.max(lastChange, now)
              records = [...records, { id: `new ${night}`, made: now, at: now }]
            }
            const isFrozen = shown === before && random() < 0.3
            // What is shown is late by less than the overlap.
            const late = now - minute + 1
            const known = new Map(shown.map((one) => [one.id, one]))
            const visible = records.flatMap((one) =>
              one.at < late || random() < 0.5 ? one : (known.get(one.id) ?? [])
            )
            if (!isFrozen)
              shown =
                visible.length === records.length && visible.every((one, n) => one === records[n]) ? records : visible
            const answer = answerOf(shown)
            const found = yield* reading(
              read,
              (parameters) => {
                const body = answer(parameters)
                for (const one of body.items) returned.add(versionOf(one))
                return body
              },
              { now, reading: { mode: "incremental", since: watermark - minute } }
            )
            assert.deepStrictEqual([found.status, found.warnings], ["complete", ""])
            const missed = shown.filter((one) => !returned.has(versionOf(one)))
            assert.deepStrictEqual(missed, [], `round ${round}, night ${night}`)
            const top = shown.toSorted((one, other) => other.at - one.at).slice(0, 5)
            const isProof = top.some(({ made }, n) => Number(made) > Number(top[n - 1]?.["made"] ?? made))
            if (
              "newest" in changes &&
              isProof &&
              lastChange < begun - minute &&
              !isFrozen &&
              watermark > lastChange + minute
            ) {
              quiet++
              assert.strictEqual(found.requests, 1, `round ${round}, night ${night}`)
            }
            watermark = Math.max(watermark, found.watermark ?? 0)
          }
        }
        assert.isAbove(quiet, 3)
      })
  )
})
