/**
 * The SQL that takes a batch of one resource into its tables: newest wins, what did not change is not touched, earlier
 * versions go to the history. Delete and insert, without primary keys: by far the fastest merge DuckDB has.
 */
import { type Resource, childRequestOf } from "../../catalog/resource.ts"
import { type Column, type Table, keyOf, keyText, tablesOf } from "../../catalog/tables.ts"
import { detailedParentsSql, parentStateSql, replaceParentState } from "../../warehouse/meta/parent-state.ts"
import { addCounts } from "../../warehouse/meta/run-resources.ts"
import { addSeenKeys, seenKeysSql } from "../../warehouse/meta/seen-keys.ts"
import { literal, name, names } from "../../warehouse/sql.ts"
import type { Statement } from "../../warehouse/warehouse.ts"
import { archiveVersions, markDeleted } from "./deletions.ts"
import { type Batch, ownColumns, stageStatements, versionOf } from "./staging-table.ts"

/** How a batch meets the row that is there: see `Column.detail`. */
type Mode = "whole" | "list" | "detail"

export const mergeStatements = (batch: Batch): ReadonlyArray<Statement> => {
  const { resource, kind } = batch
  const [parent, ...children] = tablesOf(resource)
  const hasOwn = Object.keys(resource.detail?.fields ?? {}).length > 0
  const mode: Mode = kind === "detail" ? "detail" : hasOwn ? "list" : "whole"
  const under = resource.childOf && batch.parents
  return [
    ...stageStatements(batch, parent, children),
    ...parentStage(batch),
    ...(under ? [`CREATE OR REPLACE TEMP TABLE shown AS SELECT ${keyText(resource)} AS key FROM stage`] : []),
    ...(batch.whole ? [addSeenKeys(batch, `(SELECT ${keyText(resource)} AS key FROM stage)`)] : []),
    ...(mode === "detail" ? [knownDetails(batch)] : knownRows(batch)),
    { ifAny: "stage", run: newVersions(batch, mode) },
    ...(under ? deletedFromParent(batch, parent) : []),
    ...fetchedParents(batch)
  ]
}

/** A detail is known by the text it had when it was read last, for the same state of its row. */
const knownDetails = (reading: Batch): string =>
  `DELETE FROM stage USING parents, ${parentStateSql(reading)} AS f WHERE parents.parent_id = stage.id AND f.parent_id = stage.id
     AND f.content_hash = stage._row_hash AND f.parent_version = parents.parent_version`

/**
 * A row that is there as it came is known, and so is an older version of one that this run, or a later one, brought. An older
 * version that a later run shows is what the service holds now: it was restored, merged or imported. The one look at the
 * whole table is at its narrow columns.
 */
const knownRows = ({ resource, location, run }: Batch): ReadonlyArray<string> => {
  const key = names(keyOf(resource))
  const changed = versionOf(resource)
  const older = changed
    ? ` OR (stage.${name(changed)} < met.${name(changed)} AND (met._run_id = ${literal(run)} OR ${syncedAt} <= met._synced_at))`
    : ""
  const columns = [...new Set([...keyOf(resource), "_row_hash", ...kept, ...(changed ? [changed] : [])])]
  return [
    `CREATE OR REPLACE TEMP TABLE met AS SELECT ${names(columns)} FROM crm.${name(resource.table)}
     WHERE location_id = ${literal(location)} AND (${key}) IN (SELECT ${key} FROM stage)`,
    `DELETE FROM stage USING met WHERE ${sameKey(resource, "met", "stage")}
     AND ((met._row_hash = stage._row_hash AND (met._deleted_at IS NOT NULL) = ${tombstoned(resource)})${older})`
  ]
}

/** What a new version of a row takes over from the one before. */
const kept = ["_synced_at", "_run_id", "_deleted_at"]

/** Takes the staged rows, which are new or changed, into the tables. */
const newVersions = (batch: Batch, mode: Mode): ReadonlyArray<Statement> => {
  const { resource, location, run } = batch
  const [parent, ...children] = tablesOf(resource)
  const here = `location_id = ${literal(location)}`
  const current = `crm.${name(parent.name)}`
  const key = names(keyOf(resource))
  return [
    ...(mode === "list" ? [detailedRows(batch)] : []),
    `CREATE OR REPLACE TEMP TABLE old AS ${
      mode === "whole" ? `SELECT ${key}, ${names(kept)} FROM met WHERE true` : `SELECT * FROM ${current} WHERE ${here}`
    } AND (${key}) IN (SELECT ${key} FROM stage)`,
    addCounts(batch, {
      new_rows: `(SELECT count(*) FROM stage ANTI JOIN old USING (${key}))`,
      changed_rows: `(SELECT count(*) FROM old WHERE _run_id <> ${literal(run)})`
    }),
    {
      ifAny: "old",
      run: [
        ...archiveVersions(
          batch,
          `(SELECT old.*, ${syncedAt} AS _ends_at FROM old JOIN stage USING (${key}) WHERE old._run_id <> ${literal(run)})`
        ),
        `DELETE FROM ${current} WHERE ${here} AND (${key}) IN (SELECT ${key} FROM old)`,
        ...children.map((child) => leavingChildren(batch, child, mode))
      ]
    },
    ...(mode === "whole" ? [] : [{ ifAny: "old", run: unknownFields(batch) }]),
    `INSERT INTO ${current} BY NAME SELECT ${parent.columns.map((column) => `${value(column, mode, batch)} AS ${name(column.name)}`).join(", ")}
     FROM stage LEFT JOIN old USING (${key})${mode === "list" ? " LEFT JOIN detailed ON detailed.parent_id = stage.id" : ""}`,
    ...children.map((child) => comingChildren(batch, child, mode)),
    // Whole rows bring all their children along.
    ...(mode === "whole" || children.length === 0 ? [] : turnedRows(batch, children))
  ]
}

/**
 * Each unknown field as it was sent last, by list or detail: a JSON merge would take objects apart and drop what is null.
 * They may be most of a row, so from here on the staged row alone has them.
 */
const unknownFields = ({ slices }: Batch): ReadonlyArray<string> => [
  ...Array.from(
    { length: slices },
    (_, slice) =>
      `UPDATE stage SET _extra = to_json(map_concat(CAST(old._extra AS MAP(VARCHAR, JSON)), CAST(stage._extra::JSON AS MAP(VARCHAR, JSON))))
       FROM old WHERE old.id = stage.id AND stage._n % ${slices} = ${slice} AND stage._extra IS NOT NULL AND old._extra IS NOT NULL`
  ),
  "UPDATE stage SET _extra = old._extra FROM old WHERE old.id = stage.id AND stage._extra IS NULL AND old._extra IS NOT NULL"
]

/** Rows of which a detail came: a list that shows a part of it says less. */
const detailedRows = ({ resource, location }: Batch): string =>
  `CREATE OR REPLACE TEMP TABLE detailed AS
   ${detailedParentsSql({ location, label: childRequestOf(resource)!.label })} AND parent_id IN (SELECT id FROM stage)`

/** Rows that were marked deleted or are there again take their children with them. */
const turnedRows = ({ resource, location }: Batch, children: ReadonlyArray<Table>): ReadonlyArray<Statement> => [
  `CREATE OR REPLACE TEMP TABLE turned AS SELECT now.id, now._deleted_at FROM crm.${name(resource.table)} AS now
   JOIN old ON old.id = now.id WHERE now.location_id = ${literal(location)} AND now._deleted_at IS DISTINCT FROM old._deleted_at`,
  {
    ifAny: "turned",
    run: children.map(
      (child) =>
        `UPDATE crm.${name(child.name)} AS t SET _deleted_at = turned._deleted_at FROM turned
         WHERE t.location_id = ${literal(location)} AND t.${name(child.parentColumn!)} = turned.id`
    )
  }
]

const sameKey = (resource: Resource, one: string, other: string) =>
  keyOf(resource)
    .map((column) => `${one}.${name(column)} = ${other}.${name(column)}`)
    .join(" AND ")

/** Whether the service itself says that the staged record is deleted; a detail may not show the flag. */
const tombstoned = ({ tombstone }: Resource, mode: Mode = "whole") => {
  if (tombstone === undefined) return "false"
  const flag = name(tombstone)
  return mode === "detail" ? `coalesce(stage.${flag}, old.${flag}, false)` : `coalesce(stage.${flag}, false)`
}

/** When the page that holds a row was read, so that a rebuild gives the same rows as the runs did. */
const syncedAt = "to_timestamp(stage._at / 1000)"

/** The value of one column of the row to be. */
const value = (column: Column, mode: Mode, { resource, location, run }: Batch): string => {
  const [sent, kept] = [`stage.${name(column.name)}`, `old.${name(column.name)}`]
  switch (column.name) {
    case "location_id":
      return literal(location)
    case "_synced_at":
      // Of several writings in one run the first counts: there the version before ends.
      return `CASE WHEN old._run_id = ${literal(run)} THEN old._synced_at ELSE ${syncedAt} END`
    case "_run_id":
      return literal(run)
    case "_deleted_at":
      return resource.tombstone === undefined
        ? "NULL"
        : `CASE WHEN ${tombstoned(resource, mode)} THEN coalesce(old._deleted_at, ${syncedAt}) END`
    case "_row_hash":
      return mode === "detail" ? kept : sent
    default:
      if (mode === "list" && column.detail)
        return `CASE WHEN detailed.parent_id IS NOT NULL THEN ${kept} ELSE coalesce(${sent}, ${kept}) END`
      return mode === "detail" && !column.detail ? `coalesce(${sent}, ${kept})` : sent
  }
}

/** Staged rows that tell the rows of a child table: one that says nothing of them leaves them as they are. */
const telling = (child: Table, mode: Mode): string => {
  const said = `stage.${name(child.name)} IS NOT NULL`
  if (mode === "list" && child.detail) return `WHERE ${said} AND stage.id NOT IN (FROM detailed)`
  return mode === "detail" && !child.detail ? `WHERE ${said}` : ""
}

const leavingChildren = ({ location }: Batch, child: Table, mode: Mode): string =>
  `DELETE FROM crm.${name(child.name)} WHERE location_id = ${literal(location)}
     AND ${name(child.parentColumn!)} IN (SELECT id FROM old SEMI JOIN (FROM stage ${telling(child, mode)}) USING (id))`

/** Child rows are deleted where their row is. */
const comingChildren = ({ resource, location, run }: Batch, child: Table, mode: Mode): string => {
  const rows = `SELECT id AS parent, ${syncedAt} AS loaded, unnest(${name(child.name)}) AS item FROM stage ${telling(child, mode)}`
  const parents = `SELECT id, _deleted_at FROM crm.${name(resource.table)} WHERE location_id = ${literal(location)}`
  const [deletedAt, from] =
    resource.tombstone === undefined
      ? ["NULL", `(${rows})`]
      : ["p._deleted_at", `(${rows}) JOIN (${parents} AND id IN (SELECT id FROM stage)) AS p ON p.id = parent`]
  return `INSERT INTO crm.${name(child.name)} BY NAME
     SELECT ${literal(location)} AS location_id, parent AS ${name(child.parentColumn!)}, ${ownColumns(child)
       .map((column) => `item.${name(column.name)} AS ${name(column.name)}`)
       .join(", ")}, loaded AS _synced_at, ${literal(run)} AS _run_id, ${deletedAt} AS _deleted_at
     FROM ${from}`
}

const parentStage = ({ label, location, parents }: Batch): ReadonlyArray<string> =>
  parents === undefined
    ? []
    : [
        `CREATE OR REPLACE TEMP TABLE parents AS SELECT p.*, coalesce(to_timestamp(p.full_ms / 1000), f.full_at) AS full_at
         FROM (FROM ${parents("parent_id: 'VARCHAR', parent_version: 'VARCHAR', content_hash: 'VARCHAR', fetched_ms: 'BIGINT', full_ms: 'BIGINT', checkpoint: 'VARCHAR', _n: 'BIGINT'")}
           QUALIFY row_number() OVER (PARTITION BY parent_id ORDER BY _n DESC) = 1) AS p
         LEFT JOIN ${parentStateSql({ location, label })} AS f ON f.parent_id = p.parent_id`
      ]

/** What a parent no longer shows is gone, once all its pages were read. */
const deletedFromParent = (batch: Batch, table: Table): ReadonlyArray<Statement> => {
  const { resource, location } = batch
  const here = `location_id = ${literal(location)}`
  const key = keyText(resource)
  return [
    addSeenKeys(batch, "shown WHERE EXISTS (FROM parents WHERE checkpoint IS NOT NULL)"),
    `CREATE OR REPLACE TEMP TABLE deleted AS SELECT ${key} AS key, to_timestamp(fetched_ms / 1000) AS at_
     FROM crm.${name(table.name)} JOIN parents ON parent_id = ${name(resource.childOf!.column)} AND full_ms IS NOT NULL
     WHERE ${here} AND _deleted_at IS NULL AND ${key} NOT IN (SELECT key FROM shown)
     AND ${key} NOT IN ${seenKeysSql(batch)}`,
    { ifAny: "deleted", run: markDeleted(batch) }
  ]
}

const fetchedParents = (batch: Batch): ReadonlyArray<string> =>
  batch.parents === undefined ? [] : replaceParentState(batch, "parents")
