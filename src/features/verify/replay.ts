/** Normalises and merges records of the vault again, and compares the result with the rows of the warehouse. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import { join } from "node:path"
import type { Resource } from "../../catalog/resource.ts"
import { keyOf, tablesOf } from "../../catalog/tables.ts"
import type { Failure } from "../../values/failure.ts"
import type { Position } from "../../stores/vault/position.ts"
import { empty } from "../../stores/warehouse/content.ts"
import { rowsOfEach } from "../../stores/warehouse/groups.ts"
import { historyLimit } from "../../stores/warehouse/meta/history-limit.ts"
import { whileAttached } from "../../stores/warehouse/query.ts"
import { readRows } from "../../values/rows.ts"
import { instantOf, literal, name, names } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type VerifyFinding, counted, wrong } from "../../values/finding.ts"
import { scratchFolder } from "../../output/scratch.ts"
import { stateFindings, stateSums } from "./replayed-state.ts"
import { tableSizes } from "../../stores/warehouse/columns.ts"
import { type Known, type KnownTable, countRows, countedRows, shownKey } from "./existing-tables.ts"

export interface ReplayOptions {
  /** Output folder. */
  readonly folder: string
  /** How far the vault is loaded. */
  readonly loaded: Position
  /** Replays every record, not a sample. */
  readonly all: boolean
  /** The rows of each table of records, by its path, if they were counted before. */
  readonly counts: ReadonlyMap<string, { readonly rows: number }> | undefined
  /**
   * Creates `replayed.duckdb` in the folder `scratch` from the vault up to `end`, with the records that `filter` accepts, and
   * looks at it while it is open.
   */
  readonly replay: <A>(
    scratch: string,
    end: Position,
    filter: ((resource: Resource, location: string, key: ReadonlyArray<unknown>) => boolean) | undefined,
    look: Effect.Effect<A, Failure, Warehouse>
  ) => Effect.Effect<A, Failure>
}

/** The number of records in a sample of all resources. */
const sampleSize = 200

export const checkReplay = Effect.fn("verify.replay")(function* (
  known: Known,
  { folder, loaded, all, counts, replay }: ReplayOptions
) {
  const parents = known.tables.filter(({ table, parent }) => table === parent)
  const rowsOfParents = yield* countParents(parents, counts)
  const sample = sampleOf(rowsOfParents, all, loaded)
  const relations = yield* relationsOf(known, sample)
  const scratch = yield* scratchFolder(folder)
  const replayed = yield* replay(scratch, loaded, all ? undefined : sample.includes, lookAt(relations, "theirs"))
  const stored = yield* lookAt(relations, "ours")
  const contentIn = (look: typeof stored, one: Relation) => look.contents.get(one) ?? empty
  const differing = relations.filter((one) => {
    const [ours, theirs] = [contentIn(stored, one), contentIn(replayed, one)]
    return ours.rows !== theirs.rows || ours.sum !== theirs.sum
  })
  // Of a replay of everything, the state has more to compare. To attach it takes a tenth of a small account's check.
  const isSame = !all && differing.length === 0 && stored.state.join() === replayed.state.join()
  const reading = Effect.gen(function* () {
    const findings: Array<VerifyFinding> = []
    for (const { columns, from, isCompared, known, key, selected, schema, ours } of differing)
      for (const what of yield* differences(
        known,
        ours,
        `(SELECT ${selected} FROM replayed.${from} AS t WHERE ${isCompared})`,
        key,
        columns
      ))
        findings.push(wrong(schema === "crm" ? known.table.name : `history of ${known.table.name}`, what))
    return [...findings, ...(yield* stateFindings(all))]
  })
  const findings = isSame ? [] : yield* whileAttached(join(scratch, "replayed.duckdb"), "replayed", reading)
  const ofParents = relations.filter(({ known: { table, parent }, schema }) => schema === "crm" && table === parent)
  const rowsIn = (some: ReadonlyArray<Relation>) => some.reduce((sum, one) => sum + contentIn(replayed, one).rows, 0)
  const rows = rowsIn(relations.filter(({ schema }) => schema === "crm"))
  const total = rowsOfParents.reduce((sum, [, count]) => sum + count, 0)
  return {
    looked: `${counted(rowsIn(ofParents), "record")} of ${total.toLocaleString("en-US")} replayed from the vault, ${counted(rows, "row")} of ${counted(known.tables.length, "table")}${all ? "" : "; --all replays all"}`,
    findings
  }
}, Effect.scoped)

/** A table as it is in both warehouses. */
type Relation = Effect.Success<ReturnType<typeof relationsOf>>[number]

const relationsOf = Effect.fnUntraced(function* ({ tables }: Known, sample: Sample) {
  const limit = yield* historyLimit()
  // What prune has removed is in the vault still.
  const isKept = limit === undefined ? "true" : `t._valid_to >= ${instantOf(limit)}`
  return tables.flatMap((known) => {
    const { table, parent } = known
    // If a list and a detail bring the same child row in one run, it has the time of the one that was loaded first. A kill
    // between them may change which one that is.
    const own = known.columns.filter(({ name: column }) => table === parent || column !== "_synced_at")
    return (["crm", "crm_history"] as const).map((schema) => {
      const versionColumns = schema === "crm" ? [] : ["_valid_from", "_valid_to"]
      const columns = [...own, ...versionColumns.map((column) => ({ name: column }))]
      const selected = names(columns.map((column) => column.name))
      const from = `${schema}.${name(table.name)}`
      const isCompared = schema === "crm" ? "true" : isKept
      const key = [...table.key, ...(versionColumns.length > 0 ? ["_valid_from"] : [])]
      const theirs = `(SELECT ${selected} FROM ${from} AS t WHERE ${isCompared})`
      const ours = `(SELECT ${selected} FROM ${from} AS t WHERE ${isCompared} AND ${sample.condition(known)})`
      return { known, schema, from, isCompared, selected, ours, theirs, columns, key }
    })
  })
})

/** What the warehouse at hand has of each table, and of the state. */
const lookAt = Effect.fnUntraced(function* (relations: ReadonlyArray<Relation>, which: "ours" | "theirs") {
  const sizes = yield* tableSizes("current_database()")
  const filled = relations.flatMap((relation) => {
    const size = sizes.get(`${relation.schema}.${relation.known.table.name}`) ?? 0
    return size === 0 ? [] : [{ relation, size }]
  })
  // Both are read by one program, so its own hash is the same for the same values, and is planned several times as fast as texts.
  const sums = yield* rowsOfEach(
    { rows: Number, sum: String },
    filled,
    ({ relation }) =>
      `SELECT count(*) AS rows, coalesce(sum(hash(${relation.selected})), 0)::VARCHAR AS sum FROM ${relation[which]}`
  )
  return { contents: new Map(sums.map(([{ relation }, content]) => [relation, content])), state: yield* stateSums }
})

const differences = Effect.fnUntraced(function* (
  { table }: KnownTable,
  ours: string,
  theirs: string,
  key: ReadonlyArray<string>,
  columns: ReadonlyArray<{ readonly name: string }>
) {
  const onlyIn = (one: string, other: string) =>
    countRows(
      `SELECT count(*) AS n, min(${shownKey(table, "a")}) AS example FROM ${one} AS a ANTI JOIN ${other} AS b USING (${names(key)})`
    )
  const found: Array<string> = []
  const missing = yield* onlyIn(theirs, ours)
  const unexpected = yield* onlyIn(ours, theirs)
  if (missing.n > 0)
    found.push(`${counted(missing.n, "row")} missing that the vault contains, for example ${missing.example}`)
  if (unexpected.n > 0)
    found.push(`${counted(unexpected.n, "row")} not contained in the vault, for example ${unexpected.example}`)
  const values = columns.filter((column) => !key.includes(column.name))
  const differs = (column: { readonly name: string }) =>
    `a.${name(column.name)} IS DISTINCT FROM b.${name(column.name)}`
  const rows = yield* (yield* Warehouse).rows(
    `SELECT count(*) AS n, min(${shownKey(table, "a")}) AS example, ${values
      .map((column) => `bool_or(${differs(column)}) AS ${name(column.name)}`)
      .join(", ")}
     FROM ${ours} AS a JOIN ${theirs} AS b ON ${key.map((column) => `a.${name(column)} = b.${name(column)}`).join(" AND ")}
     WHERE ${values.map(differs).join(" OR ")}`
  )
  for (const { n, example } of readRows(countedRows, rows)) {
    const which = values.filter((column) => rows[0]?.[column.name] === true).map((column) => column.name)
    if (n > 0)
      found.push(
        `${counted(n, "row")} different from the vault in ${which.slice(0, 5).join(", ")}${which.length > 5 ? " and other columns" : ""}, for example ${example}`
      )
  }
  return found
})

/** The rows that a check compares: a test for the key of a record, and the same test in SQL. */
interface Sample {
  readonly all: boolean
  readonly includes: (resource: Resource, location: string, key: ReadonlyArray<unknown>) => boolean
  readonly condition: (known: KnownTable) => string
}

const countParents = (parents: ReadonlyArray<KnownTable>, counts: ReplayOptions["counts"]) =>
  counts !== undefined
    ? Effect.succeed(parents.map((one) => [one, counts.get(one.current)?.rows ?? 0] as const))
    : Effect.map(
        rowsOfEach({ n: Number }, parents, ({ current }) => `SELECT count(*) AS n FROM ${current}`),
        (found) => found.map(([one, { n }]) => [one, n] as const)
      )

/** Selects the same rows for the same state of the warehouse, and others after each run: the vault offset is the seed. */
const sampleOf = (
  parents: ReadonlyArray<readonly [KnownTable, rows: number]>,
  all: boolean,
  { segment, offset }: Position
): Sample => {
  const perTable = Math.ceil(sampleSize / Math.max(1, parents.length))
  /** By resource; one without a limit is replayed as a whole. */
  const limits = new Map<string, string>()
  // Custom values may name their field by its key, so a replay of some of them needs every field.
  const isWhole = (table: string) => all || table === "custom_fields"
  for (const [{ table }, rows] of parents) {
    if (isWhole(table.name) || rows <= perTable) continue
    const share = Math.floor((perTable / rows) * 2 ** 48)
    limits.set(table.name, share.toString(16).padStart(12, "0"))
  }
  const seed = `${segment}.${offset}`
  const texts = new Map(parents.map(([{ resource }]) => [resource, textColumns(resource)]))
  return {
    all,
    includes: (resource, location, key) => {
      const [limit, of] = [limits.get(resource.table), texts.get(resource)]
      if (limit === undefined || of === undefined) return of !== undefined
      const columns = keyOf(resource)
      const own = of.map((column) => key[columns.indexOf(column)])
      return hash("md5", [seed, resource.table, location, ...own].join("/")) < limit
    },
    condition: ({ resource, table }) => {
      const limit = limits.get(resource.table)
      const key = table.parentColumn === undefined ? textColumns(resource) : [table.parentColumn]
      return limit === undefined
        ? "true"
        : `md5(concat_ws('/', ${literal(seed)}, ${literal(resource.table)}, t.location_id, ${key.map((column) => `t.${name(column)}`).join(", ")})) < ${literal(limit)}`
    }
  }
}

/** The columns of the key whose text is the same in TypeScript and SQL: not timestamps and numbers. */
const textColumns = (resource: Resource): ReadonlyArray<string> => {
  const texts = new Set(
    tablesOf(resource)[0].columns.flatMap(({ name: column, sql }) => (sql === "VARCHAR" ? [column] : []))
  )
  return keyOf(resource).filter((column) => texts.has(column))
}
