/**
 * Brings the lake up to date with the warehouse, in one transaction: a snapshot with all changes of a run, or nothing. If a
 * run ends between the warehouse and the lake, the next commit has the changes of both: the lake itself says which content
 * it has.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Catalogue } from "../../catalog/discover.ts"
import { type PublishedTable, publishedTables } from "../../catalog/published-tables.ts"
import {
  type ContentVersion,
  changedRows,
  contentVersions,
  isChanged
} from "../../stores/warehouse/meta/content-versions.ts"
import * as Result from "effect/Result"
import { existsSync } from "node:fs"
import type { Receiver } from "../contract.ts"
import type { Found, Permitted } from "../guarded.ts"
import type { LakeDestination } from "./settings.ts"
import { tableSizes } from "../../stores/warehouse/columns.ts"
import { rowsOfEach } from "../../stores/warehouse/groups.ts"
import { loadedLocations } from "../../stores/warehouse/meta/run-resources.ts"
import { instantOf, literal, name } from "../../stores/warehouse/sql.ts"
import { openLake } from "./lake.ts"
import {
  type CommittedTable,
  type RowCounts,
  allTables,
  commitColumns,
  hasCommits,
  metadata,
  newestCommits,
  ofLocations,
  removalMessage,
  schemas,
  tableStatements
} from "./tables.ts"

/**
 * Our newest snapshot is in the history of the current one, and nobody else has changed a table since. Costs what the list of
 * snapshots costs, however many rows there are.
 */
export const look = Effect.fn("lake.look")(function* ({ destination: settings }: Receiver<LakeDestination>) {
  const locations = yield* loadedLocations()
  const access = settings.access()
  const catalog = Result.isSuccess(access) ? access.success.catalog : undefined
  if (locations.length === 0 || (catalog?.kind === "file" && !existsSync(catalog.path))) return undefined
  return yield* Effect.gen(function* () {
    const lake = yield* openLake(settings, "write")
    const { lake: existing } = yield* allTables(lake)
    if (!hasCommits(existing)) return undefined
    const isOurs = `author IS NOT NULL AND list_has_any(string_split(author, ', '), [${locations.map(literal).join(", ")}])`
    const [own] = yield* lake.rows(
      `SELECT max(snapshot_id) AS id, arg_max(commit_message, snapshot_id) AS run, arg_max(commit_extra_info, snapshot_id) AS owner
       FROM lake.snapshots() WHERE ${isOurs} AND commit_message IN (SELECT run_id FROM lake.sluice.commits)`
    )
    if (own?.["id"] === null) return undefined
    const foreign = yield* lake.rows(
      `WITH others AS (
         FROM lake.snapshots() WHERE snapshot_id > ${String(own!["id"])} AND commit_message IS DISTINCT FROM ${literal(removalMessage)}
           AND (commit_message IS NULL OR commit_message NOT IN (SELECT run_id FROM lake.sluice.commits))
       ), changed AS (SELECT unnest(map_entries(changes)) AS change FROM others)
       SELECT DISTINCT t.table_name AS "table" FROM (
         SELECT unnest(change.value) AS id FROM changed WHERE change.key SIMILAR TO 'tables_(inserted_into|deleted_from|altered|dropped)|inlined_.*'
       ) JOIN ${metadata}.ducklake_table AS t ON t.table_id::VARCHAR = id JOIN ${metadata}.ducklake_schema AS s USING (schema_id)
       WHERE s.schema_name IN (${schemas.map(literal).join(", ")}) ORDER BY 1`
    )
    return {
      owner: String(own!["owner"] ?? "") || undefined,
      run: String(own!["run"]),
      missing: foreign.map((row) => String(row["table"]))
    }
  }).pipe(Effect.scoped)
})

/** One transaction brings the lake up to date. */
export const stage = (
  { destination: settings }: Receiver<LakeDestination>,
  { catalogue, found, full, owner, run }: Permitted<Found>
) => Effect.succeed(commitLake(catalogue, settings, { full, missing: new Set(found?.missing), owner, run }))

interface Committing {
  readonly run: string
  readonly owner: string
  /** Write the rows of every table anew. */
  readonly full: boolean
  /** Tables that somebody else has changed: their rows are written anew. */
  readonly missing: ReadonlySet<string>
}

/** Returns the tables that the commit changed; none: there is no new snapshot. */
const commitLake = Effect.fn("lake.commit")(function* (
  catalogue: Catalogue,
  settings: LakeDestination,
  { full, missing, owner, run }: Committing
) {
  const locations = yield* loadedLocations()
  if (locations.length === 0) return []
  // This comes before the lake is attached: DuckDB would read the sizes of all its files.
  const sizes = yield* tableSizes("current_database()")
  return yield* Effect.gen(function* () {
    const lake = yield* openLake(settings, "write")
    const { lake: existing, warehouse } = yield* allTables(lake)
    const committed = yield* newestCommits(lake, existing, locations)
    const stored = yield* contentVersions()
    const tables = publishedTables(catalogue).filter(({ definition, name }) => definition.name === name)
    const differing = tables.flatMap((table) => {
      const present = stored.get(table.resource)!
      const isLost = missing.has(table.name)
      const change = full || isLost ? "all" : changeOf(table, present, committed, locations)
      return change === "none" ? [] : [{ ...table, change, isLost, version: present.version }]
    })
    if (differing.length === 0) return []
    const counts = yield* rowCounts(differing, sizes)
    const changed = differing.map((table) => ({ ...table, rows: counts.get(table.name) ?? new Map() }))
    const names = tables.map((table) => table.name)
    yield* lake.transaction([
      ...tableStatements(existing, warehouse, names),
      ...(hasCommits(existing) ? [refuseOthers(run, locations, committed)] : []),
      ...changed.flatMap((table) => rowStatements(table, committed, locations)),
      commitStatement(changed, run, locations, yield* Clock.currentTimeMillis),
      `CALL lake.set_commit_message(${literal(locations.join(", "))}, ${literal(run)}, extra_info => ${literal(owner)})`
    ])
    return changed.map((table) => table.name)
  }).pipe(
    Effect.scoped,
    Effect.retry({
      schedule: Schedule.jittered(Schedule.exponential("200 millis")),
      times: retriesMax,
      while: ({ message }) => /Transaction conflict|already exists/.test(message)
    })
  )
})

/** Two locations may bring the same new table or column; otherwise only commits that take minutes can conflict. */
const retriesMax = 8

/** The changes since the content that the lake has of all locations of the warehouse. */
const changeOf = (
  { name: table }: PublishedTable,
  { base, version }: ContentVersion,
  committed: ReadonlyArray<CommittedTable>,
  locations: ReadonlyArray<string>
): "none" | "some" | "all" => {
  const hasVersion = (wanted: string) =>
    locations.every((location) =>
      committed.some((one) => one.table === table && one.location === location && one.version === wanted)
    )
  return hasVersion(version) ? "none" : base !== undefined && hasVersion(base) ? "some" : "all"
}

interface ChangedTable extends PublishedTable {
  readonly change: "some" | "all"
  /** Somebody else has changed it, so it may have any rows. */
  readonly isLost: boolean
  readonly version: string
  /** By location. */
  readonly rows: ReadonlyMap<string, RowCounts>
}

/** The rows of tables in the warehouse, by table and location. */
const rowCounts = Effect.fnUntraced(function* (
  tables: ReadonlyArray<PublishedTable>,
  sizes: ReadonlyMap<string, number>
) {
  // DuckDB holds no rows in memory to count them.
  const each = tables
    .flatMap(({ name: table }) => schemas.map((schema) => ({ table, schema, size: 0 })))
    .filter(({ schema, table }) => (sizes.get(`${schema}.${table}`) ?? 0) > 0)
  const found = yield* rowsOfEach(
    { location: String, n: Number },
    each,
    ({ schema, table }) => `SELECT location_id AS location, count(*) AS n FROM ${schema}.${name(table)} GROUP BY 1`
  )
  const counts = new Map<string, Map<string, RowCounts>>()
  for (const [{ schema, table }, { location, n }] of found) {
    const own = counts.get(table) ?? new Map<string, RowCounts>()
    counts.set(table, own.set(location, { ...(own.get(location) ?? { crm: 0, crm_history: 0 }), [schema]: n }))
  }
  return counts
})

/**
 * A process that was stopped for a while must not replace the rows of a later run, and what it read before it had the lock must
 * still be there.
 */
const refuseOthers = (run: string, locations: ReadonlyArray<string>, committed: ReadonlyArray<CommittedTable>) => {
  const newest = committed
    .map((one) => one.run)
    .toSorted()
    .at(-1)
  return `SELECT CASE WHEN max(run_id) > ${literal(run)} THEN error('the lake has rows of a later run, ' || max(run_id))
     WHEN max(run_id) IS DISTINCT FROM ${literal(newest)} THEN error('Transaction conflict with ' || coalesce(max(run_id), 'a removal')) END
   FROM lake.sluice.commits WHERE ${ofLocations(locations)}`
}

/** Replaces the rows of the changed records, or all rows of the locations. */
const rowStatements = (
  table: ChangedTable,
  committed: ReadonlyArray<CommittedTable>,
  locations: ReadonlyArray<string>
): ReadonlyArray<string> =>
  schemas.flatMap((schema) => {
    const path = `${schema}.${name(table.name)}`
    const isReplaced = table.change === "some" ? `AND ${isChanged(table)}` : ""
    const rows = table.change === "some" ? changedRows(`warehouse.${path}`, table) : `warehouse.${path}`
    // Most tables of the history are empty, and planning a statement takes longer than these two questions.
    const hadRows = table.isLost || committed.some((one) => one.table === table.name && one.rows[schema] > 0)
    const hasRows = [...table.rows.values()].some((rows) => rows[schema] > 0)
    return [
      ...(hadRows ? [`DELETE FROM lake.${path} WHERE ${ofLocations(locations)} ${isReplaced}`] : []),
      ...(hasRows ? [`INSERT INTO lake.${path} BY NAME FROM ${rows}`] : [])
    ]
  })

const commitStatement = (
  changed: ReadonlyArray<ChangedTable>,
  run: string,
  locations: ReadonlyArray<string>,
  now: number
): string => {
  const values = changed.flatMap((table) =>
    locations.map((location) => {
      const texts = [location, table.resource, table.name, table.version].map(literal)
      const rows = table.rows.get(location) ?? { crm: 0, crm_history: 0 }
      return `(${[...texts, rows.crm, rows.crm_history, literal(run), instantOf(now)].join(", ")})`
    })
  )
  return `INSERT INTO lake.sluice.commits (${Object.keys(commitColumns).join(", ")}) VALUES ${values.join(", ")}`
}
