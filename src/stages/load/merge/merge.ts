/**
 * The SQL that merges a batch of one resource into its tables: the newest version wins, unchanged rows are not touched, and
 * earlier versions move to the history. Delete and insert without primary keys is by far the fastest merge in DuckDB.
 */
import * as Effect from "effect/Effect"
import { present } from "../../../catalog/present.ts"
import { type Resource, childLabelOf } from "../../../catalog/resource.ts"
import { columnName } from "../../../catalog/fields.ts"
import { type ChildTable, type Column, keyOf, keyText, tablesOf } from "../../../catalog/tables.ts"
import { detailedParentsSql, parentStateSql, stagedParentsSql } from "../../../stores/warehouse/meta/parent-state.ts"
import { forgetMissing, noteMissing } from "../../../stores/warehouse/meta/missing-children.ts"
import { deleteSeenKeysIn, seenKeysSql } from "../../../stores/warehouse/meta/seen-keys.ts"
import { literal, name, names } from "../../../stores/warehouse/sql.ts"
import type { Transaction } from "../../../stores/warehouse/transaction.ts"
import type { Changes } from "./changes.ts"
import { archiveVersions, notBefore } from "./deletions.ts"
import {
  type Batch,
  type NewRows,
  newFilesOf,
  newRowsOf,
  ofFile,
  ownColumns,
  removeCopies,
  stagedChildrenOf,
  stagedRowsOf,
  versionOf
} from "./staging-table.ts"

/** Which columns a batch replaces: all, those of the list, or those of the detail. See `Column.detail`. */
type Mode = "all" | "list" | "detail"

/** Merges a batch, whose new rows are inserted. Returns whether children of its parents are missing. */
export const merge = Effect.fnUntraced(function* (tx: Transaction, batch: Batch) {
  if (batch.stagedRows.rows.length > 0) yield* mergeRows(tx, batch)
  return batch.listed !== undefined && (yield* findMissingChildren(tx, batch, batch.listed))
})

const modeOf = ({ resource: { detail }, kind }: Batch): Mode =>
  kind === "detail" ? "detail" : Object.keys(detail?.fields ?? {}).length > 0 ? "list" : "all"

const mergeRows = Effect.fnUntraced(function* (tx: Transaction, batch: Batch) {
  const mode = modeOf(batch)
  let rows = batch.stagedRows.rows.length
  tx.run(`CREATE OR REPLACE TEMP TABLE stage AS FROM ${stagedRowsOf(batch)}`)
  if (batch.hasCopies) {
    const { setTime, remove } = removeCopies(batch.resource)
    tx.run(setTime)
    rows -= yield* tx.write(remove)
  }
  if (mode === "detail") rows -= yield* tx.write(dropUnchangedDetails(batch))
  else if ((yield* tx.write(existingRows(batch))) > 0) rows -= yield* tx.write(dropUnchangedRows(batch))
  if (rows > 0) yield* writeVersions(tx, batch, mode, rows)
})

/** Removes staged details with the same content as at the last read, for the same version of the row or since a failed request. */
const dropUnchangedDetails = (batch: Batch): string =>
  `DELETE FROM stage USING ${stagedParentsSql(batch)} AS p, ${parentStateSql(batch)} AS f WHERE p.parent_id = stage.id AND f.parent_id = stage.id
     AND f.content_hash = stage._row_hash AND coalesce(f.parent_version = p.parent_version, true)`

/** The current rows of the staged keys. The only scan of the whole table reads narrow columns. */
const existingRows = ({ resource, location }: Batch): string => {
  const changed = versionOf(resource)
  const columns = [...new Set([...keyOf(resource), "_row_hash", ...carriedOver, ...(changed ? [changed] : [])])]
  return `CREATE OR REPLACE TEMP TABLE existing AS SELECT ${names(columns)} FROM crm.${name(resource.table)}
    WHERE location_id = ${literal(location)} AND (${names(keyOf(resource))}) IN (SELECT ${names(keyOf(resource))} FROM stage)`
}

/**
 * Removes staged rows that are unchanged, and older versions of rows that this or a later run has written. An older version
 * from a later run is the current one: the service restored, merged or imported the record.
 */
const dropUnchangedRows = ({ resource, run }: Batch): string => {
  const changed = versionOf(resource)
  const older = changed
    ? ` OR (stage.${name(changed)} < existing.${name(changed)} AND (existing._run_id >= ${literal(run)}))`
    : ""
  return `DELETE FROM stage USING existing WHERE ${sameKey(resource, "existing", "stage")}
    AND ((existing._row_hash = stage._row_hash AND (existing._deleted_at IS NOT NULL) = ${isTombstoned(resource)})${older})`
}

/** Columns that a new version may take over from the version before. */
const carriedOver = ["_synced_at", "_run_id", "_deleted_at"]

/** Inserts the rows of which the table has no earlier version. `batches`: of one resource, and of any location and run. */
export const insertNewRows = (
  tx: Transaction,
  resource: Resource,
  changes: Changes,
  batches: ReadonlyArray<NewRows>
): void => {
  const [parent] = tablesOf(resource)
  const files = newFilesOf(batches, parent)
  if (files.length === 0) return
  for (const batch of batches) changes.counts.add(batch, { new_rows: batch.newRows.rows.length })
  const keys = `SELECT ${ofFile(files, "location")} AS location_id, ${keyText(resource)} AS key FROM ${newRowsOf(files, parent)}`
  tx.run(...changes.ofRows(resource.table, `(${keys})`))
  for (const table of tablesOf(resource)) {
    const own = newFilesOf(batches, table)
    if (own.length === 0) continue
    const values = table.columns.map((column) => `${newValue(column, own)} AS ${name(column.name)}`)
    tx.run(`INSERT INTO crm.${name(table.name)} BY NAME SELECT ${values.join(", ")} FROM ${newRowsOf(own, table)}`)
  }
}

/** Writes the staged rows, which are new or changed, to the tables. `rows`: their number. */
const writeVersions = Effect.fnUntraced(function* (tx: Transaction, batch: Batch, mode: Mode, rows: number) {
  const { resource, location, changes } = batch
  const [parent, ...children] = tablesOf(resource)
  const current = `crm.${name(parent.name)}`
  const key = names(keyOf(resource))
  tx.run(
    ...changes.ofRows(
      resource.table,
      `(SELECT ${literal(location)} AS location_id, ${keyText(resource)} AS key FROM stage)`
    )
  )
  if (mode === "list") tx.run(detailedRows(batch))
  const replaced = yield* tx.write(
    `CREATE OR REPLACE TEMP TABLE previous AS ${
      mode === "all"
        ? `SELECT ${key}, ${names(carriedOver)} FROM existing WHERE true`
        : `SELECT * FROM ${current} WHERE location_id = ${literal(location)}`
    } AND (${key}) IN (SELECT ${key} FROM stage)`
  )
  changes.counts.add(batch, { new_rows: rows - replaced })
  if (resource.tombstone !== undefined) {
    const deleted = yield* tx.write(flaggedRows(batch, mode))
    // They count as changed so far.
    changes.counts.add(batch, { deleted_rows: deleted, changed_rows: -deleted })
  }
  if (replaced > 0) yield* removeReplaced(tx, batch, mode)
  tx.run(
    `INSERT INTO ${current} BY NAME SELECT ${parent.columns.map((column) => `${value(column, mode, batch)} AS ${name(column.name)}`).join(", ")}
     FROM stage LEFT JOIN previous USING (${key})${mode === "list" ? " LEFT JOIN detailed ON detailed.parent_id = stage.id" : ""}`
  )
  for (const child of children)
    if (batch.stagedRows.childFile(child.name).length > 0) tx.run(insertChildren(batch, child, mode))
  // Without a detail, every row is staged with all its children.
  if (mode !== "all" && children.length > 0) yield* updateChildDeletions(tx, batch, children)
})

/** Archives and removes the rows of `previous`, whose new versions are staged. */
const removeReplaced = Effect.fnUntraced(function* (tx: Transaction, batch: Batch, mode: Mode) {
  const { resource, location, run, changes } = batch
  const [parent, ...children] = tablesOf(resource)
  const key = names(keyOf(resource))
  const changed = yield* archiveVersions(
    tx,
    batch,
    `(SELECT previous.*, ${notBefore("previous", syncedAt)} AS _ends_at FROM previous JOIN stage USING (${key}) WHERE previous._run_id <> ${literal(run)})`
  )
  changes.counts.add(batch, { changed_rows: changed })
  tx.run(
    `DELETE FROM crm.${name(parent.name)} WHERE location_id = ${literal(location)} AND (${key}) IN (SELECT ${key} FROM previous)`,
    ...children.map((child) => deleteChildren(batch, child, mode)),
    ...(mode === "all" ? [] : mergeUnknownFields(batch))
  )
})

/**
 * Each unknown field keeps the value sent last, by list or detail. A JSON merge would merge nested objects and drop nulls.
 * Unknown fields may be most of a row, so from here on only the staged row has them.
 */
const mergeUnknownFields = ({ slices }: Batch): ReadonlyArray<string> => [
  ...Array.from(
    { length: slices },
    (_, slice) =>
      `UPDATE stage SET _extra = to_json(map_concat(CAST(previous._extra AS MAP(VARCHAR, JSON)), CAST(stage._extra::JSON AS MAP(VARCHAR, JSON))))
       FROM previous WHERE previous.id = stage.id AND stage._n % ${slices} = ${slice} AND stage._extra IS NOT NULL AND previous._extra IS NOT NULL`
  ),
  "UPDATE stage SET _extra = previous._extra FROM previous WHERE previous.id = stage.id AND stage._extra IS NULL AND previous._extra IS NOT NULL"
]

/** Parents whose detail has been read: a list that shows some of its columns does not replace them. */
const detailedRows = ({ resource, location }: Batch): string =>
  `CREATE OR REPLACE TEMP TABLE detailed AS
   ${detailedParentsSql({ location, label: childLabelOf(resource) })} AND parent_id IN (SELECT id FROM stage)`

/** Copies `_deleted_at` to the children of rows that were deleted or restored. */
const updateChildDeletions = Effect.fnUntraced(function* (
  tx: Transaction,
  { resource, location }: Batch,
  children: ReadonlyArray<ChildTable>
) {
  const changed = yield* tx.write(
    `CREATE OR REPLACE TEMP TABLE deletion_changes AS SELECT current.id, current._deleted_at FROM crm.${name(resource.table)} AS current
     JOIN previous ON previous.id = current.id WHERE current.location_id = ${literal(location)} AND current._deleted_at IS DISTINCT FROM previous._deleted_at`
  )
  if (changed > 0)
    for (const child of children)
      tx.run(
        `UPDATE crm.${name(child.name)} AS t SET _deleted_at = deletion_changes._deleted_at FROM deletion_changes
         WHERE t.location_id = ${literal(location)} AND t.${name(child.parentColumn)} = deletion_changes.id`
      )
})

const sameKey = (resource: Resource, left: string, right: string) =>
  keyOf(resource)
    .map((column) => `${left}.${name(column)} = ${right}.${name(column)}`)
    .join(" AND ")

/** Whether the service flags the staged record as deleted; a detail may lack the flag. */
const isTombstoned = ({ tombstone }: Resource, mode: Mode = "all") => {
  if (tombstone === undefined) return "false"
  const flag = name(tombstone)
  return mode === "detail" ? `coalesce(stage.${flag}, previous.${flag}, false)` : `coalesce(stage.${flag}, false)`
}

/** Staged rows that the service flags as deleted, and that an earlier run has seen otherwise: what comes so is new alone. */
const flaggedRows = ({ resource, run }: Batch, mode: Mode): string =>
  `CREATE OR REPLACE TEMP TABLE flagged AS SELECT 1 AS one FROM stage JOIN previous USING (${names(keyOf(resource))})
   WHERE ${isTombstoned(resource, mode)} AND previous._deleted_at IS NULL AND previous._run_id <> ${literal(run)}`

/** When the page of a row was read, so that a rebuild produces the same rows as the runs did. */
const syncedAt = "to_timestamp(stage._at / 1000)"

/** The expression for one column of a row without an earlier version. */
const newValue = (column: Column, files: Parameters<typeof ofFile>[0]): string => {
  switch (column.name) {
    case "location_id":
      return ofFile(files, "location")
    case "_synced_at":
      return syncedAt
    case "_run_id":
      return ofFile(files, "run")
    case "_deleted_at":
      return "NULL"
    default:
      return `stage.${name(column.name)}`
  }
}

/** The expression for one column of the new row. */
const value = (column: Column, mode: Mode, { resource, location, run }: Batch): string => {
  const [sent, previous] = [`stage.${name(column.name)}`, `previous.${name(column.name)}`]
  switch (column.name) {
    case "location_id":
      return literal(location)
    case "_synced_at":
      // The first write in a run counts, because it ends the version before.
      return `CASE WHEN previous._run_id = ${literal(run)} THEN previous._synced_at WHEN previous._synced_at IS NULL THEN ${syncedAt} ELSE ${notBefore("previous", syncedAt)} END`
    case "_run_id":
      return literal(run)
    case "_deleted_at":
      return resource.tombstone === undefined
        ? "NULL"
        : `CASE WHEN ${isTombstoned(resource, mode)} THEN coalesce(previous._deleted_at, ${syncedAt}) END`
    case "_row_hash":
      return mode === "detail" ? previous : sent
    default:
      if (mode === "list" && column.detail)
        return `CASE WHEN detailed.parent_id IS NOT NULL THEN ${previous} ELSE coalesce(${sent}, ${previous}) END`
      if (mode === "detail" && !column.detail) return `coalesce(${sent}, ${previous})`
      // A text on another host that could not be fetched is not gone.
      const { as, url } = resource.detail?.linked ?? {}
      const link = columnOf(resource, url)
      return mode === "detail" && link !== undefined && column.name === columnOf(resource, as)
        ? `coalesce(${sent}, CASE WHEN stage.${name(link)} IS NOT NULL THEN ${previous} END)`
        : sent
  }
}

/** The column of a field of the detail. */
const columnOf = ({ detail }: Resource, field: string | undefined): string | undefined => {
  const found = detail?.fields[field ?? ""]
  return field !== undefined && found?.kind === "column" ? columnName("", field, found) : undefined
}

/** WHERE clause: staged rows that replace the rows of a child table. A row without them leaves them unchanged. */
const replacesChildren = (child: ChildTable, mode: Mode): string => {
  const isSent = `stage.${name(child.name)} IS NOT NULL`
  if (mode === "list" && child.detail) return `WHERE ${isSent} AND stage.id NOT IN (FROM detailed)`
  return mode === "detail" && !child.detail ? `WHERE ${isSent}` : ""
}

const deleteChildren = ({ location }: Batch, child: ChildTable, mode: Mode): string =>
  `DELETE FROM crm.${name(child.name)} WHERE location_id = ${literal(location)}
     AND ${name(child.parentColumn)} IN (SELECT id FROM previous SEMI JOIN (FROM stage ${replacesChildren(child, mode)}) USING (id))`

/** Child rows get the `_deleted_at` of their parent. */
const insertChildren = (batch: Batch, child: ChildTable, mode: Mode): string => {
  const { resource, location, run } = batch
  const parents = `SELECT id, _deleted_at FROM crm.${name(resource.table)} WHERE location_id = ${literal(location)}`
  const [deletedAt, deletions] =
    resource.tombstone === undefined
      ? ["NULL", ""]
      : ["p._deleted_at", `JOIN (${parents} AND id IN (SELECT id FROM stage)) AS p ON p.id = stage.id`]
  return `INSERT INTO crm.${name(child.name)} BY NAME
     SELECT ${literal(location)} AS location_id, stage.id AS ${name(child.parentColumn)}, ${ownColumns(child)
       .map((column) => `item.${name(column.name)} AS ${name(column.name)}`)
       .join(", ")}, ${syncedAt} AS _synced_at, ${literal(run)} AS _run_id, ${deletedAt} AS _deleted_at
     FROM ${stagedChildrenOf(batch, child)} AS item
     JOIN (FROM stage ${replacesChildren(child, mode)}) AS stage USING (_n) ${deletions}`
}

/**
 * Notes children missing from a parent, once all its pages have been read: extract decides about them. Returns whether there are
 * any. `listed`: SELECT of the keys that were returned.
 */
const findMissingChildren = Effect.fnUntraced(function* (tx: Transaction, batch: Batch, listed: string) {
  const { resource, location } = batch
  const key = keyText(resource)
  const column = name(present(resource.childOf, `parent of ${resource.table}`).column)
  const parents = stagedParentsSql(batch)
  if (batch.hasMissing) tx.run(forgetMissing(batch, listed))
  const missing = yield* tx.write(
    `CREATE OR REPLACE TEMP TABLE missing AS SELECT ${key} AS key, p.parent_id, p.fetched_at AS at_
     FROM crm.${name(resource.table)} AS t JOIN ${parents} AS p ON p.parent_id = t.${column} AND p.is_complete
     WHERE t.location_id = ${literal(location)} AND _deleted_at IS NULL AND ${key} NOT IN (${listed})
     AND ${key} NOT IN ${seenKeysSql(batch)}`
  )
  if (missing > 0) tx.run(...noteMissing(batch, "missing"))
  // A parent that is read completely needs the keys of its earlier pages no longer.
  if (yield* tx.isAny(seenKeysSql(batch)))
    tx.run(
      deleteSeenKeysIn(
        batch,
        `SELECT ${key} FROM crm.${name(resource.table)} AS t JOIN ${parents} AS p ON p.parent_id = t.${column} AND p.checkpoint IS NULL WHERE t.location_id = ${literal(location)}`
      )
    )
  return missing > 0
})
