/** The temporary table `stage`: the rows of a batch as they were read, each once. */
import type { Resource } from "../../catalog/resource.ts"
import { type Column, type Table, keyOf, snakeCase } from "../../catalog/tables.ts"
import { addEnumValues, addUnexpectedValues } from "../../warehouse/meta/schema-changes.ts"
import { literal, name, names } from "../../warehouse/sql.ts"
import type { Statement } from "../../warehouse/warehouse.ts"

export interface Batch {
  readonly resource: Resource
  /** What it is counted as; the name of its follow-ups in `meta.parent_state`. */
  readonly label: string
  readonly location: string
  readonly run: string
  readonly kind: "page" | "detail"
  /** See Group. */
  readonly whole: boolean
  /** FROM clauses that read what the loader wrote, with these columns. */
  readonly rows: (columns: string) => string
  readonly parents: ((columns: string) => string) | undefined
  /** Parts in which work goes that takes many times the size of a row. */
  readonly slices: number
}

export const stageStatements = (
  batch: Batch,
  parent: Table,
  children: ReadonlyArray<Table>
): ReadonlyArray<Statement> => [
  `CREATE OR REPLACE TEMP TABLE stage AS FROM ${batch.rows(stageColumns(parent, children))}`,
  ...newestOfCopies(batch.resource),
  ...enumStatements(batch, [parent, ...children])
]

/** Their memory is needed by the checkpoint that may follow. */
export const dropStage = [
  "stage",
  "copies",
  "met",
  "old",
  "shown",
  "parents",
  "deleted",
  "rejects",
  "detailed",
  "turned"
].map((table) => `DROP TABLE IF EXISTS temp.${table}`)

/** Column that tells the newer version of a row. */
export const versionOf = ({ changes, version = changes?.field }: Resource): string | undefined =>
  version && snakeCase(version)

/**
 * Pages that overlap bring a record twice: the newest version stays, and of equal ones the last. The first copy tells the
 * time, so that a rebuild, whose batches end elsewhere, gives the same rows. Looking for them in the narrow columns alone
 * takes a third of the time that a window over whole rows takes.
 */
const newestOfCopies = (resource: Resource): ReadonlyArray<Statement> => {
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

/** Values of enum columns that the documents do not list, and where they list none, those not met before. */
const enumStatements = ({ location, run }: Batch, tables: ReadonlyArray<Table>): ReadonlyArray<string> => {
  const columns = tables.flatMap((table) =>
    table.columns.flatMap(({ name, enumValues }) => (enumValues ? [{ table, column: name, enumValues }] : []))
  )
  const listed = columns.filter(({ enumValues }) => enumValues.length > 0)
  const unlisted = columns.filter(({ enumValues }) => enumValues.length === 0)
  const met = (some: typeof columns) => some.map(otherValues).join(" UNION ALL ")
  return [
    ...(listed.length === 0 ? [] : [addUnexpectedValues(location, met(listed))]),
    ...(unlisted.length === 0 ? [] : [addEnumValues(run, location, met(unlisted))])
  ]
}

/** SELECT of the values in a column, but for those listed. */
const otherValues = (of: {
  readonly table: Table
  readonly column: string
  readonly enumValues: ReadonlyArray<string>
}): string => {
  const [table, column] = [name(of.table.name), name(of.column)]
  const rows = of.table.parentColumn
    ? `(SELECT unnest(${table}).${column} AS value FROM stage)`
    : `(SELECT ${column} AS value FROM stage)`
  return `SELECT ${literal(of.table.name)} AS table_name, ${literal(of.column)} AS column_name, value FROM ${rows}
    WHERE value NOT IN (${["", ...of.enumValues].map(literal).join(", ")})`
}

/** Read as text where DuckDB would reprint what was sent (JSON), typed otherwise: values were made to fit before. */
const stageType = (column: Column) => (column.sql === "JSON" ? "VARCHAR" : column.sql)
const stored = (column: Column) => !["location_id", "_synced_at", "_run_id", "_deleted_at"].includes(column.name)

const stageColumns = (parent: Table, children: ReadonlyArray<Table>): string =>
  [
    "_n: 'BIGINT', _at: 'BIGINT'",
    ...parent.columns.filter(stored).map((column) => `${name(column.name)}: ${literal(stageType(column))}`),
    ...children.map((child) => `${name(child.name)}: ${literal(`STRUCT(${childFields(child)})[]`)}`)
  ].join(", ")

const childFields = (child: Table) =>
  ownColumns(child)
    .map((column) => `${name(column.name)} ${stageType(column)}`)
    .join(", ")

export const ownColumns = (child: Table) =>
  child.columns.filter((column) => stored(column) && column.name !== child.parentColumn)
