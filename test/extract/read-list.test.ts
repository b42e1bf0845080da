/** The list that nobody stores: each record once, whatever the service cuts its pages to, or an error. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Api } from "../../src/stages/api/api.ts"
import { RequestRejected } from "../../src/stages/api/errors.ts"
import { readList } from "../../src/stages/extract/read-list.ts"
import { advancingClock } from "../support/api-server.ts"
import { nothingOptional } from "../support/optional.ts"
import { randomFrom } from "../support/random.ts"
import { silentApi } from "./fakes.ts"
import { type Answer, type Parameters, after, items, listOf, page, paged } from "./service.ts"

/** The ids that the stream returns, of a service that answers each request like this. */
const idsIn = (strategy: typeof paged, answer: (parameters: Parameters, n: number) => Answer) => {
  let requests = 0
  const api = Api.of({
    send: ({ request }) =>
      Effect.gen(function* () {
        if (++requests > 1000) return yield* Effect.die("no end")
        const body = answer(request.parameters, requests)
        if (typeof body["rejection"] === "string")
          return yield* new RequestRejected({ status: 422, message: body["rejection"], refusal: body["rejection"] })
        return { bytes: Buffer.alloc(0), body, hasBigNumbers: false, at: 0, serviceTime: undefined }
      }),
    ...silentApi
  })
  return readList(listOf([strategy]), { optional: nothingOptional }).pipe(
    Stream.map((record) => (record as { readonly id: string }).id),
    Stream.runCollect,
    Effect.provideService(Api, api)
  )
}

describe("a list that is read for its records", () => {
  it.effect("has each of them once, however short its pages are", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 300; seed++) {
        const draw = randomFrom(seed)
        const count = Math.floor(draw() * 400)
        const lengths = Array.from({ length: 1 + Math.floor(draw() * 3) }, () => 2 + Math.floor(draw() * 120))
        const found = yield* idsIn(paged, (parameters, n) => ({
          items: page(items(count), parameters, lengths[n % lengths.length])
        }))
        assert.deepStrictEqual(
          found,
          items(count).map(({ id }) => id),
          `seed ${seed}: ${count} by ${lengths}`
        )
      }
    })
  )

  it.effect("takes the page size that the service allows", () =>
    Effect.gen(function* () {
      const found = yield* idsIn(paged, (parameters) =>
        Number(parameters["limit"]) > 20
          ? { rejection: "limit must not be greater than 20" }
          : { items: page(items(63), parameters) }
      )
      assert.strictEqual(found.length, 63)
    })
  )

  it.effect.each<readonly [string, typeof paged, (parameters: Parameters) => Answer]>([
    ["repeats its first page", paged, () => ({ items: items(100) })],
    ["has fewer records than it counts", after, () => ({ items: items(40), total: 90 })],
    ["has no list", paged, () => ({ rows: items(3) })],
    ["is refused", paged, () => ({ rejection: "companyId is required" })]
  ])("fails if it %s", ([, strategy, answer]) =>
    Effect.gen(function* () {
      const error = yield* advancingClock(Effect.flip(idsIn(strategy, answer)))
      assert.strictEqual(error._tag, "RequestRejected")
    })
  )
})
