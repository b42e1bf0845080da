/** Checks keys, parents and references of rows. */
import { Effect } from "effect"
import { childRequestOf } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import { fetchedParentsSql } from "../../stores/warehouse/meta/parent-state.ts"
import { name, names } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { counted, note, wrong } from "../../values/finding.ts"
import { type Checked, type VerifyFinding, countedRows } from "./checked.ts"
import { type Known, type KnownTable, shownKey } from "./existing-tables.ts"

/** Every row has a key without NULL, and no other row has the same key. */
export const checkKeys = Effect.fn("verify.keys")(function* ({
  tables,
  missing
}: Known): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const findings: Array<VerifyFinding> = []
  let rows = 0
  for (const { table, current } of tables.filter(({ isEmpty }) => !isEmpty)) {
    const key = names(table.key)
    const isNull = table.key.map((column) => `${name(column)} IS NULL`).join(" OR ")
    const [counts] = yield* warehouse.rows(`SELECT count(*) AS n, count(*) FILTER (${isNull}) AS nulls FROM ${current}`)
    rows += Number(counts?.["n"])
    if (Number(counts?.["nulls"]) > 0)
      findings.push(wrong(table.name, `${counted(Number(counts?.["nulls"]), "row")} with NULL in the key`))
    const duplicates = countedRows(
      (yield* warehouse.rows(
        `SELECT count(*) AS n, min(${shownKey(table, "t")}) AS example
         FROM (SELECT ${key} FROM ${current} WHERE NOT (${isNull}) GROUP BY ALL HAVING count(*) > 1) AS t`
      ))[0]
    )
    if (duplicates.n > 0)
      findings.push(wrong(table.name, `${counted(duplicates.n, "duplicate key")}, for example ${duplicates.example}`))
  }
  if (missing.length > 0) findings.push(note("tables", `the next sync creates ${missing.join(", ")}`))
  return {
    part: "warehouse",
    check: "keys",
    looked: `${counted(rows, "row")} of ${counted(tables.length, "table")}`,
    findings
  }
})

/** A table whose rows have a parent: a child table, or the table of a child resource. A deleted parent keeps its row. */
interface Relation {
  readonly known: KnownTable
  readonly parent: string
  /** SELECT of the parents, with the columns `location_id` and `id`. */
  readonly parents: string
  /** Columns of the child and of the parent that must be equal. */
  readonly columns: ReadonlyArray<readonly [child: string, parent: string]>
  readonly level: VerifyFinding["level"]
  /** SQL condition for the rows that are checked. */
  readonly where?: string
  /** Explains rows without a parent, where that is no error. */
  readonly remark?: string
}

export const checkParents = Effect.fn("verify.parents")(function* ({
  tables
}: Known): Effect.fn.Return<Checked, Failure, Warehouse> {
  const findings: Array<VerifyFinding> = []
  const relations = [...childTablesIn(tables), ...childResourcesIn(tables)]
  for (const { known, parent, parents, columns, level, where = "true", remark = "" } of relations) {
    if (known.isEmpty) continue
    const same = [["location_id", "location_id"] as const, ...columns]
      .map(([child, parent]) => `t.${name(child)} = p.${name(parent)}`)
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
        what: `${counted(orphans.n, "row")} without a row in ${parent}${remark}, for example ${orphans.example}`
      })
  }
  return {
    part: "warehouse",
    check: "parents",
    looked: counted(
      new Set(relations.map(({ known }) => known.table.name)).size,
      "table with parents",
      "tables with parents"
    ),
    findings
  }
})

/** Columns in the key of a child table that refer to a row of the same resource. */
const childTablesIn = (tables: ReadonlyArray<KnownTable>): ReadonlyArray<Relation> =>
  tables.flatMap((known) => {
    const { table, parent, columns } = known
    const { parentColumn } = table
    if (parentColumn === undefined) return []
    return columns.flatMap(({ name: column, references }): ReadonlyArray<Relation> => {
      const target = tables.find((other) => other.parent === parent && other.table.name === references)
      if (!target || !table.key.includes(column)) return []
      return [
        {
          known,
          parent: target.table.name,
          parents: `SELECT * FROM ${target.current}`,
          columns:
            target.table === parent
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
 * Only resources that are read for each parent and in no other list. Where the ids come from a value of the parent, they may
 * come from a version that was never archived, so a missing one proves nothing.
 */
const childResourcesIn = (tables: ReadonlyArray<KnownTable>): ReadonlyArray<Relation> =>
  tables.flatMap((known): ReadonlyArray<Relation> => {
    const { childOf, kind } = known.resource
    const parent = tables.find(({ table }) => table.name === childOf?.table)
    if (!childOf || !parent || kind !== "child" || known.table !== known.parent) return []
    const columns = [[childOf.column, "id"]] as const
    const ids = (path: string) => `SELECT location_id, ${childOf.ids} AS id FROM ${path}`
    if (childOf.ids !== undefined)
      return [
        {
          known,
          parent: childOf.table,
          parents: `${ids(parent.current)} UNION ${ids(parent.history)}`,
          columns,
          level: "note"
        }
      ]
    const parents = `SELECT location_id, id FROM ${parent.current}`
    const isFetched = `(t.location_id, t.${name(childOf.column)}) IN (${fetchedParentsSql(childRequestOf(known.resource)!.label)})`
    return [
      { known, parent: childOf.table, parents, columns, level: "wrong", where: isFetched },
      {
        known,
        parent: childOf.table,
        parents,
        columns,
        level: "note",
        where: `NOT coalesce(${isFetched}, false)`,
        remark: ", whose id the service sent in the response for another parent"
      }
    ]
  })

/** Counts references without a row. They are no error: the service may have deleted the row, or no sync reads it. */
export const checkReferences = Effect.fn("verify.references")(function* ({
  tables
}: Known): Effect.fn.Return<Checked, Failure, Warehouse> {
  const findings: Array<VerifyFinding> = []
  let count = 0
  for (const { table, parent, columns, current, isEmpty } of tables)
    for (const { name: column, references } of columns) {
      const to = tables.find((other) => other.table.name === references)
      if (!to || !to.columns.some((other) => other.name === "id") || (to.parent === parent && table !== parent))
        continue
      count++
      if (isEmpty) continue
      const dangling = countedRows(
        (yield* (yield* Warehouse).rows(
          `SELECT count(*) AS n, min(t.${name(column)}) AS example FROM ${current} AS t
           ANTI JOIN ${to.current} AS p ON p.id = t.${name(column)} WHERE t.${name(column)} <> ''`
        ))[0]
      )
      if (dangling.n > 0)
        findings.push(
          note(
            `${table.name}.${column}`,
            `${counted(dangling.n, "row")} without a matching row in ${references}, for example ${dangling.example}`
          )
        )
    }
  return { part: "warehouse", check: "references", looked: counted(count, "column"), findings }
})
