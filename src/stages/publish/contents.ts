/** The checksums of the tables of a release. Those of unchanged rows are taken from the previous release. */
import { Effect } from "effect"
import { TotalMap } from "../../catalog/present.ts"
import { added, contentsOfEach, empty } from "../../stores/warehouse/content.ts"
import { anyOrder } from "../../stores/warehouse/parts.ts"
import { changedRows } from "../../stores/warehouse/meta/content-versions.ts"
import { Limits } from "../../values/limits.ts"
import type { TableContent } from "../../output/manifest.ts"
import type { TableChange } from "./changes.ts"
import type { Making } from "./release.ts"
import { copyOf, isSmall, pathOf } from "./snapshot.ts"

/** `isUpdated`: the attached DuckDB file still has the rows of the previous release. */
export const contentsOf = Effect.fn("publish.contents")(function* (
  tables: ReadonlyArray<TableChange>,
  isUpdated: boolean,
  { previous, stored, texts }: Pick<Making, "previous" | "stored" | "texts">
) {
  const known = new Map(
    (previous?.manifest.tables ?? []).map((one) => [pathOf(one.schema, { name: one.table }), one] as const)
  )
  const all = tables
    .filter(({ wide }) => !wide)
    .flatMap((table) =>
      (["crm", "crm_history"] as const).map((schema) => {
        const path = pathOf(schema, table)
        const { columns, rows } = stored.of(path)
        const before = known.get(path)
        const isSame = before !== undefined && table.change === "none"
        const isPart = before !== undefined && table.change === "some" && isUpdated && !isSmall({ rows })
        const size = isPart ? Math.ceil(rows * table.share) : rows
        const now = { from: isPart ? changedRows(path, table) : path, columns, size, texts }
        const replaced = isPart ? [{ from: changedRows(copyOf(path), table), columns, size }] : []
        const read = isSame || size === 0 ? [] : [now, ...replaced]
        return { schema, table: table.name, columns, before: isSame || isPart ? before : undefined, read }
      })
    )
  // To find changed rows takes more memory than to read a small table.
  const groups = (yield* Limits).warehouse.tablesTogether.groupsOf(all.flatMap(({ read }) => read))
  const found = yield* anyOrder(Effect.forEach(groups, (some) => contentsOfEach(some)))
  const contents = new TotalMap(found.flatMap((some) => [...some]))
  return all.map(({ before, columns, read: [now, replaced], schema, table }): TableContent => {
    const types = Object.fromEntries(columns.map(({ name, type }) => [name, type] as const))
    const kept = before ?? { schema, table, ...empty, columns: types }
    const { rows, sum } = replaced ? contents.of(replaced.from) : empty
    return { ...kept, ...added(added(kept, now ? contents.of(now.from) : empty), { rows: -rows, sum: `-${sum}` }) }
  })
})
