/** Which rows a reading has not returned, and what a deletion takes along, compared with plain code over drawn rows. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { join } from "node:path"
import { id, ref, rows, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Strategy, childLabelOf, defineChild, defineList } from "../../src/catalog/resource.ts"
import {
  deletedShares,
  missingChildren,
  missingRows,
  notWrittenBy,
  otherRows,
  unnamedRows
} from "../../src/stores/warehouse/absent-rows.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const strategy: Strategy = { request: get("/a"), paging: { kind: "offset" }, records: "a", pageSize: 10 }
const common = { description: "d", source: "s", scope: "s" }
const boards = defineList({ ...common, table: "boards", full: [strategy], fields: { id: id("Id") } })
const deals = defineList({
  ...common,
  table: "deals",
  full: [strategy],
  cascadesFrom: { table: "boards", column: "board_id" },
  fields: {
    id: id("Id"),
    boardId: ref("boards", "Its board"),
    tags: rows("deal_tags", "Tags.", { tag: text("Tag") })
  }
})
const remarks = defineChild({
  ...common,
  table: "remarks",
  childOf: { table: "deals", column: "deal_id", refreshAfter: "30 days", strategy },
  fields: { id: id("Id"), dealId: ref("deals", "Its deal") }
})
const resources = [boards, deals, remarks]
const catalogue = { resources, familyByTable: new Map(resources.map(({ table }) => [table, "f"])) }

interface Drawn {
  readonly location: string
  readonly id: string
  readonly run: string
  /** Days since it was loaded; that of another machine may be ahead. */
  readonly age: number
  readonly parent: string
  readonly isDeleted: boolean
}

const day = 86_400_000

it.live("what a reading has not returned, and what a deletion takes along, are those rows of this location", () =>
  Effect.gen(function* () {
    yield* prepare(catalogue)
    const warehouse = yield* Warehouse
    for (let seed = 1; seed <= 3; seed++) {
      const random = randomFrom(seed)
      const pick = <A>(values: ReadonlyArray<A>) => values[Math.floor(random() * values.length)]!
      // Another location has the same ids, which are none of this one's.
      const draw = (prefix: string, count: number, parents: ReadonlyArray<Drawn>): ReadonlyArray<Drawn> =>
        ["L", "M"].flatMap((location) =>
          Array.from({ length: count }, (_, n) => ({
            location,
            id: `${prefix}${n}`,
            run: pick(["r1", "r2"]),
            age: pick([-1, 1, 5]),
            parent: parents[Math.floor(random() * parents.length)]?.id ?? "",
            isDeleted: random() < 0.2
          }))
        )
      const drawnBoards = draw("b", 4, [])
      const drawnDeals = draw("d", 12, drawnBoards)
      const drawnRemarks = draw("r", 20, drawnDeals)
      const insert = (table: string, parent: string, all: ReadonlyArray<Drawn>) => [
        `DELETE FROM crm.${table}`,
        `INSERT INTO crm.${table} BY NAME SELECT location AS location_id, id, ${parent === "" ? "" : `parent AS ${parent},`}
           'h' AS _row_hash, now() - to_days(age) AS _synced_at, run AS _run_id, CASE WHEN is_deleted THEN now() END AS _deleted_at
         FROM (VALUES ${all.map((one) => `('${one.location}', '${one.id}', '${one.parent}', ${one.age}, '${one.run}', ${one.isDeleted})`).join(", ")})
           AS t(location, id, parent, age, run, is_deleted)`
      ]
      const missed = drawnRemarks.filter(() => random() < 0.3).map((one) => ({ ...one, isAgain: random() < 0.5 }))
      const seen = drawnDeals.filter(() => random() < 0.5)
      yield* warehouse.transaction([
        ...insert("boards", "", drawnBoards),
        ...insert("deals", "board_id", drawnDeals),
        ...insert("remarks", "deal_id", drawnRemarks),
        "DELETE FROM meta.missing_children",
        "DELETE FROM meta.seen_keys",
        `INSERT INTO meta.missing_children (location_id, resource, key, parent_id, first_at, last_at)
         SELECT location, '${childLabelOf(remarks)}', id, parent, now(), now() + to_days(again)
         FROM (VALUES ${missed.map((one) => `('${one.location}', '${one.id}', '${one.parent}', ${one.isAgain ? 1 : 0})`).join(", ")})
           AS t(location, id, parent, again)`,
        `INSERT INTO meta.seen_keys (location_id, resource, key)
         VALUES ${seen.map(({ id, location }) => `('${location}', 'deals', '${id}')`).join(", ")}`
      ])
      const live = (all: ReadonlyArray<Drawn>) => all.filter((one) => !one.isDeleted && one.location === "L")
      const idsOf = (all: ReadonlyArray<Drawn>) => all.map((one) => one.id)
      const under = (gone: ReadonlyArray<Drawn>, all: ReadonlyArray<Drawn>) =>
        live(all).filter(({ parent }) => idsOf(gone).includes(parent))
      const deletedOf = (all: ReadonlyArray<Drawn>) => all.filter((one) => one.isDeleted && one.location === "L")
      const isOrphan = (one: Drawn, parents: ReadonlyArray<Drawn>) => idsOf(deletedOf(parents)).includes(one.parent)
      const sorted = (lines: ReadonlyArray<string>) => lines.toSorted()

      const missing = yield* missingChildren(remarks, "L")
      assert.deepStrictEqual(
        sorted(missing.map(({ isAgreed, isExplained, key }) => [key, isAgreed, isExplained].join(" "))),
        sorted(
          live(missed).map((one) =>
            [
              one.id,
              missed.find(({ id, location }) => id === one.id && location === "L")!.isAgain,
              isOrphan(one, drawnDeals)
            ].join(" ")
          )
        ),
        `missing children, seed ${seed}`
      )
      const absent = yield* missingRows(deals, { location: "L", run: "r2" }, (yield* Clock.currentTimeMillis) - 3 * day)
      const isSeen = ({ id }: Drawn) => seen.some((one) => one.id === id && one.location === "L")
      assert.deepStrictEqual(
        sorted(absent.map(({ isExplained, key }) => [key, isExplained].join(" "))),
        sorted(
          live(drawnDeals)
            .filter((one) => !isSeen(one) && (one.age === 5 || (one.age === -1 && one.run !== "r2")))
            .map((one) => [one.id, isOrphan(one, drawnBoards)].join(" "))
        ),
        `missing rows, seed ${seed}`
      )
      for (const isReadAgain of [false, true]) {
        const unnamed = yield* unnamedRows(remarks, "L", isReadAgain)
        const expected = live(drawnRemarks).filter((one) =>
          isReadAgain ? !idsOf(live(drawnDeals)).includes(one.parent) : isOrphan(one, drawnDeals)
        )
        assert.deepStrictEqual(sorted(unnamed.map(({ key }) => key)), sorted(idsOf(expected)), `unnamed, seed ${seed}`)
      }
      const asked = [...idsOf(live(drawnDeals)).slice(0, 6), "none"]
      assert.deepStrictEqual(
        sorted(yield* notWrittenBy("r2", deals, "L", asked)),
        sorted(
          asked.filter((id) => !drawnDeals.some((one) => one.id === id && one.location === "L" && one.run === "r2"))
        ),
        `not written, seed ${seed}`
      )
      const others = yield* otherRows(deals, "L", "r2", asked, 4)
      const eligible = live(drawnDeals).filter(({ id }) => !asked.includes(id))
      const runOf = (key: string) => eligible.find(({ id }) => id === key)?.run
      assert.deepStrictEqual(
        others.map(({ key }) => runOf(key)),
        eligible
          .map(({ run }) => run)
          .toSorted()
          .toReversed()
          .slice(0, 4),
        `those of the run first, seed ${seed}`
      )
      const keys = idsOf(drawnBoards).filter(() => random() < 0.5)
      const goneBoards = live(drawnBoards).filter((one) => keys.includes(one.id))
      const goneDeals = under(goneBoards, drawnDeals)
      const shares = yield* deletedShares(boards, "L", keys, resources)
      assert.deepStrictEqual(
        Object.fromEntries(shares.map((one) => [one.table, [one.deleted, one.rows]])),
        {
          boards: [goneBoards.length, live(drawnBoards).length],
          deals: [goneDeals.length, live(drawnDeals).length],
          deal_tags: [0, 0],
          remarks: [under(goneDeals, drawnRemarks).length, live(drawnRemarks).length]
        },
        `seed ${seed}`
      )
    }
  }).pipe(
    Effect.provide(Layer.fresh(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 256 })))
  )
)
