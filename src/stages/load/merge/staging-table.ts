/** The temporary table `stage`: the rows of a batch, one for each key. */
import type { Resource } from "../../../catalog/resource.ts"
import { snakeCase } from "../../../catalog/fields.ts"
import { type Column, type Table, keyOf, tablesOf } from "../../../catalog/tables.ts"
import { literal, name, names } from "../../../stores/warehouse/sql.ts"
import { readNdjson } from "../ndjson-file.ts"
import type { RowFiles } from "../row-files.ts"
import type { Changes } from "./changes.ts"

export interface Batch {
  readonly resource: Resource
  /** The name it is counted under, and the label of its child requests in `meta.parent_state`. */
  readonly label: string
  readonly location: string
  readonly run: string
  readonly kind: "page" | "detail"
  /** Some staged rows have the same key. */
  readonly hasCopies: boolean
  /** The rows to merge. Those that are known to be unchanged are not among them. */
  readonly stagedRows: RowFiles
  /** The rows of which there is no earlier version. */
  readonly newRows: RowFiles
  /** SELECT of the keys that were returned for the batch's parents; `undefined` if no row of theirs can be missing. */
  readonly listed: string | undefined
  /** Earlier readings have not returned some row. */
  readonly hasMissing: boolean
  /** Called if a row of them is missing. */
  readonly onMissing: () => void
  /** Number of parts for the statement that merges unknown fields; 0 if no staged row has any. */
  readonly slices: number
  readonly changes: Changes
}

/** FROM clause of the staged rows. If there is a detail, they tell which child tables a record was sent with. */
export const stagedRowsOf = ({ resource, stagedRows }: Batch): string => {
  const [parent, ...children] = tablesOf(resource)
  const sent = resource.detail === undefined ? [] : children.map((child) => `${name(child.name)}: 'BOOLEAN'`)
  return readNdjson(
    stagedRows.rows,
    ["_n: 'BIGINT', _at: 'BIGINT'", ...parent.columns.filter(isSent).map(stageColumn), ...sent].join(", ")
  )
}

/** FROM clause of the rows of a child table, each with the number of its staged row. */
export const stagedChildrenOf = ({ stagedRows }: Batch, child: Table): string =>
  readNdjson(stagedRows.childFile(child.name), ["_n: 'BIGINT'", ...ownColumns(child).map(stageColumn)].join(", "))

/** FROM clause of the new rows of a table. */
export const newRowsOf = ({ newRows }: Batch, table: Table): string => {
  const { parentColumn } = table
  const columns = table.columns.filter((column) => isSent(column) || column.name === parentColumn)
  return `${readNdjson(
    parentColumn === undefined ? newRows.rows : newRows.childFile(table.name),
    ["_at: 'BIGINT'", ...columns.map(stageColumn)].join(", ")
  )} AS stage`
}

/** The column that orders the versions of a row. */
export const versionOf = ({ changes, version = changes?.field }: Resource): string | undefined =>
  version && snakeCase(version)

/**
 * Of rows with the same key the newest version stays, or the last of equal versions. The time comes from the first copy, so
 * that a rebuild, whose batches end elsewhere, produces the same rows.
 */
export const removeCopies = (resource: Resource): { readonly setTime: string; readonly remove: string } => {
  const keys = keyOf(resource)
  const same = [...keys, "_row_hash"].map((column) => `stage.${name(column)} = first.${name(column)}`).join(" AND ")
  const changed = versionOf(resource)
  return {
    setTime: `UPDATE stage SET _at = first._at FROM (SELECT ${names(keys)}, _row_hash, min(_at) AS _at FROM stage GROUP BY ALL) AS first WHERE ${same}`,
    remove: `DELETE FROM stage WHERE _n IN (
      SELECT _n FROM stage QUALIFY row_number() OVER (PARTITION BY ${names(keys)}
        ORDER BY ${changed ? `${name(changed)} DESC NULLS LAST, ` : ""}_n DESC) > 1
    )`
  }
}

/** JSON is read as text, because DuckDB would reformat it; other values already fit their type. */
const stageType = (column: Column) => (column.sql === "JSON" ? "VARCHAR" : column.sql)
const isSent = (column: Column) => !["location_id", "_synced_at", "_run_id", "_deleted_at"].includes(column.name)

const stageColumn = (column: Column) => `${name(column.name)}: ${literal(stageType(column))}`

export const ownColumns = (child: Table) =>
  child.columns.filter((column) => isSent(column) && column.name !== child.parentColumn)
