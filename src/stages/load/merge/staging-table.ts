/** The temporary table `stage`: the rows of a batch, one for each key. */
import type { Resource } from "../../../catalog/resource.ts"
import { decimalFrom, decimalType } from "../../../catalog/decimals.ts"
import { snakeCase } from "../../../catalog/fields.ts"
import { type Column, type Table, keyOf, tablesOf } from "../../../catalog/tables.ts"
import { literal, name, names } from "../../../stores/warehouse/sql.ts"
import { type NdjsonFile, readNdjson } from "../ndjson-file.ts"
import type { RowFiles } from "../row-files.ts"
import type { Changes } from "./changes.ts"

/** What of a batch tells its new rows. */
export type NewRows = Pick<Batch, "location" | "newRows" | "run" | "label">

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
  /** Number of parts for the statement that merges unknown fields; 0 if no staged row has any. */
  readonly slices: number
  readonly changes: Changes
}

/** FROM clause of the staged rows. If there is a detail, they tell which child tables a record was sent with. */
export const stagedRowsOf = ({ resource, stagedRows }: Batch): string => {
  const [parent, ...children] = tablesOf(resource)
  const sent = resource.detail === undefined ? [] : children.map((child) => `${name(child.name)}: 'BOOLEAN'`)
  return readRows(stagedRows.rows, ["_n: 'BIGINT', _at: 'BIGINT'", ...sent], parent.columns.filter(isSent))
}

/** FROM clause of the rows of a child table, each with the number of its staged row. */
export const stagedChildrenOf = ({ stagedRows }: Batch, child: Table): string =>
  readRows(stagedRows.childFile(child.name), ["_n: 'BIGINT'"], ownColumns(child))

/** The files with new rows of a table, of batches of one resource. */
export const newFilesOf = (batches: ReadonlyArray<NewRows>, { name, parentColumn }: Table): ReadonlyArray<NewFile> =>
  batches.flatMap(({ location, newRows, run }) => {
    const file = parentColumn === undefined ? newRows.rows : newRows.childFile(name)
    return file.length === 0 ? [] : [{ file, location, run }]
  })

interface NewFile {
  readonly file: NdjsonFile
  readonly location: string
  readonly run: string
}

/** FROM clause of the new rows of a table. */
export const newRowsOf = (files: ReadonlyArray<NewFile>, { columns, parentColumn }: Table): string => {
  const sent = columns.filter((column) => isSent(column) || column.name === parentColumn)
  const [first, ...others] = files.map(({ file }) => file)
  const rows = readNdjson([first!, ...others], ["_at: 'BIGINT'", ...sent.map(stageColumn)].join(", "))
  return `${withDecimals(rows, sent)} AS stage`
}

/** Expression for a fact that all rows of a file share. */
export const ofFile = (files: ReadonlyArray<NewFile>, fact: "location" | "run"): string => {
  const [first, ...others] = new Set(files.map((one) => one[fact]))
  if (others.length === 0) return literal(first!)
  return `CASE _file ${files.map((one) => `WHEN ${literal(one.file.path)} THEN ${literal(one[fact])}`).join(" ")} END`
}

/** FROM clause that reads rows. `own`: columns of the file that the table does not have. */
const readRows = (file: NdjsonFile, own: ReadonlyArray<string>, columns: ReadonlyArray<Column>): string =>
  withDecimals(readNdjson(file, [...own, ...columns.map(stageColumn)].join(", ")), columns)

const withDecimals = (rows: string, columns: ReadonlyArray<Column>): string => {
  const decimals = columns
    .filter(isDecimal)
    .map((column) => `${decimalFrom(name(column.name))} AS ${name(column.name)}`)
  return decimals.length === 0 ? rows : `(SELECT * REPLACE (${decimals.join(", ")}) FROM ${rows})`
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

/** JSON is read as text, because DuckDB would reformat it; all values already fit their type. */
const stageType = (column: Column) => (column.sql === "JSON" || isDecimal(column) ? "VARCHAR" : column.sql)
const isDecimal = ({ sql }: Column) => sql === decimalType
const isSent = (column: Column) => !["location_id", "_synced_at", "_run_id", "_deleted_at"].includes(column.name)

const stageColumn = (column: Column) => `${name(column.name)}: ${literal(stageType(column))}`

export const ownColumns = (child: Table) =>
  child.columns.filter((column) => isSent(column) && column.name !== child.parentColumn)
