/**
 * A masked copy of the warehouse, from which a release is published: tables, models, wide tables and documents then contain
 * masked values because there are no others. The copy is a temporary file of the output folder and never contains the
 * values that it masks.
 */
import { Effect } from "effect"
import { hash } from "node:crypto"
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Catalogue } from "../../../catalog/discover.ts"
import { tablesOf } from "../../../catalog/tables.ts"
import { closeToOthers, onDisk } from "../../../output/files.ts"
import { storedOrder } from "../../../stores/warehouse/parts.ts"
import { outputPaths } from "../../../output/paths.ts"
import { removeBelow } from "../../../output/remove.ts"
import { bracketed } from "../../../stores/warehouse/query.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { newStorage } from "../../../stores/warehouse/database.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { WideView } from "../../../stores/warehouse/wide-view.ts"
import { maskedColumns, shownFields } from "./expressions.ts"
import { type Masking, keyFingerprint } from "../../../settings/masking.ts"
import { copiedState, maskedMetaTables } from "./meta-tables.ts"
import { definePseudonyms } from "./pseudonyms.ts"
import type { MaskedColumn } from "./rules.ts"

/** A table of the copy, and the SELECT of its rows from the warehouse. */
export interface CopiedTable {
  /** `crm`, `crm_history` or `meta`, and the table. */
  readonly path: string
  readonly select: string
}

/** The current rows and earlier versions of every table of the catalogue, masked. */
export const maskedTables = (
  { resources }: Pick<Catalogue, "resources">,
  wide: ReadonlyArray<WideView>,
  masking: Masking
): ReadonlyArray<CopiedTable> => {
  const shown = shownFields(wide)
  return resources.flatMap(tablesOf).flatMap((table) =>
    Object.entries({ crm: table.columns, crm_history: [...table.columns, ...historyColumns] }).map(
      ([schema, columns]) => {
        const path = `${schema}.${name(table.name)}`
        return { path, select: `SELECT ${maskedColumns(masking, table.name, columns, shown)} FROM ${path}` }
      }
    )
  )
}

/** The columns that only earlier versions have. */
export const historyColumns: ReadonlyArray<MaskedColumn> = ["_valid_from", "_valid_to"].map((column) => ({
  name: column,
  sql: "TIMESTAMPTZ",
  personal: "none"
}))

/** Increase it when the same SQL gives other values, such as after a change of the pseudonyms. */
const layout = 1

/** Differs if the same rows are masked in another way, or with another key. */
export const stampOf = (tables: ReadonlyArray<CopiedTable>, masking: Masking): string =>
  hash(
    "sha256",
    JSON.stringify([layout, masking.profile, masking.profile === "analytics" && keyFingerprint(masking.key), tables])
  )

const attachedName = "sluice_masked"

/** Writes the copy, which is removed when the scope ends. Returns its path. */
export const writeCopy = Effect.fn("masking.writeCopy")(function* (
  folder: string,
  tables: ReadonlyArray<CopiedTable>,
  masking: Masking
) {
  const { run } = yield* Warehouse
  // A folder that the next run removes if this one is killed.
  const temporary = join(outputPaths(folder).temporary, "masked")
  const path = join(temporary, "warehouse.duckdb")
  yield* Effect.acquireRelease(
    onDisk(temporary, "written", async () => {
      await removeBelow(dirname(temporary), temporary)
      await mkdir(temporary, { recursive: true, mode: 0o700 })
    }),
    () => Effect.promise(() => removeBelow(dirname(temporary), temporary).catch(() => {}))
  )
  const state = [...maskedMetaTables(), ...copiedState(stampOf(tables, masking))]
  const copied = [...tables, ...state.map(([table, select]) => ({ path: `meta.${name(table)}`, select }))]
  const write = Effect.gen(function* () {
    if (masking.profile === "analytics") yield* definePseudonyms(masking.key)
    yield* onDisk(path, "written", () => closeToOthers(path))
    yield* run(["crm", "crm_history", "meta"].map((schema) => `CREATE SCHEMA ${attachedName}.${schema}`).join(";\n"))
    // Each statement is a transaction of its own, whose rows need not stay in memory.
    for (const { path, select } of copied) yield* run(`CREATE TABLE ${attachedName}.${path} AS ${select}`)
    yield* run(`CHECKPOINT ${attachedName}`)
  }).pipe(Effect.scoped)
  const options = `RECOVERY_MODE no_wal_writes, ${newStorage}`
  yield* storedOrder(
    bracketed(`ATTACH ${literal(path)} AS ${attachedName} (${options})`, write, `DETACH ${attachedName}`)
  )
  return path
})
