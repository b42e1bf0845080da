/** The temporary table `stage`: the rows of a batch as they were read, each once. */
import type { Resource } from "../catalog/resource.ts"
import { type Column, type Table, keyOf, snakeCase } from "../catalog/tables.ts"
import { literal, name, names } from "../warehouse/sql.ts"
import type { Statement } from "../warehouse/warehouse.ts"

export interface Batch {
  readonly resource: Resource
  /** What it is counted as; the name of its follow-ups in `meta.fanout`. */
  readonly label: string
  /** Condition that finds the row of `meta.run_resources` in which it is counted. */
  readonly counted: string
  readonly location: string
  readonly run: string
  readonly kind: "page" | "detail"
  /** See Group. */
  readonly whole: boolean
  /** FROM clauses that read what the loader wrote, with these columns. */
  readonly rows: (columns: string) => string
  readonly parents: ((columns: string) => string) | undefined
}

export const stageStatements = (
  batch: Batch,
  parent: Table,
  children: ReadonlyArray<Table>
): ReadonlyArray<Statement> => [
  `CREATE OR REPLACE TEMP TABLE stage AS FROM ${batch.rows(stageColumns(parent, children))}`,
  ...newestOfCopies(batch.resource),
  ...words(batch, parent)
]

/** Their memory is needed by the checkpoint that may follow. */
export const dropStage = ["stage", "copies", "met", "old", "shown", "parents", "gone", "rejects"].map(
  (table) => `DROP TABLE IF EXISTS temp.${table}`
)

/** Column that tells the newer version of a row. */
export const versionOf = ({ changes }: Resource): string | undefined => changes && snakeCase(changes.field)

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

/** Words not met before in columns that hold one of a set. */
const words = ({ location, run }: Batch, table: Table): ReadonlyArray<string> => {
  const columns = table.columns.filter((column) => column.words)
  if (columns.length === 0) return []
  const met = columns.map(
    ({ name: column }) => `SELECT ${literal(column)} AS column_name, ${name(column)} AS word FROM stage`
  )
  return [
    `INSERT INTO meta.known_words SELECT DISTINCT ${literal(location)}, ${literal(table.name)}, column_name, word, ${literal(run)}
     FROM (${met.join(" UNION ALL ")}) AS met ANTI JOIN (FROM meta.known_words WHERE location_id = ${literal(location)} AND table_name = ${literal(table.name)}) AS known
     USING (column_name, word) WHERE word <> ''`
  ]
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
