/** The totals that a plan asked for, in the sync after it: those of the same list, location, period and day. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { join } from "node:path"
import { id, instant } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Strategy, defineList } from "../../src/catalog/resource.ts"
import type { ExpectedStep } from "../../src/stages/plan/expect.ts"
import type { Plan } from "../../src/stages/plan/plan.ts"
import { withPlannedTotals, withTotal } from "../../src/stages/plan/totals.ts"
import { setPlannedTotals } from "../../src/stores/warehouse/meta/planned-totals.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { exactly } from "../../src/values/range.ts"
import { templateOf } from "../support/fixtures.ts"
import { nothingOptional as optional } from "../support/optional.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const strategy: Strategy = {
  request: get("/things"),
  paging: { kind: "offset" },
  records: "things",
  pageSize: 10,
  total: "total",
  verifyField: "changedAt"
}
const list = (table: string) =>
  defineList({
    table,
    description: "d",
    source: "s",
    scope: "s",
    full: [strategy],
    changes: { field: "changedAt", overlap: "0 days", strategies: [strategy], fullEvery: "7 days" },
    fields: { id: id("Id"), changedAt: instant("Change") }
  })
const resources = [list("things"), list("parts")]
const template = await templateOf({ resources, familyByTable: new Map<string, string>() })
const layer = Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128, template })

it.effect("a sync takes them for a day, each for the period that was asked for", () =>
  Effect.gen(function* () {
    const random = randomFrom(3)
    const oneOf = <A>(some: ReadonlyArray<A>): A => some[Math.floor(random() * some.length)]!
    const [hour, periods] = [3_600_000, [undefined, 1_700_000_000_000, 1_700_000_100_000]]
    let used = 0
    for (let drawn = 1; drawn <= 40; drawn++) {
      const askedAt = drawn * 100 * hour
      const known = resources.flatMap(({ table }) =>
        periods.flatMap((since) =>
          random() < 0.5 ? [{ resource: table, since, total: Math.floor(random() * 500) }] : []
        )
      )
      yield* setPlannedTotals("L", known, askedAt)
      yield* setPlannedTotals("another", [{ resource: "things", since: undefined, total: 9999 }], askedAt)
      const age = oneOf([1, 23, 25])
      yield* TestClock.setTime(askedAt + age * hour)
      const expected = resources.map((resource) => {
        const since = oneOf(periods)
        const step = {
          resource,
          since,
          mode: since === undefined ? "full" : "incremental",
          capabilities: { sizes: {} }
        }
        const unknown = { basis: "unknown", requests: exactly(1), changed: exactly(1) }
        return { step, list: unknown } as unknown as ExpectedStep
      })
      const plan = { expected } as unknown as Plan
      const found = yield* withPlannedTotals(plan, { location: "L", optional })
      const right = expected.map((one) => {
        const { resource, since } = one.step
        const total = known.find((other) => other.resource === resource.table && other.since === since)?.total
        if (total === undefined || age > 24) return one
        used++
        return withTotal(one, strategy, total, optional)
      })
      assert.deepStrictEqual(found.expected, right)
    }
    assert.isAbove(used, 10)
  }).pipe(Effect.provide(layer))
)
