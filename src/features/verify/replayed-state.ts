/** Compares the state in the warehouse with the state that a replay of the vault gives. */
import { Effect } from "effect"
import { type VerifyFinding, counted, wrong } from "../../values/finding.ts"
import { queryTexts } from "../../stores/warehouse/query.ts"
import { countRows } from "./existing-tables.ts"

/** A table of `meta` that follows from the vault: its columns, and the row as people know it. */
interface Derived {
  readonly table: string
  readonly columns: string
  readonly shown: string
  /** It depends on every record, so a replay of some records does not have all of it. */
  readonly needsAll?: true
  /** Why the warehouse may have more rows. */
  readonly mayHaveMore?: true
}

const derived: ReadonlyArray<Derived> = [
  {
    table: "watermarks",
    columns: "location_id, resource, watermark, complete_at, full_complete_at, total",
    shown: "resource"
  },
  {
    table: "run_resources",
    columns: "run_id, location_id, resource, mode, reading::VARCHAR AS reading",
    shown: "resource"
  },
  {
    table: "rejected_values",
    columns: "location_id, table_name, key, column_name, value",
    shown: "concat_ws('/', table_name, key, column_name)",
    needsAll: true,
    // What an erasure removed from the vault, or a definition accepts by now.
    mayHaveMore: true
  },
  {
    table: "rejected_records",
    columns: "location_id, table_name, record",
    shown: "table_name",
    needsAll: true,
    mayHaveMore: true
  }
]

const rowsIn = (schema: string, { columns, table }: Derived) =>
  // A run that loaded nothing has no entry in the vault.
  `SELECT DISTINCT ${columns} FROM ${schema}.${table}${table === "run_resources" ? " WHERE reading IS NOT NULL" : ""}`

/** What the state of the warehouse at hand is, of a sample: it is equal in two of them if these are. */
export const stateSums = Effect.gen(function* () {
  const sums = derived
    .filter(({ needsAll }) => !needsAll)
    .map((one) => `SELECT count(*) || ' ' || coalesce(sum(hash(t)), 0) FROM (${rowsIn("meta", one)}) AS t`)
  return (yield* Effect.forEach(sums, queryTexts)).flat()
})

/** The replay is attached as `replayed`. `all`: it has every record of the vault. */
export const stateFindings = Effect.fn("verify.replayedState")(function* (all: boolean) {
  const findings: Array<VerifyFinding> = []
  for (const one of derived) {
    const { table, shown, needsAll, mayHaveMore } = one
    if (needsAll && !all) continue
    const [ours, theirs] = [rowsIn("meta", one), rowsIn("replayed.meta", one)]
    const other = (one: string, two: string) =>
      countRows(`SELECT count(*) AS n, min(${shown}) AS example FROM (${one} EXCEPT ${two})`)
    const say = (what: string, { example, n }: typeof missing) =>
      findings.push(wrong(`meta.${table}`, `${what}: ${counted(n, "row")}, for example ${example}`))
    const missing = yield* other(theirs, ours)
    if (missing.n > 0) say("missing or different from what the vault gives", missing)
    const more = missing.n > 0 || mayHaveMore ? { n: 0, example: "" } : yield* other(ours, theirs)
    if (more.n > 0) say("not given by the vault", more)
  }
  return findings
})
