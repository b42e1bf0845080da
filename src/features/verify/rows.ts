/** Checks keys, parents and references of rows. */
import { Effect } from "effect"
import { itemAt } from "../../catalog/present.ts"
import { childLabelOf } from "../../catalog/resource.ts"
import { fetchedParentsSql } from "../../stores/warehouse/meta/parent-state.ts"
import { rowsOfEach } from "../../stores/warehouse/groups.ts"
import { name, names } from "../../stores/warehouse/sql.ts"
import { type VerifyFinding, counted, note, wrong } from "../../values/finding.ts"
import type { KeyCounts } from "./state.ts"
import { type Known, type KnownTable, countedRows, findingsOfEach, shownKey } from "./existing-tables.ts"

/** Every row has a key without NULL, and no other row has the same key. `counts`: from the look at every value of the tables. */
export const checkKeys = Effect.fn("verify.keys")(function* (
  { tables, missing }: Known,
  counts: ReadonlyMap<string, KeyCounts> | undefined
) {
  const findings: Array<VerifyFinding> = []
  let rows = 0
  const suspicious = tables.filter(({ current, isEmpty, table }) => {
    const { keys, nulls, rows: all } = counts?.get(current) ?? { keys: 0, nulls: 0, rows: 0, future: 0 }
    rows += all
    if (nulls > 0) findings.push(wrong(table.name, `${counted(nulls, "row")} with NULL in the key`))
    return counts === undefined ? !isEmpty : keys < all - nulls
  })
  const duplicates = yield* rowsOfEach(countedRows, suspicious, ({ current, table }) => {
    const isWhole = table.key.map((column) => `${name(column)} IS NOT NULL`).join(" AND ")
    return `SELECT count(*) AS n, min(${shownKey(table, "t")}) AS example
      FROM (SELECT ${names(table.key)} FROM ${current} WHERE ${isWhole} GROUP BY ALL HAVING count(*) > 1) AS t`
  })
  for (const [{ table }, { n, example }] of duplicates)
    if (n > 0) findings.push(wrong(table.name, `${counted(n, "duplicate key")}, for example ${example}`))
  if (missing.length > 0) findings.push(note("tables", `the next sync creates ${missing.join(", ")}`))
  return {
    looked: `${counted(rows, "row")} of ${counted(tables.length, "table")}`,
    findings
  }
})

/** A table whose rows have a parent: a child table, or the table of a child resource. A deleted parent keeps its row. */
interface Relation {
  readonly known: KnownTable
  /** About how many rows both have. */
  readonly size: number
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

export const checkParents = Effect.fn("verify.parents")(function* ({ tables }: Known) {
  const relations = [...childTablesIn(tables), ...childResourcesIn(tables)]
  const findings = yield* findingsOfEach(
    relations.filter(({ known }) => !known.isEmpty),
    ({ columns, known, parents, where = "true" }) => {
      const same = [["location_id", "location_id"] as const, ...columns]
        .map(([child, parent]) => `t.${name(child)} = p.${name(parent)}`)
        .join(" AND ")
      return `SELECT count(*) AS n, min(${shownKey(known.table, "t")}) AS example
         FROM (FROM ${known.current} AS t WHERE ${where}) AS t ANTI JOIN (${parents}) AS p ON ${same}`
    },
    ({ known, level, parent, remark = "" }, { n, example }) => ({
      level,
      where: known.table.name,
      what: `${counted(n, "row")} without a row in ${parent}${remark}, for example ${example}`
    })
  )
  return {
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
      const own = [column, "id"] as const
      return [
        {
          known,
          size: known.size + target.size,
          parent: target.table.name,
          parents: `SELECT * FROM ${target.current}`,
          columns: target.table === parent ? [own] : [own, [parentColumn, parentColumn]],
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
    const relation = {
      known,
      size: known.size + parent.size,
      parent: childOf.table,
      parents: `SELECT location_id, id FROM ${parent.current}`,
      columns: [[childOf.column, "id"]]
    } as const
    const ids = (path: string) => `SELECT location_id, ${childOf.ids} AS id FROM ${path}`
    if (childOf.ids !== undefined)
      return [{ ...relation, parents: `${ids(parent.current)} UNION ${ids(parent.history)}`, level: "note" }]
    const isFetched = `(t.location_id, t.${name(childOf.column)}) IN (${fetchedParentsSql(childLabelOf(known.resource))})`
    return [
      { ...relation, level: "wrong", where: isFetched },
      {
        ...relation,
        level: "note",
        where: `NOT coalesce(${isFetched}, false)`,
        remark: ", whose id the service sent in the response for another parent"
      }
    ]
  })

/** Counts references without a row. They are no error: the service may have deleted the row, or no sync reads it. */
export const checkReferences = Effect.fn("verify.references")(function* ({ tables }: Known) {
  const references = tables.flatMap(({ table, parent, columns, current, isEmpty, size }) =>
    columns.flatMap(({ name: column, references }) => {
      const to = tables.find((other) => other.table.name === references)
      if (!to || !to.columns.some((other) => other.name === "id") || (to.parent === parent && table !== parent))
        return []
      return [{ table, column, current, isEmpty, to, size: size + to.size }]
    })
  )
  const numbered = references.map((one, place) => ({ ...one, place })).filter(({ isEmpty }) => !isEmpty)
  // Columns that refer to the same table are joined with it once.
  const groups = [...Map.groupBy(numbered, ({ to }) => to)].map(([to, ones]) => {
    return { ones, to, size: ones.reduce((sum, { size }) => sum + size, 0) }
  })
  const found = yield* rowsOfEach({ reference: Number, ...countedRows }, groups, ({ ones, to }) => {
    const values = ones.map(
      ({ column, current, place }) => `SELECT ${place} AS reference, ${name(column)} AS id FROM ${current}`
    )
    return `SELECT reference, count(*) AS n, min(t.id) AS example FROM (${values.join(" UNION ALL ")}) AS t
      ANTI JOIN ${to.current} AS p ON p.id = t.id WHERE t.id <> '' GROUP BY reference`
  })
  const findings = found
    .map(([, row]) => row)
    .toSorted((one, other) => one.reference - other.reference)
    .map(({ example, n, reference }) => {
      const { column, table, to } = itemAt(references, reference)
      return note(
        `${table.name}.${column}`,
        `${counted(n, "row")} without a matching row in ${to.table.name}, for example ${example}`
      )
    })
  return { looked: counted(references.length, "column"), findings }
})
