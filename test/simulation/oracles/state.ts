/** All rows of the warehouse that the oracles look at, read with a few statements. */
import { Effect } from "effect"
import type { Warehouse } from "../../../src/stores/warehouse/warehouse.ts"

export type Row = Readonly<Record<string, unknown>>

/** A row, or an earlier version of one. */
export interface Stored {
  readonly location: string
  readonly id: string
  /** What the service sent, as one text. */
  readonly content: string
  readonly row: Row
  readonly run: string
  readonly synced: string
  readonly deleted: string | null
  /** Of an earlier version. */
  readonly from: string
  readonly to: string
}

export interface State {
  /** By table, then by location and id. */
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, Stored>>
  /** By table. */
  readonly history: ReadonlyMap<string, ReadonlyArray<Stored>>
  /** The tags of each contact, and of each earlier version of one. */
  readonly tags: ReadonlyMap<string, string>
  readonly earlierTags: ReadonlyMap<string, string>
  /** Rows of tables of `meta`, by its name. */
  readonly meta: Readonly<Record<MetaName, ReadonlyArray<Row>>>
  /** Rows with a key that another row has. */
  readonly duplicates: ReadonlyArray<string>
}

const metaNames = ["runs", "targets", "run_resources", "watermarks", "rejected_values", "rejected_records"] as const
type MetaName = (typeof metaNames)[number]

export const keyOf = ({ id, location }: Pick<Stored, "id" | "location">): string => `${location} ${id}`

export const readState = async (warehouse: Warehouse["Service"], tables: ReadonlySet<string>): Promise<State> => {
  const names = [...tables]
  const selects = [
    ...names.flatMap((table) => [selectOf("crm", table), selectOf("crm_history", table)]),
    ...(tables.has("contacts") ? [selectOf("crm", "contact_tags"), selectOf("crm_history", "contact_tags")] : []),
    ...metaNames.map((table) => selectOf("meta", table))
  ]
  const found = await Effect.runPromise(warehouse.rows(selects.join(" UNION ALL ")))
  const all = Map.groupBy(
    found.map(({ j, t }) => [String(t), JSON.parse(String(j)) as Row] as const),
    ([table]) => table
  )
  const rowsOf = (path: string) => (all.get(path) ?? []).map(([, row]) => row)
  const duplicates: Array<string> = []
  const rows = new Map(
    names.map((table) => {
      const byKey = new Map<string, Stored>()
      for (const row of rowsOf(`crm.${table}`)) {
        const stored = storedOf(row)
        if (byKey.has(keyOf(stored))) duplicates.push(`${table} ${keyOf(stored)}`)
        byKey.set(keyOf(stored), stored)
      }
      return [table, byKey]
    })
  )
  return {
    rows,
    history: new Map(names.map((table) => [table, rowsOf(`crm_history.${table}`).map(storedOf)])),
    tags: tagsOf(rowsOf("crm.contact_tags"), () => ""),
    earlierTags: tagsOf(rowsOf("crm_history.contact_tags"), (row) => ` ${String(row["_valid_from"])}`),
    meta: {
      runs: rowsOf("meta.runs"),
      targets: rowsOf("meta.targets"),
      run_resources: rowsOf("meta.run_resources"),
      watermarks: rowsOf("meta.watermarks"),
      rejected_values: rowsOf("meta.rejected_values"),
      rejected_records: rowsOf("meta.rejected_records")
    },
    duplicates
  }
}

export const lastRun = ({ runs }: State["meta"]): Row | undefined =>
  runs.toSorted((one, other) => (String(one["run_id"]) < String(other["run_id"]) ? -1 : 1)).at(-1)

const selectOf = (schema: string, table: string) =>
  `SELECT '${schema}.${table}' AS t, to_json(x)::VARCHAR AS j FROM ${schema}.${table} AS x`

const storedOf = (row: Row): Stored => {
  const sent = Object.entries(row).filter(([name]) => !name.startsWith("_") || name === "_extra")
  return {
    location: String(row["location_id"]),
    id: String(row["id"]),
    content: JSON.stringify(sent),
    row: Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asText(value)])),
    run: String(row["_run_id"]),
    synced: String(row["_synced_at"]),
    deleted: row["_deleted_at"] === null ? null : String(row["_deleted_at"]),
    from: String(row["_valid_from"]),
    to: String(row["_valid_to"])
  }
}

/** As other readers show it: a JSON column is a text. */
const asText = (value: unknown) => (typeof value === "object" && value !== null ? JSON.stringify(value) : value)

const tagsOf = (rows: ReadonlyArray<Row>, versionOf: (row: Row) => string): ReadonlyMap<string, string> =>
  new Map(
    Map.groupBy(rows, (row) => `${String(row["location_id"])} ${String(row["contact_id"])}${versionOf(row)}`)
      .entries()
      .map(([key, tags]) => [
        key,
        tags
          .map(({ tag }) => String(tag))
          .sort()
          .join("\n")
      ])
  )

/** The sum of a count of `meta.run_resources` over all runs, for the readings that add rows to a table. */
export const countOf = ({ meta }: State, table: string, count: string): number =>
  meta.run_resources
    .filter(({ resource }) => String(resource).split("/")[0] === table)
    .reduce((sum, row) => sum + Number(row[count]), 0)
