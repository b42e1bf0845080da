/** The temporary table `stage`: the rows of a batch, without duplicates. */
import type { Resource } from "../../catalog/resource.ts"
import { type Column, type Table, keyOf, snakeCase } from "../../catalog/tables.ts"
import { addEnumValues, addUnexpectedValues } from "../../warehouse/meta/schema-changes.ts"
import { literal, name, names } from "../../warehouse/sql.ts"
import type { Statement } from "../../warehouse/warehouse.ts"

export interface Batch {
  readonly resource: Resource
  /** The name it is counted under, and the label of its child requests in `meta.parent_state`. */
  readonly label: string
  readonly location: string
  readonly run: string
  readonly kind: "page" | "detail"
  /** See Group. */
  readonly isFull: boolean
  /** FROM clauses that read the loader's files with the given columns. */
  readonly rows: (columns: string) => string
  readonly parents: ((columns: string) => string) | undefined
  /** Number of parts for statements that need many times the size of a row. */
  readonly slices: number
}

export const stageStatements = (
  batch: Batch,
  parent: Table,
  children: ReadonlyArray<Table>
): ReadonlyArray<Statement> => [
  `CREATE OR REPLACE TEMP TABLE stage AS FROM ${batch.rows(stageColumns(parent, children))}`,
  ...removeDuplicates(batch.resource),
  ...enumStatements(batch, [parent, ...children])
]

/** Frees memory for the checkpoint that may follow. */
export const dropStage = [
  "stage",
  "copies",
  "existing",
  "previous",
  "listed",
  "parents",
  "missing",
  "deleted",
  "rejects",
  "detailed",
  "deletion_changes"
].map((table) => `DROP TABLE IF EXISTS temp.${table}`)

/** The column that orders the versions of a row. */
export const versionOf = ({ changes, version = changes?.field }: Resource): string | undefined =>
  version && snakeCase(version)

/**
 * Overlapping pages return a record twice: the newest version stays, or the last of equal versions. The time comes from the
 * first copy, so that a rebuild, whose batches end elsewhere, produces the same rows. Finding duplicates in narrow columns
 * takes a third of the time of a window over whole rows.
 */
const removeDuplicates = (resource: Resource): ReadonlyArray<Statement> => {
  const keys = keyOf(resource)
  const same = [...keys, "_row_hash"].map((column) => `stage.${name(column)} = first.${name(column)}`).join(" AND ")
  const changed = versionOf(resource)
  return [
    `CREATE OR REPLACE TEMP TABLE copies AS SELECT ${names(keys)} FROM stage GROUP BY ALL HAVING count(*) > 1`,
    {
      ifAny: "copies",
      run: [
        `UPDATE stage SET _at = first._at FROM (SELECT ${names(keys)}, _row_hash, min(_at) AS _at FROM stage GROUP BY ALL) AS first WHERE ${same}`,
        `DELETE FROM stage WHERE _n IN (
           SELECT _n FROM stage QUALIFY row_number() OVER (PARTITION BY ${names(keys)}
             ORDER BY ${changed ? `${name(changed)} DESC NULLS LAST, ` : ""}_n DESC) > 1
         )`
      ]
    }
  ]
}

/** Values of enum columns that the documentation does not list; new values if it lists none. */
const enumStatements = ({ location, run }: Batch, tables: ReadonlyArray<Table>): ReadonlyArray<string> => {
  const columns = tables.flatMap((table) =>
    table.columns.flatMap(({ name, enumValues }) => (enumValues ? [{ table, column: name, enumValues }] : []))
  )
  const listed = columns.filter(({ enumValues }) => enumValues.length > 0)
  const unlisted = columns.filter(({ enumValues }) => enumValues.length === 0)
  const valuesIn = (columns: ReadonlyArray<EnumColumn>) => columns.map(unlistedValues).join(" UNION ALL ")
  return [
    ...(listed.length === 0 ? [] : [addUnexpectedValues(location, valuesIn(listed))]),
    ...(unlisted.length === 0 ? [] : [addEnumValues(run, location, valuesIn(unlisted))])
  ]
}

interface EnumColumn {
  readonly table: Table
  readonly column: string
  readonly enumValues: ReadonlyArray<string>
}

/** SELECT of the staged values of a column that are not listed. */
const unlistedValues = (enumColumn: EnumColumn): string => {
  const [table, column] = [name(enumColumn.table.name), name(enumColumn.column)]
  const rows = enumColumn.table.parentColumn
    ? `(SELECT unnest(${table}).${column} AS value FROM stage)`
    : `(SELECT ${column} AS value FROM stage)`
  return `SELECT ${literal(enumColumn.table.name)} AS table_name, ${literal(enumColumn.column)} AS column_name, value FROM ${rows}
    WHERE value NOT IN (${["", ...enumColumn.enumValues].map(literal).join(", ")})`
}

/** JSON is read as text, because DuckDB would reformat it; other values already fit their type. */
const stageType = (column: Column) => (column.sql === "JSON" ? "VARCHAR" : column.sql)
const isSent = (column: Column) => !["location_id", "_synced_at", "_run_id", "_deleted_at"].includes(column.name)

const stageColumns = (parent: Table, children: ReadonlyArray<Table>): string =>
  [
    "_n: 'BIGINT', _at: 'BIGINT'",
    ...parent.columns.filter(isSent).map((column) => `${name(column.name)}: ${literal(stageType(column))}`),
    ...children.map((child) => `${name(child.name)}: ${literal(`STRUCT(${childFields(child)})[]`)}`)
  ].join(", ")

const childFields = (child: Table) =>
  ownColumns(child)
    .map((column) => `${name(column.name)} ${stageType(column)}`)
    .join(", ")

export const ownColumns = (child: Table) =>
  child.columns.filter((column) => isSent(column) && column.name !== child.parentColumn)
