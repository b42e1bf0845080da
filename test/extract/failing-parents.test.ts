/** Children of parents of which some cannot be read: how long it goes on, what is not requested any more, and what it says. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BudgetExhausted, Forbidden, RequestRejected, Unavailable } from "../../src/stages/api/errors.ts"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { randomFrom } from "../support/random.ts"
import { gone, reading, rejects } from "./reading-of-parents.ts"

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

  it.live("are no failure once their list has shown that they are deleted", () =>
    Effect.gen(function* () {
      const fails = (n: number) => (n < 3 ? rejects("no", 422) : undefined)
      for (const [deleted, count] of [
        [0, 3],
        [2, 1],
        [3, undefined]
      ] as const) {
        const { outcome } = yield* reading(10, fails, { isDeleted: (n) => n < deleted })
        assert.deepStrictEqual(
          outcome?.shortfalls.map((one) => (one._tag === "RequestsFailed" ? one.count : one._tag)),
          count === undefined ? [] : [count]
        )
      }
    })
  )

  it.live("do not keep the others from being requested, however few parents are requested at a time", () =>
    Effect.gen(function* () {
      const draw = randomFrom(8)
      for (let round = 0; round < 12; round++) {
        const limits = limitsOf({
          extract: { parents: 1 + Math.floor(draw() * 4), firstParents: 1 + Math.floor(draw() * 4) }
        })
        const failing = new Set(Array.from({ length: Math.floor(draw() * 8) }, () => Math.floor(draw() * 15)))
        const fails = (n: number) => (failing.has(n) ? down : undefined)
        const { outcome, sent, stored } = yield* reading(15, fails).pipe(Effect.provideService(Limits, limits))
        assert.deepStrictEqual(
          sent.toSorted((one, other) => one - other),
          Array.from({ length: 15 }, (_, n) => n),
          `each once, without ${[...failing]}`
        )
        assert.lengthOf(stored, 15 - failing.size)
        const counts = outcome!.shortfalls.map((one) => [one._tag, "count" in one && one.count])
        assert.deepStrictEqual(counts, failing.size === 0 ? [] : [["RequestsFailed", failing.size]])
      }
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

it.live("children that no account has shown are requested for one parent, and for all once that one is answered", () =>
  Effect.gen(function* () {
    const refused = new Forbidden({ message: "no permission", answered: 403 })
    assert.deepStrictEqual((yield* reading(60, () => refused, { isTrial: true })).sent, [0])
    assert.strictEqual((yield* reading(60, () => undefined, { isTrial: true })).sent.length, 60)
  })
)

it.live("refusals in more forms than are requested again count as failures, except the most frequent forms", () =>
  Effect.gen(function* () {
    const words = ["no notes", "none here", "nothing to show"]
    const isNone = (n: number) => (n < 30 ? rejects(words[n < 15 ? 0 : n < 25 ? 1 : 2]!) : undefined)
    const readWith = (refusalForms: number) =>
      Effect.provideService(reading(40, isNone, { noneIsError: true }), Limits, limitsOf({ extract: { refusalForms } }))
    const three = yield* readWith(3)
    assert.deepStrictEqual([three.outcome!.shortfalls, three.stored.length], [[], 40])
    const two = yield* readWith(2)
    assert.deepInclude(two.outcome!.shortfalls[0], { _tag: "RequestsFailed", count: 5, id: "t25" })
    assert.strictEqual(two.stored.length, 35)
  })
)

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
