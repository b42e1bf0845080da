/**
 * The SQL that takes a batch of one resource into its tables: newest wins, what did not change is not touched, earlier
 * versions go to the history. Delete and insert, without primary keys: by far the fastest merge DuckDB has.
 */
import type { Resource } from "../catalog/resource.ts"
import { type Column, type Table, snakeCase, tablesOf } from "../catalog/tables.ts"
import { literal, name, names } from "../warehouse/sql.ts"

export interface Batch {
  readonly resource: Resource
  /** Condition that finds the row of `meta.run_resources` in which it is counted. */
  readonly counted: string
  readonly location: string
  readonly run: string
  readonly kind: "page" | "detail"
  /** FROM clauses that read what the loader wrote, with these columns. */
  readonly rows: (columns: string) => string
  readonly parents: ((columns: string) => string) | undefined
}

/** How a batch meets the row that is there: see `Column.detail`. */
type Mode = "whole" | "list" | "detail"

export const mergeStatements = (batch: Batch): ReadonlyArray<string> => {
  const { resource, location, run, kind } = batch
  const tables = tablesOf(resource)
  const [parent, ...children] = tables
  const mode: Mode = kind === "detail" ? "detail" : resource.detail ? "list" : "whole"
  const here = `location_id = ${literal(location)}`
  const current = `crm.${name(parent.name)}`
  const changed = resource.changes && snakeCase(resource.changes.field)
  return [
    `CREATE OR REPLACE TEMP TABLE stage AS FROM ${batch.rows(stageColumns(parent, children))}
     QUALIFY row_number() OVER (PARTITION BY id ORDER BY ${changed ? `${name(changed)} DESC NULLS LAST, ` : ""}_n DESC) = 1`,
    ...parentStage(batch),
    ...(resource.each ? [`CREATE OR REPLACE TEMP TABLE shown AS SELECT id FROM stage`] : []),
    mode === "detail"
      ? `DELETE FROM stage USING parents, meta.fanout AS f WHERE parents.parent_id = stage.id AND f.parent_id = stage.id
         AND f.${here} AND f.resource = ${literal(resource.table)} AND f.content_hash = stage._row_hash`
      : `DELETE FROM stage USING ${current} AS old WHERE old.${here} AND old.id = stage.id
         AND ((old._row_hash = stage._row_hash AND old._deleted_at IS NULL)${changed ? ` OR stage.${name(changed)} < old.${name(changed)}` : ""})`,
    `CREATE OR REPLACE TEMP TABLE old AS SELECT * FROM ${current} WHERE ${here} AND id IN (SELECT id FROM stage)`,
    `UPDATE meta.run_resources SET new_rows = new_rows + (SELECT count(*) FROM stage ANTI JOIN old USING (id)),
       changed_rows = changed_rows + (SELECT count(*) FROM old WHERE _run_id <> ${literal(run)})
     WHERE ${batch.counted}`,
    ...history(batch, parent, children),
    `DELETE FROM ${current} WHERE ${here} AND id IN (SELECT id FROM old)`,
    `INSERT INTO ${current} BY NAME SELECT ${parent.columns.map((column) => `${value(column, mode, batch)} AS ${name(column.name)}`).join(", ")}
     FROM stage LEFT JOIN old USING (id)`,
    ...children.flatMap((child) => replaceChildren(batch, child, mode)),
    ...(resource.each ? goneFromParent(batch, parent) : []),
    ...fanoutState(batch)
  ]
}

/** When the page that holds a row was read, so that a rebuild gives the same rows as the runs did. */
const syncedAt = "to_timestamp(stage._at / 1000)"

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

const ownColumns = (child: Table) =>
  child.columns.filter((column) => stored(column) && column.name !== child.parentColumn)

/** The value of one column of the row to be. */
const value = (column: Column, mode: Mode, { location, run }: Batch): string => {
  const [sent, kept] = [`stage.${name(column.name)}`, `old.${name(column.name)}`]
  switch (column.name) {
    case "location_id":
      return literal(location)
    case "_synced_at":
      return syncedAt
    case "_run_id":
      return literal(run)
    case "_deleted_at":
      return "NULL"
    case "_row_hash":
      return mode === "detail" ? kept : sent
    case "_extra":
      return mode === "whole"
        ? sent
        : `CASE WHEN ${sent} IS NULL THEN ${kept} WHEN ${kept} IS NULL THEN ${sent}::JSON ELSE json_merge_patch(${kept}, ${sent}::JSON) END`
    default:
      if (mode === "list" && column.detail) return kept
      return mode === "detail" && !column.detail ? `coalesce(${sent}, ${kept})` : sent
  }
}

const replaceChildren = ({ location, run }: Batch, child: Table, mode: Mode): ReadonlyArray<string> => {
  if (mode === "list" && child.detail) return []
  const rows = `stage.${name(child.name)}`
  const sent = mode === "detail" && !child.detail ? `WHERE ${rows} IS NOT NULL` : ""
  const parentColumn = name(child.parentColumn!)
  return [
    `DELETE FROM crm.${name(child.name)} WHERE location_id = ${literal(location)}
     AND ${parentColumn} IN (SELECT id FROM old SEMI JOIN (FROM stage ${sent}) USING (id))`,
    `INSERT INTO crm.${name(child.name)} BY NAME
     SELECT ${literal(location)} AS location_id, parent AS ${parentColumn}, ${ownColumns(child)
       .map((column) => `item.${name(column.name)} AS ${name(column.name)}`)
       .join(", ")}, loaded AS _synced_at, ${literal(run)} AS _run_id
     FROM (SELECT id AS parent, ${syncedAt} AS loaded, unnest(${name(child.name)}) AS item FROM stage)`
  ]
}

/** Versions are what stood at the end of a run: a row written twice in one run leaves no version behind. */
const history = ({ location, run }: Batch, parent: Table, children: ReadonlyArray<Table>): ReadonlyArray<string> => {
  const versions = `(SELECT id AS _id, old._synced_at AS _from, ${syncedAt} AS _to
     FROM old JOIN stage USING (id) WHERE old._run_id <> ${literal(run)})`
  return [parent, ...children].map((table) => {
    const columns = table.columns.map((column) => column.name)
    return `INSERT INTO crm_history.${name(table.name)} (${names(columns)}, _valid_from, _valid_to)
     SELECT ${names(columns)}, _from, _to FROM crm.${name(table.name)}
     JOIN ${versions} ON ${name(table.parentColumn ?? "id")} = _id WHERE location_id = ${literal(location)}`
  })
}

const parentStage = ({ parents }: Batch): ReadonlyArray<string> =>
  parents === undefined
    ? []
    : [
        `CREATE OR REPLACE TEMP TABLE parents AS
         FROM ${parents("parent_id: 'VARCHAR', parent_state: 'VARCHAR', content_hash: 'VARCHAR', fetched_ms: 'BIGINT', _n: 'BIGINT'")}
         QUALIFY row_number() OVER (PARTITION BY parent_id ORDER BY _n DESC) = 1`
      ]

/** A parent's answer is complete: what it no longer shows is gone. */
const goneFromParent = ({ resource, location, run, counted }: Batch, table: Table): ReadonlyArray<string> => {
  const rows = `crm.${name(table.name)}`
  return [
    `CREATE OR REPLACE TEMP TABLE gone AS SELECT id, to_timestamp(fetched_ms / 1000) AS at_
     FROM ${rows} JOIN parents ON parent_id = ${name(resource.each!.column)}
     WHERE location_id = ${literal(location)} AND _deleted_at IS NULL AND id NOT IN (SELECT id FROM shown)`,
    `UPDATE meta.run_resources SET deleted_rows = deleted_rows + (SELECT count(*) FROM gone) WHERE ${counted}`,
    `UPDATE ${rows} AS t SET _deleted_at = at_, _synced_at = at_, _run_id = ${literal(run)}
     FROM gone WHERE t.location_id = ${literal(location)} AND t.id = gone.id`
  ]
}

const fanoutState = ({ resource, location, parents }: Batch): ReadonlyArray<string> =>
  parents === undefined
    ? []
    : [
        `DELETE FROM meta.fanout WHERE location_id = ${literal(location)} AND resource = ${literal(resource.table)}
         AND parent_id IN (SELECT parent_id FROM parents)`,
        `INSERT INTO meta.fanout SELECT ${literal(location)}, ${literal(resource.table)}, parent_id, parent_state, content_hash,
           to_timestamp(fetched_ms / 1000) FROM parents`
      ]
