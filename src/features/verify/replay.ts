/** Normalises and merges records of the vault again, and compares the result with the rows of the warehouse. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import { join } from "node:path"
import { kinds } from "../../catalog/kinds.ts"
import type { Resource } from "../../catalog/resource.ts"
import { keyOf, tablesOf } from "../../catalog/tables.ts"
import type { Failure } from "../../values/failure.ts"
import type { Position } from "../../stores/vault/position.ts"
import { empty } from "../../stores/warehouse/content.ts"
import { rowsOfEach } from "../../stores/warehouse/groups.ts"
import { historyLimit } from "../../stores/warehouse/meta/history-limit.ts"
import { queryNumber, whileAttached } from "../../stores/warehouse/query.ts"
import { readRows } from "../../values/rows.ts"
import { instantOf, literal, name, names } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type VerifyFinding, counted, wrong } from "../../values/finding.ts"
import { scratchFolder } from "../../output/scratch.ts"
import { stateFindings } from "./replayed-state.ts"
import { tableSizes } from "../../stores/warehouse/columns.ts"
import { type Known, type KnownTable, countRows, countedRows, shownKey } from "./existing-tables.ts"

export interface ReplayOptions {
  /** Output folder. */
  readonly folder: string
  /** How far the vault is loaded. */
  readonly loaded: Position
  /** Replays every record, not a sample. */
  readonly all: boolean
  /** Creates `replayed.duckdb` in the folder `scratch` from the vault up to `end`, with the records that `filter` accepts. */
  readonly replay: (
    scratch: string,
    end: Position,
    filter: ((resource: Resource, location: string, key: ReadonlyArray<unknown>) => boolean) | undefined
  ) => Effect.Effect<void, Failure>
}

/** The number of records in a sample of all resources. */
const sampleSize = 200

export const checkReplay = Effect.fn("verify.replay")(function* (
  known: Known,
  { folder, loaded, all, replay }: ReplayOptions
) {
  const sample = yield* sampleOf(known, all, loaded)
  const scratch = yield* scratchFolder(folder)
  yield* replay(scratch, loaded, all ? undefined : sample.includes)
  const found = Effect.gen(function* () {
    const tables = yield* compared(known, sample)
    return { ...tables, findings: [...tables.findings, ...(yield* stateFindings(all))] }
  })
  return yield* whileAttached(join(scratch, "replayed.duckdb"), "replayed", found)
}, Effect.scoped)

const compared = Effect.fnUntraced(function* ({ tables }: Known, sample: Sample) {
  const sizes = yield* tableSizes("'replayed'")
  const limit = yield* historyLimit()
  // What prune has removed is in the vault still.
  const isKept = limit === undefined ? "true" : `t._valid_to >= ${instantOf(limit)}`
  const relations = tables.flatMap((known) => {
    const { table, parent } = known
    // If a list and a detail bring the same child row in one run, it has the time of the one that was loaded first. A kill
    // between them may change which one that is.
    const columns = known.columns.filter(({ name: column }) => table === parent || column !== "_synced_at")
    return (["crm", "crm_history"] as const).map((schema) => {
      const versionColumns = schema === "crm" ? [] : ["_valid_from", "_valid_to"]
      const selected = names([...columns.map((column) => column.name), ...versionColumns])
      const from = `${schema}.${name(table.name)}`
      const isCompared = schema === "crm" ? "true" : isKept
      const ours = `(SELECT ${selected} FROM ${from} AS t WHERE ${isCompared} AND ${sample.condition(known)})`
      const theirs = `(SELECT ${selected} FROM replayed.${from} AS t WHERE ${isCompared})`
      const types = [
        ...columns.map(({ name: column, sql }) => ({ name: column, type: sql })),
        ...versionColumns.map((column) => ({ name: column, type: kinds.instant.sql }))
      ]
      const isEmpty = schema === "crm" ? known.isEmpty : !known.hasVersions
      const key = [...table.key, ...(versionColumns.length > 0 ? ["_valid_from"] : [])]
      const size = sizes.get(`${schema}.${table.name}`) ?? 0
      const copies = [...(isEmpty ? [] : [ours]), ...(size === 0 ? [] : [theirs])]
      return { known, schema, ours, theirs, types, key, copies: copies.map((from) => ({ from, selected, size })) }
    })
  })
  const copies = relations.flatMap((relation) => relation.copies)
  // Both are read by one program, so its own hash is the same for the same values, and is planned several times as fast as texts.
  const sums = yield* rowsOfEach(
    { rows: Number, sum: String },
    copies,
    ({ from, selected }) => `SELECT count(*) AS rows, coalesce(sum(hash(${selected})), 0)::VARCHAR AS sum FROM ${from}`
  )
  const contents = new Map(sums.map(([{ from }, content]) => [from, content]))
  const findings: Array<VerifyFinding> = []
  let [records, rows] = [0, 0]
  for (const { key, known, ours, schema, theirs, types } of relations) {
    const { table, parent } = known
    const [stored = empty, replayed = empty] = [contents.get(ours), contents.get(theirs)]
    if (schema === "crm" && table === parent) records += replayed.rows
    if (schema === "crm") rows += replayed.rows
    if (stored.rows === replayed.rows && stored.sum === replayed.sum) continue
    for (const what of yield* differences(known, ours, theirs, key, types))
      findings.push(wrong(schema === "crm" ? table.name : `history of ${table.name}`, what))
  }
  const total = yield* queryNumber(
    `SELECT ${["0", ...tables.filter(({ table, parent }) => table === parent).map(({ current }) => `(SELECT count(*) FROM ${current})`)].join(" + ")}`
  )
  return {
    looked: `${counted(records, "record")} of ${total.toLocaleString("en-US")} replayed from the vault, ${counted(rows, "row")} of ${counted(tables.length, "table")}${sample.all ? "" : "; --all replays all"}`,
    findings
  }
})

const differences = Effect.fnUntraced(function* (
  { table }: KnownTable,
  ours: string,
  theirs: string,
  key: ReadonlyArray<string>,
  columns: ReadonlyArray<{ readonly name: string }>
) {
  const warehouse = yield* Warehouse
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
  const rows = yield* warehouse.rows(
    `SELECT count(*) AS n, min(${shownKey(table, "a")}) AS example, ${values
      .map((column) => `bool_or(${differs(column)}) AS ${name(column.name)}`)
      .join(", ")}
     FROM ${ours} AS a JOIN ${theirs} AS b ON ${key.map((column) => `a.${name(column)} = b.${name(column)}`).join(" AND ")}
     WHERE ${values.map(differs).join(" OR ")}`
  )
  const [changed] = readRows(countedRows, rows)
  if (changed!.n > 0) {
    const which = values.filter((column) => rows[0]![column.name] === true).map((column) => column.name)
    found.push(
      `${counted(changed!.n, "row")} different from the vault in ${which.slice(0, 5).join(", ")}${which.length > 5 ? " and other columns" : ""}, for example ${changed!.example}`
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

/** Selects the same rows for the same state of the warehouse, and others after each run: the vault offset is the seed. */
const sampleOf = Effect.fnUntraced(function* ({ tables }: Known, all: boolean, { segment, offset }: Position) {
  const parents = tables.filter(({ table, parent }) => table === parent)
  const perTable = Math.ceil(sampleSize / Math.max(1, parents.length))
  const limits = new Map<string, string>()
  // Custom values may name their field by its key, so a replay of some of them needs every field.
  const isWhole = (table: string) => table === "custom_fields"
  const counts = yield* rowsOfEach(
    { n: Number },
    all ? [] : parents,
    ({ current }) => `SELECT count(*) AS n FROM ${current}`
  )
  for (const [{ table }, { n }] of counts) {
    const share = isWhole(table.name) ? 1 : perTable / Math.max(perTable, n)
    // A limit above every digest includes all rows.
    limits.set(
      table.name,
      share === 1
        ? "g"
        : Math.floor(share * 2 ** 48)
            .toString(16)
            .padStart(12, "0")
    )
  }
  const seed = `${segment}.${offset}`
  const texts = new Map(parents.map(({ resource }) => [resource, textColumns(resource)]))
  return {
    all,
    includes: (resource, location, key) => {
      const columns = keyOf(resource)
      const own = texts.get(resource)?.map((column) => key[columns.indexOf(column)]) ?? []
      return hash("md5", [seed, resource.table, location, ...own].join("/")) < (limits.get(resource.table) ?? "")
    },
    condition: ({ resource, table }) => {
      const key = table.parentColumn === undefined ? textColumns(resource) : [table.parentColumn]
      return all
        ? "true"
        : `md5(concat_ws('/', ${literal(seed)}, ${literal(resource.table)}, t.location_id, ${key.map((column) => `t.${name(column)}`).join(", ")})) < ${literal(limits.get(resource.table))}`
    }
  } satisfies Sample
})

/** The columns of the key whose text is the same in TypeScript and SQL: not timestamps and numbers. */
const textColumns = (resource: Resource): ReadonlyArray<string> => {
  const texts = new Set(
    tablesOf(resource)[0].columns.flatMap(({ name: column, sql }) => (sql === "VARCHAR" ? [column] : []))
  )
  return keyOf(resource).filter((column) => texts.has(column))
}
