/** How many records a list has, by one small request for each of its partitions. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { id } from "../../src/catalog/fields.ts"
import { get, since, size } from "../../src/catalog/request.ts"
import { type Strategy, defineList } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { listTotal } from "../../src/stages/api/list-total.ts"
import { answerOf, silentApi } from "../extract/fakes.ts"
import { nothingOptional } from "../support/optional.ts"
import { randomFrom } from "../support/random.ts"

it.effect("the total is the sum of the partitions, and unknown if one has more than a page and no number", () =>
  Effect.gen(function* () {
    for (let seed = 1; seed <= 50; seed++) {
      const random = randomFrom(seed)
      const below = (n: number) => Math.floor(random() * n)
      const pageSize = 12 + below(20)
      const isCounted = random() < 0.5
      const strategy: Strategy = {
        request: get("/things", { limit: size, after: since("epochMs"), state: "any" }),
        paging: { kind: random() < 0.2 ? "once" : "offset" },
        records: "things",
        pageSize,
        ...(isCounted && { total: "meta.total" })
      }
      const sizes = Array.from({ length: 1 + below(3) }, () => (random() < 0.3 ? pageSize + below(2) : below(pageSize)))
      const resource = defineList({
        table: "things",
        description: "d",
        source: "s",
        scope: "s",
        full: [strategy],
        partitions: Object.fromEntries(sizes.map((_, n) => [`p${n}`, { parameters: { state: `p${n}` } }])),
        fields: { id: id("Id") }
      })
      // One service in five sends no number after all.
      const isSent = random() < 0.8
      const from = random() < 0.5 ? undefined : 1_700_000_000_000
      const asked: Array<number> = []
      const api = Api.of({
        ...silentApi,
        send: ({ request: { parameters }, resource: counted }) =>
          Effect.sync(() => {
            const { after, limit, state } = parameters as { after: number; limit: number; state: string }
            assert.strictEqual(counted, "things")
            assert.strictEqual(Number(after), from ?? Date.parse("2000-01-01"))
            asked.push(Number(limit))
            const count = sizes[Number(state.slice(1))]!
            return answerOf({
              things: Array.from(
                { length: strategy.paging.kind === "once" ? count : Math.min(count, limit) },
                (_, n) => ({ id: `${n}` })
              ),
              ...(isCounted && isSent && { meta: { total: count } })
            })
          })
      })
      const total = yield* listTotal(resource, strategy, {
        company: undefined,
        location: "L",
        optional: nothingOptional,
        since: from
      }).pipe(Effect.provide(Layer.succeed(Api, api)))
      const isKnown = isCounted ? isSent : strategy.paging.kind === "once" || sizes.every((count) => count < pageSize)
      assert.strictEqual(total, isKnown ? sizes.reduce((sum, count) => sum + count, 0) : undefined, `seed ${seed}`)
      assert.lengthOf(asked, sizes.length)
      // Some lists refuse a page of fewer than ten records.
      assert.isTrue(
        asked.every((limit) => limit === (isCounted ? 10 : pageSize)),
        `seed ${seed}`
      )
    }
  })
)
