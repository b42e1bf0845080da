/**
 * `meta.targets`: what each place that gets the tables has, the published files among them. Before a run brings them up to date, each
 * counts as not delivered, so a run that is killed leaves nothing that looks like a success.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { hasTable, query } from "../query.ts"
import { instantOf, literal, numberOf, stringOf } from "../sql.ts"
import { Warehouse } from "../warehouse.ts"

export interface TargetState {
  /** Of the target in the settings; `published` is the files of the output folder. */
  readonly name: string
  /** The run whose tables it shows; absent if it never got any. */
  readonly run: string | undefined
  /** When it last got them, or was found to have them; epoch milliseconds. */
  readonly deliveredAt: number | undefined
  /** Since when it does not get what is new; absent if it is up to date. */
  readonly failedSince: number | undefined
  readonly problem: string | undefined
  /** Files that it was given and that are gone or cut; absent where nobody looked, and where all are there. */
  readonly missing?: ReadonlyArray<string>
}

/** The published files, among the targets. */
export const ownRelease = "published"

const table = "meta.targets"

/** None in a file of an earlier version, and in a release. */
export const targetStates = Effect.fnUntraced(function* () {
  if (!(yield* hasTable("meta.targets"))) return []
  const rows = yield* query(
    { name: String, run: stringOf, deliveredAt: numberOf, failedSince: numberOf, problem: stringOf },
    `SELECT target AS name, release_run_id AS run, epoch_ms(delivered_at) AS deliveredAt, epoch_ms(failed_since) AS failedSince, problem
     FROM ${table} ORDER BY target`
  )
  return rows satisfies ReadonlyArray<TargetState>
})

/** What has the tables of the run already stays as it is, and the file of the warehouse with it. */
const hasRun = (run: string) => `(release_run_id IS NOT DISTINCT FROM ${literal(run)} AND failed_since IS NULL)`

/** Notes that all of these are to be brought up to date, before that begins. Others are no targets any more. */
export const beginDeliveries = Effect.fnUntraced(function* (names: ReadonlyArray<string>, run: string) {
  const now = instantOf(yield* Clock.currentTimeMillis)
  const wanted = `(SELECT unnest(${names.length === 0 ? "[]::VARCHAR[]" : `[${names.map(literal).join(", ")}]`}) AS target)`
  const differing = `(FROM ${table} FULL JOIN ${wanted} AS wanted USING (target) WHERE wanted.target IS NULL OR NOT ${hasRun(run)})`
  yield* (yield* Warehouse).transaction((tx) =>
    Effect.gen(function* () {
      if (!(yield* tx.isAny(differing))) return
      tx.run(
        `DELETE FROM ${table} WHERE target NOT IN (FROM ${wanted})`,
        `INSERT INTO ${table} (target) FROM ${wanted} AS wanted WHERE target NOT IN (SELECT target FROM ${table})`,
        `UPDATE ${table} SET failed_since = coalesce(failed_since, ${now}), problem = ${literal(notReached)} WHERE NOT ${hasRun(run)}`
      )
    })
  )
})

const notReached = "the run ended before it was brought up to date"

/** The target has what the tables have as of this run. */
export const endDelivery = Effect.fnUntraced(function* (name: string, run: string) {
  const now = instantOf(yield* Clock.currentTimeMillis)
  const isOpen = `target = ${literal(name)} AND NOT ${hasRun(run)}`
  yield* (yield* Warehouse).transaction((tx) =>
    Effect.gen(function* () {
      if (yield* tx.isAny(`(FROM ${table} WHERE ${isOpen})`))
        tx.run(
          `UPDATE ${table} SET release_run_id = ${literal(run)}, delivered_at = ${now}, failed_since = NULL, problem = NULL
           WHERE ${isOpen}`
        )
    })
  )
})

export const failDelivery = Effect.fnUntraced(function* (name: string, problem: string) {
  const now = instantOf(yield* Clock.currentTimeMillis)
  yield* (yield* Warehouse).transaction([
    `UPDATE ${table} SET failed_since = coalesce(failed_since, ${now}), problem = ${literal(problem)}
     WHERE target = ${literal(name)}`
  ])
})
