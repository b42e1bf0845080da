/** The warehouse without erased people: a fresh file, because deleted rows stay readable in the blocks of the old one. */
import { Effect } from "effect"
import { rename, rm } from "node:fs/promises"
import type { Catalogue } from "../../../catalog/discover.ts"
import { type Resource, childRequestOf } from "../../../catalog/resource.ts"
import { keyText, tablesOf } from "../../../catalog/tables.ts"
import type { Failure } from "../../../values/failure.ts"
import { outputPaths } from "../../../output/paths.ts"
import { copyDurably, onDisk, syncFolder } from "../../../output/files.ts"
import { removeBelow } from "../../../output/remove.ts"
import { dirname } from "node:path"
import { insertStatements, literal, name } from "../../../stores/warehouse/sql.ts"
import { newStorage } from "../../../stores/warehouse/database.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { refreshWide } from "../../../stores/warehouse/wide-views.ts"
import type { OutputSettings } from "../../../settings/settings.ts"
import { type Wanted, containsSql } from "./needles.ts"
import { metaStatements } from "./meta.ts"
import type { RecordKey } from "./job.ts"

export interface Erased {
  /** The records that go. */
  readonly removed: ReadonlyArray<RecordKey>
  /** The records that stay without the person, and a warehouse with their new rows. */
  readonly kept: ReadonlyArray<RecordKey>
  readonly keptRows: string
  /** What identifies the person, for tables that keep values as they were sent. */
  readonly texts: ReadonlyArray<Wanted>
}

const keysName = "memory.main.erased"

/** Statements to run in a copy of the warehouse. Rows of `meta` that contain a text of the person go as a whole. */
const statements = (resources: ReadonlyArray<Resource>, { kept, keptRows, removed, texts }: Erased) => {
  const valuesOf = (records: ReadonlyArray<RecordKey>, isKept: boolean) =>
    records.map(({ key, location, table }) => `(${[table, location, key].map(literal).join(", ")}, ${isKept})`)
  const all = [...valuesOf(removed, false), ...valuesOf(kept, true)]
  const tables = new Set([...removed, ...kept].map(({ table }) => table))
  const ofTable = (table: string) => `(SELECT (location_id, key) FROM ${keysName} WHERE table_name = ${literal(table)})`
  const contains = (column: string) =>
    texts.length === 0 ? "false" : `(${texts.map((text) => containsSql(column, text)).join(" OR ")})`
  const withoutTexts = (table: string, ...columns: ReadonlyArray<string>) =>
    `DELETE FROM meta.${table} WHERE ${columns.map(contains).join(" OR ")}`
  return [
    `CREATE OR REPLACE TABLE ${keysName} (table_name VARCHAR, location_id VARCHAR, key VARCHAR, is_kept BOOLEAN)`,
    ...insertStatements(keysName, all),
    ...resources
      .filter(({ table }) => tables.has(table))
      .flatMap((resource) => [
        ...tablesOf(resource).flatMap(({ name: table, parentColumn }) =>
          ["crm", "crm_history"].map(
            (schema) =>
              `DELETE FROM ${schema}.${name(table)} WHERE (location_id, ${parentColumn === undefined ? keyText(resource) : name(parentColumn)}) IN ${ofTable(resource.table)}`
          )
        ),
        // The next release writes the tables anew: a change of single keys would name the erased ones.
        `UPDATE meta.content_versions SET version = uuid(), base = NULL WHERE resource = ${literal(resource.table)}`,
        `DELETE FROM meta.changed_keys WHERE resource = ${literal(resource.table)}`
      ]),
    ...resources.flatMap((resource) => {
      const request = childRequestOf(resource)
      // What is requested by ids of its own has its state under these.
      const parents = resource.childOf?.ids === undefined ? request?.table : resource.table
      return request && parents !== undefined && tables.has(parents)
        ? [
            `DELETE FROM meta.parent_state WHERE resource = ${literal(request.label)} AND (location_id, parent_id) IN ${ofTable(parents)}`
          ]
        : []
    }),
    // They name keys, too, and are noted again by the next reading of each list.
    "DELETE FROM meta.known_pages",
    `DELETE FROM meta.seen_keys WHERE (location_id, key) IN (SELECT (location_id, key) FROM ${keysName} WHERE NOT is_kept)`,
    ...(kept.length > 0 ? insertKept(resources, tables, keptRows) : []),
    ...metaStatements(
      resources.filter(({ table }) => tables.has(table)),
      keysName
    ),
    withoutTexts("rejected_records", "record", "reason"),
    withoutTexts("rejected_values", "value", "key"),
    withoutTexts("schema_changes", "sample", "field"),
    withoutTexts("enum_values", "value"),
    withoutTexts("unexpected_values", "value"),
    withoutTexts("checkpoints", "checkpoint::VARCHAR"),
    `DROP TABLE ${keysName}`
  ]
}

const insertKept = (
  resources: ReadonlyArray<Resource>,
  tables: ReadonlySet<string>,
  keptRows: string
): ReadonlyArray<string> => [
  `ATTACH ${literal(keptRows)} AS kept (READ_ONLY)`,
  ...resources
    .filter(({ table }) => tables.has(table))
    .flatMap(tablesOf)
    .flatMap(({ name: table }) =>
      ["crm", "crm_history"].map((schema) => {
        const path = `${schema}.${name(table)}`
        return `INSERT INTO ${path} BY NAME FROM kept.${path}`
      })
    ),
  // Details that were read are not requested again.
  `INSERT INTO meta.parent_state BY NAME FROM kept.meta.parent_state AS s WHERE EXISTS (FROM ${keysName} AS k
     WHERE k.is_kept AND s.resource = k.table_name || '/details' AND s.location_id = k.location_id AND s.parent_id = k.key)`,
  "DETACH kept"
]

/** The fresh file, until it replaces the warehouse. */
export const freshPath = (warehouse: string): string => outputPaths(dirname(warehouse)).erased

/** Writes a fresh file without the erased rows beside the warehouse, whose lock the caller holds. */
export const writeWithoutErased = (
  path: string,
  output: Pick<OutputSettings, "customFieldClasses" | "memoryMb">,
  catalogue: Catalogue,
  erased: Erased
): Effect.Effect<void, Failure> => writeChanged(path, output, catalogue, statements(catalogue.resources, erased))

/** Writes a fresh file beside the warehouse, as these statements leave it: its blocks have nothing of what they remove. */
export const writeChanged = Effect.fn("erasure.warehouse")(function* (
  path: string,
  { customFieldClasses, memoryMb }: Pick<OutputSettings, "customFieldClasses" | "memoryMb">,
  catalogue: Catalogue,
  changes: ReadonlyArray<string>
) {
  const [copy, fresh] = [`${path}.copy`, freshPath(path)]
  const remove = onDisk(path, "removed", async () => {
    for (const file of [copy, fresh])
      for (const end of ["", ".wal", ".tmp"]) await removeBelow(dirname(path), file + end)
  })
  yield* remove
  yield* onDisk(copy, "written", () => copyDurably(path, copy))
  yield* Effect.gen(function* () {
    const warehouse = yield* Warehouse
    for (const statement of changes) yield* warehouse.run(statement)
    // The views name the custom fields that the rows have; a later change would leave the text of the old ones in the file.
    yield* refreshWide(catalogue, customFieldClasses)
    yield* warehouse.run("CHECKPOINT")
    yield* warehouse.run(`ATTACH ${literal(fresh)} AS fresh (${newStorage})`)
    yield* warehouse.run("COPY FROM DATABASE warehouse TO fresh")
    yield* warehouse.run("CHECKPOINT fresh; DETACH fresh")
  }).pipe(Effect.provide(Warehouse.layer(copy, { memoryMb, access: "write" })))
  yield* onDisk(copy, "removed", async () => {
    for (const end of ["", ".wal", ".tmp"]) await removeBelow(dirname(path), copy + end)
  })
})

/** Replaces the warehouse by the fresh file. A crash leaves the old file or the new one. */
export const replaceWarehouse = (path: string): Effect.Effect<void, Failure> =>
  onDisk(path, "replaced", async () => {
    await rm(`${path}.wal`, { force: true })
    await rename(freshPath(path), path)
    await syncFolder(dirname(path))
  })
