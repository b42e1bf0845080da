/** Rows by themselves and among each other: keys, parents, references. */
import { Effect } from "effect"
import { childRequestOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { fetchedParentsSql } from "../warehouse/meta/parent-state.ts"
import { name, names } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Checked, type Finding, counted, countedRows, note, wrong } from "./finding.ts"
import { type Known, type KnownTable, shownKey } from "./existing-tables.ts"

/** Every row has its whole key, and no other row has the same. */
export const checkKeys = Effect.fn("verify.keys")(function* ({
  tables,
  missing
}: Known): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const findings: Array<Finding> = []
  let rows = 0
  for (const { table, current } of tables) {
    const key = names(table.key)
    const isNull = table.key.map((column) => `${name(column)} IS NULL`).join(" OR ")
    const [whole] = yield* warehouse.rows(`SELECT count(*) AS n, count(*) FILTER (${isNull}) AS nulls FROM ${current}`)
    rows += Number(whole?.["n"])
    if (Number(whole?.["nulls"]) > 0)
      findings.push(wrong(table.name, `${counted(Number(whole?.["nulls"]), "row")} without a whole key`))
    const twice = countedRows(
      (yield* warehouse.rows(
        `SELECT count(*) AS n, min(${shownKey(table, "t")}) AS example
         FROM (SELECT ${key} FROM ${current} WHERE NOT (${isNull}) GROUP BY ALL HAVING count(*) > 1) AS t`
      ))[0]
    )
    if (twice.n > 0)
      findings.push(wrong(table.name, `${counted(twice.n, "key")} more than once, for example ${twice.example}`))
  }
  if (missing.length > 0) findings.push(note("tables", `not there before the next sync: ${missing.join(", ")}`))
  return {
    part: "warehouse",
    check: "keys",
    looked: `${counted(rows, "row")} of ${counted(tables.length, "table")}`,
    findings
  }
})

/** A row that hangs on another: of a child table, or read under it. A deleted parent keeps its row. */
interface Hanging {
  readonly known: KnownTable
  readonly on: string
  /** The parents' ids, one column `id` beside `location_id`. */
  readonly parents: string
  /** Columns that have to be equal, ours and theirs. */
  readonly columns: ReadonlyArray<readonly [ours: string, theirs: string]>
  readonly level: Finding["level"]
  /** Which of our rows, in SQL. */
  readonly where?: string
  /** What is to be said of those without a parent, where it is not only that. */
  readonly remark?: string
}

export const checkParents = Effect.fn("verify.parents")(function* ({
  tables
}: Known): Effect.fn.Return<Checked, Failure, Warehouse> {
  const findings: Array<Finding> = []
  const hanging = [...childrenIn(tables), ...readUnderOthersIn(tables)]
  for (const { known, on, parents, columns, level, where = "true", remark = "" } of hanging) {
    const same = [["location_id", "location_id"] as const, ...columns]
      .map(([ours, theirs]) => `t.${name(ours)} = p.${name(theirs)}`)
      .join(" AND ")
    const orphans = countedRows(
      (yield* (yield* Warehouse).rows(
        `SELECT count(*) AS n, min(${shownKey(known.table, "t")}) AS example
         FROM (FROM ${known.current} AS t WHERE ${where}) AS t ANTI JOIN (${parents}) AS p ON ${same}`
      ))[0]
    )
    if (orphans.n > 0)
      findings.push({
        level,
        where: known.table.name,
        what: `${counted(orphans.n, "row")} without a row in ${on}${remark}, for example ${orphans.example}`
      })
  }
  return {
    part: "warehouse",
    check: "parents",
    looked: counted(
      new Set(hanging.map(({ known }) => known.table.name)).size,
      "table that hangs on another",
      "tables that hang on others"
    ),
    findings
  }
})

/** Columns of a child table's key that name a row of the same resource. */
const childrenIn = (tables: ReadonlyArray<KnownTable>): ReadonlyArray<Hanging> =>
  tables.flatMap((known) => {
    const { table, parent, columns } = known
    const { parentColumn } = table
    if (parentColumn === undefined) return []
    return columns.flatMap(({ name: column, references }): ReadonlyArray<Hanging> => {
      const on = tables.find((other) => other.parent === parent && other.table.name === references)
      if (!on || !table.key.includes(column)) return []
      return [
        {
          known,
          on: on.table.name,
          parents: `SELECT * FROM ${on.current}`,
          columns:
            on.table === parent
              ? [[column, "id"]]
              : [
                  [column, "id"],
                  [parentColumn, parentColumn]
                ],
          level: "wrong"
        }
      ]
    })
  })

/**
 * Only what is read in no other way. Where the ids come out of a value, an earlier version may have held them that was
 * never kept, so that proves nothing.
 */
const readUnderOthersIn = (tables: ReadonlyArray<KnownTable>): ReadonlyArray<Hanging> =>
  tables.flatMap((known): ReadonlyArray<Hanging> => {
    const { childOf, kind } = known.resource
    const on = tables.find(({ table }) => table.name === childOf?.table)
    if (!childOf || !on || kind !== "child" || known.table !== known.parent) return []
    const columns = [[childOf.column, "id"]] as const
    const ids = (path: string) => `SELECT location_id, ${childOf.ids} AS id FROM ${path}`
    if (childOf.ids !== undefined)
      return [
        { known, on: childOf.table, parents: `${ids(on.current)} UNION ${ids(on.history)}`, columns, level: "note" }
      ]
    const parents = `SELECT location_id, id FROM ${on.current}`
    const asked = `(t.location_id, t.${name(childOf.column)}) IN (${fetchedParentsSql(childRequestOf(known.resource)!.label)})`
    return [
      { known, on: childOf.table, parents, columns, level: "wrong", where: asked },
      {
        known,
        on: childOf.table,
        parents,
        columns,
        level: "note",
        where: `NOT coalesce(${asked}, false)`,
        remark: ", which was never asked for them: the service names it itself"
      }
    ]
  })

/** What a column names may be gone from the service, or never read: counted, and nothing is wrong with it. */
export const checkReferences = Effect.fn("verify.references")(function* ({
  tables
}: Known): Effect.fn.Return<Checked, Failure, Warehouse> {
  const findings: Array<Finding> = []
  let looked = 0
  for (const { table, parent, columns, current } of tables)
    for (const { name: column, references } of columns) {
      const to = tables.find((other) => other.table.name === references)
      if (!to || !to.columns.some((other) => other.name === "id") || (to.parent === parent && table !== parent))
        continue
      looked++
      const nowhere = countedRows(
        (yield* (yield* Warehouse).rows(
          `SELECT count(*) AS n, min(t.${name(column)}) AS example FROM ${current} AS t
           ANTI JOIN ${to.current} AS p ON p.id = t.${name(column)} WHERE t.${name(column)} <> ''`
        ))[0]
      )
      if (nowhere.n > 0)
        findings.push(
          note(
            `${table.name}.${column}`,
            `${counted(nowhere.n, "row")} of what ${references} does not hold, for example ${nowhere.example}`
          )
        )
    }
  return { part: "warehouse", check: "references", looked: counted(looked, "column"), findings }
})
