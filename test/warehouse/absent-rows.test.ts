/** What a deletion takes along, which bounds how much of each table one run may remove. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { id, ref, rows, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Strategy, defineChild, defineList } from "../../src/catalog/resource.ts"
import { deletedShares } from "../../src/stores/warehouse/absent-rows.ts"
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
  readonly id: string
  readonly parent: string
  readonly isDeleted: boolean
}

it.live("a deletion counts what it takes along, in the tables below and in those that follow them", () =>
  Effect.gen(function* () {
    yield* prepare(catalogue)
    const warehouse = yield* Warehouse
    for (let seed = 1; seed <= 8; seed++) {
      const random = randomFrom(seed)
      const draw = (prefix: string, count: number, parents: ReadonlyArray<Drawn>): ReadonlyArray<Drawn> =>
        Array.from({ length: count }, (_, n) => ({
          id: `${prefix}${n}`,
          parent: parents[Math.floor(random() * parents.length)]?.id ?? "",
          isDeleted: random() < 0.2
        }))
      const drawnBoards = draw("b", 4, [])
      const drawnDeals = draw("d", 12, drawnBoards)
      const drawnRemarks = draw("r", 20, drawnDeals)
      const insert = (table: string, parent: string, all: ReadonlyArray<Drawn>) => [
        `DELETE FROM crm.${table}`,
        ...all.map(
          (one) =>
            `INSERT INTO crm.${table} BY NAME SELECT 'L' AS location_id, '${one.id}' AS id${
              parent === "" ? "" : `, '${one.parent}' AS ${parent}`
            }, 'h' AS _row_hash, now() AS _synced_at, 'r' AS _run_id, ${one.isDeleted ? "now()" : "NULL"} AS _deleted_at`
        )
      ]
      yield* warehouse.transaction([
        ...insert("boards", "", drawnBoards),
        ...insert("deals", "board_id", drawnDeals),
        ...insert("remarks", "deal_id", drawnRemarks)
      ])
      const live = (all: ReadonlyArray<Drawn>) => all.filter((one) => !one.isDeleted)
      const idsOf = (all: ReadonlyArray<Drawn>) => all.map((one) => one.id)
      const under = (gone: ReadonlyArray<Drawn>, all: ReadonlyArray<Drawn>) =>
        live(all).filter(({ parent }) => idsOf(gone).includes(parent))
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
