/** Rows against the records of the vault they were made from: normalised and merged once more, and compared. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { Resource } from "../catalog/resource.ts"
import { keyOf, tablesOf } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import { verifyPrefix } from "../settings/paths.ts"
import type { Position } from "../vault/position.ts"
import { contentOf } from "../warehouse/content.ts"
import { literal, name, names } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Checked, type Finding, counted, wrong } from "./finding.ts"
import { type Known, type KnownTable, shownKey } from "./existing-tables.ts"

export interface ReplayOptions {
  /** Output folder. */
  readonly folder: string
  /** How far the vault is loaded. */
  readonly loaded: Position
  /** Every record, not a sample. */
  readonly all: boolean
  /** Makes `replayed.duckdb` in a folder from the vault up to a place, of the records that are kept. */
  readonly replay: (
    scratch: string,
    end: Position,
    filter: ((resource: Resource, location: string, key: ReadonlyArray<unknown>) => boolean) | undefined
  ) => Effect.Effect<void, Failure>
}

/** Records of a sample, spread over the resources. */
const sampleSize = 200

export const checkReplay = Effect.fn("verify.replay")(function* (
  known: Known,
  { folder, loaded, all, replay }: ReplayOptions
): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const sample = yield* sampleOf(known, all, loaded)
  const scratch = join(folder, `${verifyPrefix}${process.pid}`)
  return yield* Effect.acquireUseRelease(
    onDisk(scratch, "created", () => mkdir(scratch, { recursive: true, mode: 0o700 })),
    () =>
      Effect.gen(function* () {
        yield* replay(scratch, loaded, all ? undefined : sample.takes)
        yield* warehouse.run(`ATTACH ${literal(join(scratch, "replayed.duckdb"))} AS replayed (READ_ONLY)`)
        return yield* Effect.ensuring(compared(known, sample), Effect.ignore(warehouse.run("DETACH replayed")))
      }),
    () => Effect.ignore(onDisk(scratch, "removed", () => rm(scratch, { recursive: true, force: true })))
  )
})

const compared = Effect.fnUntraced(function* ({ tables }: Known, sample: Sample) {
  const warehouse = yield* Warehouse
  const findings: Array<Finding> = []
  let [records, rows] = [0, 0]
  for (const known of tables) {
    const { table, parent } = known
    // A child row that a list and a detail brought in one run has the moment of the one that was loaded first, which a kill
    // in between may change.
    const columns = known.columns.filter(({ name: column }) => table === parent || column !== "_synced_at")
    for (const schema of ["crm", "crm_history"] as const) {
      const further = schema === "crm" ? [] : ["_valid_from", "_valid_to"]
      const selected = names([...columns.map((column) => column.name), ...further])
      const from = `${schema}.${name(table.name)}`
      const ours = `(SELECT ${selected} FROM ${from} AS t WHERE ${sample.condition(known)})`
      const theirs = `(SELECT ${selected} FROM replayed.${from} AS t)`
      const types = [
        ...columns.map(({ name: column, sql }) => ({ name: column, type: typeNames[sql] ?? sql })),
        ...further.map((column) => ({ name: column, type: typeNames["TIMESTAMPTZ"]! }))
      ]
      const [here, there] = [yield* contentOf(ours, types), yield* contentOf(theirs, types)]
      if (schema === "crm" && table === parent) records += there.rows
      if (schema === "crm") rows += there.rows
      if (here.rows === there.rows && here.sum === there.sum) continue
      const key = [...table.key, ...(further.length > 0 ? ["_valid_from"] : [])]
      for (const what of yield* differences(known, ours, theirs, key, types))
        findings.push(wrong(schema === "crm" ? table.name : `history of ${table.name}`, what))
    }
  }
  const [of] = yield* warehouse.rows(
    `SELECT ${["0", ...tables.filter(({ table, parent }) => table === parent).map(({ current }) => `(SELECT count(*) FROM ${current})`)].join(" + ")} AS n`
  )
  return {
    part: "warehouse",
    check: "replay",
    looked: `${counted(records, "record")} of ${Number(of?.["n"]).toLocaleString("en-US")} replayed from the vault, ${counted(rows, "row")} of ${counted(tables.length, "table")}${sample.all ? "" : "; --all replays every one"}`,
    findings
  } satisfies Checked
})

const differences = Effect.fnUntraced(function* (
  { table }: KnownTable,
  ours: string,
  theirs: string,
  key: ReadonlyArray<string>,
  columns: ReadonlyArray<{ readonly name: string }>
) {
  const warehouse = yield* Warehouse
  const ask = (sql: string) => Effect.map(warehouse.rows(sql), ([row]) => row)
  const alone = (one: string, other: string) =>
    ask(
      `SELECT count(*) AS n, min(${shownKey(table, "a")}) AS example FROM ${one} AS a ANTI JOIN ${other} AS b USING (${names(key)})`
    )
  const found: Array<string> = []
  const missing = yield* alone(theirs, ours)
  const further = yield* alone(ours, theirs)
  if (Number(missing?.["n"]) > 0)
    found.push(`${counted(Number(missing?.["n"]), "row")} of the vault missing, for example ${missing?.["example"]}`)
  if (Number(further?.["n"]) > 0)
    found.push(
      `${counted(Number(further?.["n"]), "row")} that the vault does not give, for example ${further?.["example"]}`
    )
  const values = columns.filter((column) => !key.includes(column.name))
  const differs = (column: { readonly name: string }) =>
    `a.${name(column.name)} IS DISTINCT FROM b.${name(column.name)}`
  const row = yield* ask(
    `SELECT count(*) AS n, min(${shownKey(table, "a")}) AS example, ${values
      .map((column) => `bool_or(${differs(column)}) AS ${name(column.name)}`)
      .join(", ")}
     FROM ${ours} AS a JOIN ${theirs} AS b ON ${key.map((column) => `a.${name(column)} = b.${name(column)}`).join(" AND ")}
     WHERE ${values.map(differs).join(" OR ")}`
  )
  if (Number(row?.["n"]) > 0) {
    const which = values.filter((column) => row?.[column.name] === true).map((column) => column.name)
    found.push(
      `${counted(Number(row?.["n"]), "row")} otherwise than the vault gives in ${which.slice(0, 5).join(", ")}${which.length > 5 ? " and other columns" : ""}, for example ${row?.["example"]}`
    )
  }
  return found
})

/** As DESCRIBE names them. */
const typeNames: Readonly<Record<string, string>> = { TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE" }

/** Which rows a check takes: told of a record by its key alone, and of a row in SQL. */
interface Sample {
  readonly all: boolean
  readonly takes: (resource: Resource, location: string, key: ReadonlyArray<unknown>) => boolean
  readonly condition: (known: KnownTable) => string
}

/** The same rows for the same state of the warehouse, and others after each run: the place in the vault is the seed. */
const sampleOf = Effect.fnUntraced(function* ({ tables }: Known, all: boolean, { segment, offset }: Position) {
  const warehouse = yield* Warehouse
  const parents = tables.filter(({ table, parent }) => table === parent)
  const childOf = Math.ceil(sampleSize / Math.max(1, parents.length))
  const limits = new Map<string, string>()
  for (const { table, current } of all ? [] : parents) {
    const [row] = yield* warehouse.rows(`SELECT count(*) AS n FROM ${current}`)
    const share = childOf / Math.max(childOf, Number(row?.["n"]))
    // Beyond every digest where all are taken.
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
    takes: (resource, location, key) => {
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

/** Of a key, those whose text is the same everywhere: the columns of time and of numbers are left out. */
const textColumns = (resource: Resource): ReadonlyArray<string> => {
  const texts = new Set(
    tablesOf(resource)[0].columns.flatMap(({ name: column, sql }) => (sql === "VARCHAR" ? [column] : []))
  )
  return keyOf(resource).filter((column) => texts.has(column))
}
