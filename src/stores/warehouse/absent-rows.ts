/** Finds rows that the service may have deleted, because a complete reading did not return them, and what depends on them. */
import { Clock, Effect } from "effect"
import { columnsOfRequest } from "../../catalog/get-one.ts"
import { type ChildOf, type Resource, childLabelOf } from "../../catalog/resource.ts"
import { idColumn, keyOf, keyText, tablesOf } from "../../catalog/tables.ts"
import { missingChildrenSql } from "./meta/missing-children.ts"
import { seenKeysSql } from "./meta/seen-keys.ts"
import { queryRow, queryTexts } from "./query.ts"
import { numbers } from "../../values/rows.ts"
import { instantOf, literal, name } from "./sql.ts"
import { type Row, Warehouse } from "./warehouse.ts"

/** Rows with one of these names in the column. */
export interface Partitions {
  readonly column: string
  readonly names: ReadonlyArray<string>
}

/** The columns of a row that a request for its record needs. */
export const rowOfKey = Effect.fnUntraced(function* (resource: Resource, location: string, key: string) {
  const [row] = yield* (yield* Warehouse).rows(
    `SELECT ${columnsOfRequest(resource).map(name).join(", ")} FROM crm.${name(resource.table)}
     WHERE location_id = ${literal(location)} AND ${keyText(resource)} = ${literal(key)}`
  )
  return row
})

/**
 * Live rows of a list that were loaded before its reading began, and whose keys the reading did not return. One that seems to
 * have been loaded later than now was loaded by an earlier run, whose clock was ahead.
 */
export const missingRows = Effect.fnUntraced(function* (
  resource: Resource,
  { location, run }: { readonly location: string; readonly run: string },
  begunAt: number,
  partitions?: Partitions
) {
  const isRead = partitions
    ? `list_contains([${partitions.names.map(literal).join(", ")}]::VARCHAR[], t.${name(partitions.column)})`
    : "true"
  const now = instantOf(yield* Clock.currentTimeMillis)
  const { childOf } = resource
  // Rows that are read as children of another table are not in the list.
  const listed =
    childOf === undefined
      ? "true"
      : `${name(childOf.column)} NOT IN (SELECT id FROM crm.${name(childOf.table)} WHERE ${inLocation(location)} AND (${childOf.where ?? "true"}))`
  // NOT IN would hold all keys in memory at once; a join does not.
  const rows = yield* (yield* Warehouse).rows(
    `SELECT ${absentColumns(resource, location, now)} FROM ${live(resource.table, location)} AS t
     ANTI JOIN ${seenKeysSql({ location, label: resource.table })} AS seen ON seen.key = ${keyText(resource, "t.")}
     WHERE (_synced_at < ${instantOf(begunAt)} OR (_synced_at > ${now} AND _run_id <> ${literal(run)})) AND (${listed}) AND ${isRead}`
  )
  return rows.map(absentRow)
})

/** Live children that a complete reading of their parent did not return. `isAgreed`: nor did a second one. */
export const missingChildren = Effect.fnUntraced(function* (resource: Resource, location: string) {
  const now = instantOf(yield* Clock.currentTimeMillis)
  const label = childLabelOf(resource)
  const rows = yield* (yield* Warehouse).rows(
    `SELECT ${absentColumns(resource, location, now)}, m.last_at > m.first_at AS _agreed FROM ${live(resource.table, location)} AS t
     JOIN ${missingChildrenSql({ location, label })} AS m ON m.key = ${keyText(resource, "t.")}`
  )
  return rows.map(({ _agreed, ...row }) => ({ ...absentRow(row), isAgreed: _agreed === true }))
})

/** Live children of which every parent is deleted. `isReadAgain`: also those that no parent names any more. */
export const unnamedRows = Effect.fnUntraced(function* (resource: Resource, location: string, isReadAgain: boolean) {
  const { childOf } = resource
  if (childOf === undefined) return []
  const condition = isReadAgain ? `NOT ${isNamed(childOf, location, true)}` : isOrphaned(childOf, location)
  const rows = yield* (yield* Warehouse).rows(
    `SELECT ${absentColumns(resource, location, "NULL")} FROM ${live(resource.table, location)} AS t WHERE ${condition}`
  )
  return rows.map(absentRow)
})

/** Those of the rows with these ids that this run has not written: it has read nothing that names them. */
export const notWrittenBy = (run: string, { table }: Resource, location: string, ids: ReadonlyArray<string>) =>
  queryTexts(
    `SELECT key FROM ${keysSql(ids)} AS wanted ANTI JOIN (FROM crm.${name(table)} WHERE ${inLocation(location)} AND _run_id = ${literal(run)}) AS t ON t.id = wanted.key`
  )

/** A few live rows other than these, from anywhere in the table, in each run others; those that it has read come first. */
export const otherRows = Effect.fnUntraced(function* (
  resource: Resource,
  location: string,
  run: string,
  keys: ReadonlyArray<string>,
  limit: number
) {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT ${absentColumns(resource, location, "NULL")} FROM ${live(resource.table, location)} AS t
     ANTI JOIN ${keysSql(keys)} AS absent ON absent.key = ${keyText(resource, "t.")}
     ORDER BY t._run_id = ${literal(run)} DESC, hash(_key || ${literal(run)}), _key LIMIT ${limit}`
  )
  return rows.map(absentRow)
})

/** How many of a table's live rows would be deleted. */
export interface Share {
  readonly table: string
  readonly deleted: number
  readonly rows: number
}

/**
 * What deleting rows removes from the table. With `resources`: also from its child tables, and from the tables of these that
 * depend on it.
 */
export const deletedShares = Effect.fnUntraced(function* (
  resource: Resource,
  location: string,
  keys: ReadonlyArray<string>,
  resources: ReadonlyArray<Resource> | undefined
) {
  const deleted = `${keyText(resource)} IN (SELECT key FROM ${keysSql(keys)})`
  const shares: Array<Share> = []
  const tables = resources
    ? deletedWith(resources, resource, location, deleted)
    : [{ table: resource.table, condition: deleted }]
  for (const { table, condition } of tables) {
    const row = yield* queryRow(
      numbers("deleted", "rows"),
      `SELECT count(*) FILTER (${condition}) AS deleted, count(*) AS rows FROM ${live(table, location)}`
    )
    shares.push({ table, ...row })
  }
  return shares
})

/** The tables that lose rows with a resource, each with the condition of these rows. */
const deletedWith = (
  resources: ReadonlyArray<Resource>,
  resource: Resource,
  location: string,
  condition: string
): ReadonlyArray<{ readonly table: string; readonly condition: string }> => {
  const rows = `FROM ${live(resource.table, location)} WHERE (${condition})`
  const [, ...nested] = tablesOf(resource)
  const dependent = resources.flatMap((other) => {
    const { childOf, cascadesFrom } = other
    const parent = [childOf, cascadesFrom].find((one) => one?.table === resource.table)
    if (parent === undefined) return []
    const ids = parent === childOf ? (childOf.ids ?? "id") : "id"
    return deletedWith(resources, other, location, `${name(parent.column)} IN (SELECT ${ids} ${rows})`)
  })
  return [
    { table: resource.table, condition },
    ...nested.map(({ name: table, parentColumn }) => ({
      table,
      condition: `${name(parentColumn ?? idColumn(resource.table))} IN (SELECT id ${rows})`
    })),
    ...dependent
  ]
}

/** SELECT list of an absent row, for a table `t`. */
const absentColumns = (resource: Resource, location: string, now: string): string => {
  const { childOf, cascadesFrom, expires } = resource
  const explained = [
    ...(cascadesFrom ? [isOrphaned(cascadesFrom, location)] : []),
    ...(childOf ? [isOrphaned(childOf, location)] : []),
    ...(expires === undefined ? [] : [`t.${name(expires)} < ${now}`])
  ]
  const requested = columnsOfRequest(resource).filter((column) => keyOf(resource).includes("id") || column !== "id")
  return `${keyText(resource, "t.")} AS _key, coalesce(${explained.length > 0 ? explained.join(" OR ") : "false"}, false) AS _explained
    ${requested.map((column) => `, t.${name(column)}`).join("")}`
}

/** A live row that a complete reading of its list, or of its parent, did not return. */
export type AbsentRow = ReturnType<typeof absentRow>
const absentRow = ({ _key, _explained, ...row }: Row) => ({
  key: String(_key),
  /** The columns that a request for the record needs. */
  row,
  /** Whether its absence follows from what was decided before: its parent is deleted, or its time is over. */
  isExplained: _explained === true
})

type Parents = Pick<ChildOf, "table" | "column" | "ids" | "tombstone">

/** SQL: whether a parent of the row `t` names it: one that exists, or one that is deleted. */
const isNamed = ({ table, column, ids = "id", tombstone }: Parents, location: string, exists: boolean): string =>
  `coalesce(t.${name(column)} IN (SELECT ${ids} FROM crm.${name(table)} WHERE ${inLocation(location)} AND ${exists ? "NOT " : ""}(${isDeletedSql(tombstone)})), false)`

/** SQL: whether every parent of the row `t` is deleted. */
const isOrphaned = (parents: Parents, location: string): string =>
  `${isNamed(parents, location, false)}${parents.ids === undefined ? "" : ` AND NOT ${isNamed(parents, location, true)}`}`

/** SQL: whether a parent is deleted. One that the service only flags as deleted still has its children. */
const isDeletedSql = (tombstone: string | undefined): string =>
  `_deleted_at IS NOT NULL${tombstone ? ` AND NOT coalesce(${name(tombstone)}, false)` : ""}`

const inLocation = (location: string): string => `location_id = ${literal(location)}`
const live = (table: string, location: string): string =>
  `(FROM crm.${name(table)} WHERE ${inLocation(location)} AND _deleted_at IS NULL)`
const keysSql = (keys: ReadonlyArray<string>): string =>
  `(SELECT unnest([${keys.map(literal).join(", ")}]::VARCHAR[]) AS key)`
