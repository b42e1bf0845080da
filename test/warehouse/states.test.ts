/** What `meta` says of the places that get the tables, and of what was rejected, night after night. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { join } from "node:path"
import { id, instant, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { standingRejects } from "../../src/stores/warehouse/meta/standing-rejects.ts"
import { beginDeliveries, endDelivery, failDelivery, targetStates } from "../../src/stores/warehouse/meta/targets.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const once = { request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 } as const
const things = defineList({
  table: "things",
  description: "d",
  source: "s",
  scope: "s",
  full: [once],
  fields: {
    id: id("Id"),
    bornAt: instant("Birth"),
    diedAt: instant("Death"),
    tags: values("thing_tags", "T", "tag", text("Tag"))
  }
})
const resources = [things]
const template = await templateOf({ resources, familyByTable: new Map<string, string>() })
const test = (name: string, body: Effect.Effect<void, unknown, Warehouse>) =>
  it.effect(name, () =>
    Effect.provide(body, Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128, template }))
  )

test(
  "a place has the run that it got last, since when, and since when it gets nothing new, whatever happened in between",
  Effect.gen(function* () {
    const draw = randomFrom(2)
    const model = new Map<string, { run?: string; deliveredAt?: number; failedSince?: number; problem?: string }>()
    let run = 1
    for (let night = 1; night <= 40; night++) {
      const now = night * 3_600_000
      yield* TestClock.setTime(now)
      // Some runs find nothing new.
      if (draw() < 0.6) run++
      const id = `r${String(run).padStart(3, "0")}`
      const wanted = ["a", "b", "c"].filter(() => draw() < 0.8)
      yield* beginDeliveries(wanted, id)
      for (const name of model.keys()) if (!wanted.includes(name)) model.delete(name)
      const open = wanted.filter((name) => {
        const one = model.get(name)
        return one?.run !== id || one.failedSince !== undefined
      })
      const problem = "the run ended before it was brought up to date"
      for (const name of open) model.set(name, { failedSince: now, ...model.get(name), problem })
      yield* TestClock.setTime(now + 60_000)
      for (const name of wanted) {
        const how = draw()
        if (how < 0.5) {
          yield* endDelivery(name, id)
          if (open.includes(name)) model.set(name, { run: id, deliveredAt: now + 60_000 })
        } else if (how < 0.8) {
          yield* failDelivery(name, `no room in ${id}`)
          model.set(name, { failedSince: now + 60_000, ...model.get(name), problem: `no room in ${id}` })
        }
      }
      const none = { run: undefined, deliveredAt: undefined, failedSince: undefined, problem: undefined }
      const expected = [...model].toSorted(([one], [other]) => (one < other ? -1 : 1))
      assert.deepStrictEqual(
        yield* targetStates(),
        expected.map(([name, one]) => ({ name, ...none, ...one })),
        `night ${night}`
      )
    }
  })
)

test(
  "a rejected value stands until its own record, in its own location, has a later version or is deleted",
  Effect.gen(function* () {
    const { run } = yield* Warehouse
    const draw = randomFrom(9)
    const pick = <A>(of: ReadonlyArray<A>): A => of[Math.floor(draw() * of.length)]!
    const rows = ["L", "M"].flatMap((location) =>
      Array.from({ length: 12 }, (_, n) => ({
        location,
        key: `t${n}`,
        run: pick(["r1", "r2", "r3"]),
        isDeleted: draw() < 0.3
      }))
    )
    const rejects = Array.from({ length: 60 }, () => ({
      location: pick(["L", "M"]),
      // Some have no row.
      key: `t${Math.floor(draw() * 14)}`,
      run: pick(["r1", "r2", "r3"]),
      ...pick([
        { table: "things", column: "born_at", item: "" },
        { table: "things", column: "died_at", item: "" },
        { table: "thing_tags", column: "tag", item: "/thing_tags/0" }
      ])
    }))
    yield* run(
      `INSERT INTO crm.things (location_id, id, _run_id, _deleted_at) VALUES ${rows.map((one) => `('${one.location}', '${one.key}', '${one.run}', ${one.isDeleted ? "now()" : "NULL"})`).join(", ")};
       INSERT INTO meta.rejected_values (run_id, location_id, table_name, key, column_name) VALUES ${rejects.map((one) => `('${one.run}', '${one.location}', '${one.table}', '${one.key}${one.item}', '${one.column}')`).join(", ")};`
    )
    const last = new Map<string, (typeof rejects)[number]>()
    for (const one of rejects) {
      const place = [one.location, one.table, one.column, one.key].join()
      if (one.run >= (last.get(place)?.run ?? "")) last.set(place, one)
    }
    const standing = [...last.values()].filter((one) => {
      const row = rows.find(({ key, location }) => key === one.key && location === one.location)
      return row === undefined || (!row.isDeleted && row.run <= one.run)
    })
    const expected = ["L", "M"].map((location) => ({
      location,
      resource: "things",
      rejected: standing.filter((one) => one.location === location).length,
      rows: rows.filter((one) => one.location === location && !one.isDeleted).length
    }))
    assert.deepStrictEqual(yield* standingRejects(resources), expected)
  })
)
