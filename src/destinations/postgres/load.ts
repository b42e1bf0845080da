/**
 * Brings a PostgreSQL database up to date with a release, in one transaction: its readers see the release before or this one.
 * Only a table that PostgreSQL refuses to change keeps what it had, and is named.
 * The rows that changed since the release that was loaded last are replaced; without that release, all rows of the output
 * folder's locations. Nothing that sluice did not create is changed or dropped.
 */
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import type { PostgresDestination } from "./settings.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type Failure, failure } from "../../values/failure.ts"
import { attempts, whyItWaits } from "./attempts.ts"
import { noteUnheld, unheldSentences } from "./held.ts"
import { existingIndexes, indexChanges, missingIndexes, permittedBy } from "./indexes.ts"
import { type ReleaseTable, modelSchema } from "./release-tables.ts"
import { loadNew } from "./new-tables.ts"
import { attachLoaded, findChanged, findChangedWide, indexedRows, insertAll } from "./rows.ts"
import { replaceChanged, takeAllKeys } from "./rows.ts"
import { deleteAll, pathOfName, removeTable } from "./removal.ts"
import { type Server, limitTableLocks, transaction } from "./server.ts"
import { type StoredState, behind, ensureSchema, shapeIn, storeState, storedState } from "./state.ts"
import { type Existing, existingTables, isNeeded, tableStatements, unlessRefused } from "./tables.ts"

export interface Loading {
  readonly target: string
  readonly schema: PostgresDestination["schema"]
  readonly tables: ReadonlyArray<ReleaseTable>
  /** Models that could not be built; what the database has of them stays. */
  readonly kept: ReadonlySet<string>
  /** Id of the output folder. */
  readonly owner: string
  readonly locations: ReadonlyArray<string>
  /** SHA-256 of the release's DuckDB file. */
  readonly content: string
  /** The same of the file that was loaded last, if it is known, and where that may be. */
  readonly loadedContent: string | undefined
  readonly loadedFile: string
  /** Tables of which only rows of the records in `sluice_records` have changed since that file. */
  readonly few: ReadonlySet<string>
  readonly run: string
  /** Tables whose rows somebody else has removed or added: they are replaced as a whole. */
  readonly missing: ReadonlySet<string>
  /** Replace all rows. */
  readonly full: boolean
  /** A file for the rows that are being copied. */
  readonly file: string
}

/** The rows of the tables of an output folder, by name, as its readers see them. A table that is not there is not named. */
export const countRows = Effect.fnUntraced(function* (
  server: Server,
  schema: string,
  state: ReadonlyArray<StoredState>,
  own: StoredState
) {
  const there = yield* existingTables(server, [schema, modelSchema(schema)])
  const others = new Set(state.flatMap((one) => (one.owner === own.owner ? [] : [one.table_name])))
  const counts = state.flatMap(({ owner, table_name: table }) => {
    const path = pathOfName(schema, table)
    const columns = there.get(path)
    // Of a table without locations that others share, nobody knows whose rows are whose.
    if (owner !== own.owner || !columns || (others.has(table) && !columns.has("location_id"))) return []
    const scope = others.has(table) ? ` WHERE location_id IN (${own.shape.split(",").map(literal).join(", ")})` : ""
    return [`SELECT ${literal(table)} AS name, count(*) AS rows FROM ${path}${scope}`]
  })
  if (counts.length === 0) return {}
  const rows = yield* server.rows<{ name: string; rows: string }>(counts.join(" UNION ALL "))
  return Object.fromEntries(rows.map((row) => [row.name, Number(row.rows)]))
})

/** Where tables are replicated, rows of one without a primary key can only be changed if they are logged as a whole. */
const identifyRows = Effect.fnUntraced(function* (server: Server, schema: string, state: ReadonlyArray<StoredState>) {
  const found = yield* server.rows<{ schema: string; table: string }>(
    `SELECT n.nspname AS schema, c.relname AS table FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY($1) AND c.relkind = 'r' AND c.relreplident = 'd'
       AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary)`,
    [[schema, modelSchema(schema)]]
  )
  const ours = new Set(state.map((one) => pathOfName(schema, one.table_name)))
  for (const path of found.map((one) => `${name(one.schema)}.${name(one.table)}`))
    if (ours.has(path)) yield* unlessRefused(server, [`ALTER TABLE ${path} REPLICA IDENTITY FULL`], /^42501$/)
})

export const loadRelease = (server: Server, loading: Loading) =>
  transaction(server, load(server, loading)).pipe(Effect.withSpan("postgres.load"))

/** Creates what a first load does, with a row, and takes it back. */
export const probe = Effect.fn("postgres.probe")(function* (server: Server, schema: string) {
  const table = `${name(schema)}.${name(`_sluice_${randomUUID()}`)}`
  yield* server.run(["BEGIN", "SET LOCAL lock_timeout = '10s'"])
  yield* ensureSchema(server, schema)
  yield* ensureModelSchema(server, schema)
  yield* server.run([`CREATE TABLE ${table} (id text)`, `INSERT INTO ${table} VALUES ('sluice')`, "ROLLBACK"])
})

const load = Effect.fnUntraced(function* (server: Server, loading: Loading) {
  const { content, full, locations, owner, run, schema, tables, target } = loading
  // One at a time, also when the schema does not exist yet.
  yield* server.rows("SELECT pg_advisory_xact_lock(hashtextextended('sluice ' || $1, 0))", [schema])
  yield* limitTableLocks(server)
  yield* ensureSchema(server, schema)
  const before = yield* stateBefore(server, loading)
  if (tables.some((one) => one.schema === "bi")) yield* ensureModelSchema(server, schema)
  const own = before.mine.get("")
  // A process that was stopped for a while must not replace the rows of a later run.
  if (!full && own !== undefined && own.run_id > run)
    return yield* refusal(
      target,
      `the schema ${schema} has the rows of a later run of this output folder, ${own.run_id}; ./sluice publish --full replaces them`
    )
  const loads: Loads = {
    ...before,
    server,
    loading,
    // A location may have been removed since.
    scope: [...new Set([...locations, ...(own?.shape.split(",") ?? [])])],
    loaded: full || own === undefined || own.version !== loading.loadedContent ? undefined : yield* attached(loading),
    changed: new Map(),
    unchanged: new Set(),
    notes: []
  }
  const unheld = yield* noteUnheld
  const attempt = attempts(server)
  /** The tables that have the rows of an earlier release, each with what to do. */
  const waiting: Array<{ readonly table: string; readonly why: string }> = []
  const plans = yield* plansOf(loads)
  yield* identifyRows(server, schema, before.state)
  const isNew = ({ found }: Plan) => found === undefined
  const made = yield* loadNew(server, plans.filter(isNew), loading.file)
  const states = plans.flatMap(({ shape, table: { name, version } }) =>
    made.has(name) ? [{ owner, table_name: name, version, shape, run_id: run }] : []
  )
  if (states.length > 0) yield* server.run([storeState(schema, ...states)])
  for (const plan of inOrder(plans.filter(({ table }) => !made.has(table.name)))) {
    const { before, found, table } = plan
    const refused = yield* attempt(table.path, loadTable(loads, plan))
    if (refused === undefined) continue
    const why = yield* whyItWaits(server, table, found, refused)
    waiting.push({ table: table.path, why })
    const left = before ?? { owner, table_name: table.name, shape: "", run_id: run }
    yield* server.run([storeState(schema, { ...left, version: behind })])
  }
  for (const former of formerTables(loads)) {
    const path = pathOfName(schema, former.table_name)
    const removal = removeTable(server, loading, former, loads.existing, loads.others, loads.scope)
    const refused = yield* attempt(path, removal)
    if (refused) waiting.push({ table: path, why: refused.detail })
  }
  const after = { owner, table_name: "", version: content, shape: locations.join(","), run_id: run }
  yield* server.run([storeState(schema, after)])
  const left = yield* storedState(server, schema)
  yield* identifyRows(server, schema, left)
  return {
    rows: yield* countRows(server, schema, left, after),
    changed: plans.map(({ table }) => table.name),
    notes: [...loads.notes, ...[...unheld.keys()].flatMap((table) => unheldSentences(unheld, table))],
    waiting
  }
})

const attached = ({ loadedFile }: Loading) => Effect.orElseSucceed(attachLoaded(loadedFile), () => undefined)

/** What the database has before a release is loaded. */
const stateBefore = Effect.fnUntraced(function* (server: Server, loading: Loading) {
  const { missing, owner, schema } = loading
  const stored = yield* storedState(server, schema)
  const isLost = (one: StoredState) => one.owner === owner && missing.has(one.table_name)
  const state = stored.map((one) => (isLost(one) ? { ...one, version: behind } : one))
  const others = yield* otherOwners(server, loading, state)
  const schemas = [schema, modelSchema(schema)]
  return {
    state,
    /** Of this output folder, by table. */
    mine: new Map(state.filter((one) => one.owner === owner).map((one) => [one.table_name, one])),
    others,
    existing: yield* existingTables(server, schemas),
    indexes: yield* existingIndexes(server, schemas)
  }
})

/** A load with what it has found, and what it has done so far. */
interface Loads extends Effect.Success<ReturnType<typeof stateBefore>> {
  readonly server: Server
  readonly loading: Loading
  /** The locations whose rows are replaced. */
  readonly scope: ReadonlyArray<string>
  /** Of the release that was loaded last, if it is known, so that only changed rows are replaced. */
  readonly loaded: Effect.Success<ReturnType<typeof attached>>
  /** Tables of which changed rows were replaced. */
  readonly changed: Map<string, ReleaseTable>
  readonly unchanged: Set<string>
  readonly notes: Array<string>
}

/** The tables that differ, and how each is changed. */
const plansOf = Effect.fnUntraced(function* ({ existing, loading, mine, others, state, unchanged }: Loads) {
  const { full, tables, target } = loading
  const plans: Array<Plan> = []
  for (const table of tables) {
    const shape = shapeOf(table)
    const before = mine.get(table.name)
    const found = existing.get(table.path)
    if (!full && found && before?.version === table.version && before.shape === shape) {
      unchanged.add(table.name)
      continue
    }
    // A table that could not be created has no shape.
    if (found && !state.some((one) => one.table_name === table.name && one.shape !== ""))
      return yield* refusal(target, `${table.path} exists already, and sluice did not create it`)
    const isAlone = !others.some((one) => one.table_name === table.name)
    const isShared = found !== undefined && !isAlone && !found.has("location_id")
    if (isShared && table.key.length === 0)
      return yield* refusal(
        target,
        `${table.path} has neither locations nor a key, so two output folders cannot share it; name another schema`
      )
    const own = before === undefined ? [] : shapeIn(before.shape).columns.map(([column]) => column)
    const statements = tableStatements(table, { existing: found, own, isAlone })
    plans.push({ table, shape, before, found, isAlone, isShared, statements })
  }
  return plans
})

/** Changes a table to its shape in the release, and replaces the rows that differ, or all. */
const loadTable = Effect.fnUntraced(function* (
  loads: Loads,
  { before, found, isAlone, isShared, shape, statements, table }: Plan
) {
  const { changed, indexes, loading, notes, scope, server } = loads
  const { file, owner, run, schema } = loading
  const { alterations, comments, isRetyped, narrowings } = statements
  yield* server.run(alterations)
  for (const statement of narrowings) yield* unlessRefused(server, [statement], isNeeded)
  if (!found || before?.shape !== shape) yield* server.run(comments)
  // Other columns of a wide table show other values of records that have not changed.
  const isRedefined = table.wide !== undefined && !hasSameColumns(before?.shape, shape)
  const present = indexes.get(table.path) ?? []
  const canReplace =
    found !== undefined &&
    before !== undefined &&
    before.version !== behind &&
    !isRetyped &&
    !isRedefined &&
    present.some(({ isPrimary }) => isPrimary)
  const different = canReplace ? yield* changedRows(loads, table) : undefined
  const some = different === undefined ? undefined : yield* permittedBy(table, indexedRows(table, "changed"))
  const replaced = some?.isKeyed ? different : undefined
  const permitted = replaced === undefined ? yield* permittedBy(table, indexedRows(table, "all")) : some!
  const isWhole = replaced === undefined && (isAlone || !found)
  const changes = indexChanges(table, permitted, { existing: present, isNew: !found, isWhole })
  yield* server.run(changes.before)
  if (replaced !== undefined) {
    if (replaced > 0) yield* replaceChanged(server, table, file)
  } else if (isShared) {
    yield* takeAllKeys(table)
    yield* replaceChanged(server, table, file)
  } else {
    if (found) yield* deleteAll(server, table, found, scope, isAlone)
    yield* insertAll(server, table, { file })
  }
  yield* server.run(changes.after)
  yield* unlessRefused(server, changes.ifPossible, /^54000$/)
  if (replaced === undefined || replaced > rowsToAnalyze) yield* server.run([`ANALYZE ${table.path}`])
  yield* server.run([storeState(schema, { owner, table_name: table.name, version: table.version, shape, run_id: run })])
  notes.push(...missingIndexes(table, permitted))
  if (replaced !== undefined) changed.set(table.name, table)
})

/** Tables of this output folder that the release does not have any more. */
const formerTables = ({ loading: { kept, tables }, mine }: Loads): ReadonlyArray<StoredState> => {
  const names = new Set(["", ...tables.map((table) => table.name), ...kept])
  return [...mine.values()].filter((one) => !names.has(one.table_name))
}

/** The statistics of the planner stay good enough with fewer changes. */
const rowsToAnalyze = 1000

/** A table that is to be changed. */
interface Plan {
  readonly table: ReleaseTable
  readonly shape: string
  readonly before: StoredState | undefined
  readonly found: Existing | undefined
  readonly isAlone: boolean
  /** Other output folders write into it too, and its rows have no locations. */
  readonly isShared: boolean
  readonly statements: ReturnType<typeof tableStatements>
}

/**
 * A wide view after the tables from which it is made. Tables that get other columns come last, because until the end of the
 * transaction nobody else can read them.
 */
const inOrder = (plans: ReadonlyArray<Plan>): ReadonlyArray<Plan> => {
  const place = ({ found, statements, table }: Plan) =>
    (found && statements.alterations.length + statements.narrowings.length > 0 ? 2 : 0) + (table.wide ? 1 : 0)
  return plans.toSorted((one, other) => place(one) - place(other))
}

const shapeOf = ({ columns, comment, key }: ReleaseTable): string =>
  JSON.stringify([key, comment, columns.map((column) => [column.as, column.sql, column.comment])])

const hasSameColumns = (before = "", shape: string): boolean =>
  JSON.stringify(shapeIn(before).columns) === JSON.stringify(shapeIn(shape).columns)

const refusal = (target: string, detail: string): Effect.Effect<never, Failure> =>
  Effect.fail(failure({ _tag: "DestinationFailed", target, detail }))

/** How many rows are to be replaced; `undefined`: all of them. */
const changedRows = (
  { changed, loaded, loading, unchanged }: Loads,
  table: ReleaseTable
): Effect.Effect<number | undefined, Failure, Warehouse> => {
  const { wide } = table
  if (loaded === undefined || table.key.length === 0) return Effect.succeed(undefined)
  if (wide === undefined) return findChanged(table, loaded, loading.few.has(table.name))
  // A table that was replaced as a whole is neither.
  const areKnown = [wide.table, wide.values].every((one) => changed.has(one) || unchanged.has(one))
  return areKnown
    ? findChangedWide(table, wide, { records: changed.get(wide.table), values: changed.get(wide.values) })
    : Effect.succeed(undefined)
}

/** The state of other output folders that write into the same schema. No location may come from two of them. */
const otherOwners = Effect.fnUntraced(function* (
  server: Server,
  { full, locations, owner, schema, target }: Loading,
  state: ReadonlyArray<StoredState>
) {
  const others = state.filter((one) => one.owner !== owner)
  const taken = others.filter(
    (one) => one.table_name === "" && one.shape.split(",").some((location) => locations.includes(location))
  )
  for (const { owner: other, shape } of taken) {
    const shared = shape.split(",").filter((location) => locations.includes(location))
    const isReplaced = full && shared.length === shape.split(",").length
    if (!isReplaced)
      return yield* refusal(
        target,
        `the schema ${schema} has rows of ${shared.join(", ")} from another output folder (${other}). To replace them by those of this folder, run ./sluice publish --full; otherwise, name another schema`
      )
    yield* server.run([`DELETE FROM ${name(schema)}."_sluice" WHERE owner = ${literal(other)}`])
  }
  const left = taken.map((one) => one.owner)
  return others.filter((one) => !left.includes(one.owner))
})

const ensureModelSchema = Effect.fnUntraced(function* (server: Server, schema: string) {
  const models = modelSchema(schema)
  const [found] = yield* server.rows<{ there: boolean }>(
    "SELECT to_regnamespace(quote_ident($1)) IS NOT NULL AS there",
    [models]
  )
  if (!found?.there) yield* server.run([`CREATE SCHEMA ${name(models)}`])
})
