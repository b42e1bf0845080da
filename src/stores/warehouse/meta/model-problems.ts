/** `meta.model_problems`: the models of schema `bi` that could not be built for the last release. */
import * as Effect from "effect/Effect"
import { type Finding, wrong } from "../../../values/finding.ts"
import { query } from "../query.ts"
import { insertStatements, literal, numberOf } from "../sql.ts"

/** A model, `where`, that could not be built for a release. */
export interface FailedModel extends Finding<"wrong"> {
  /** The earlier release from which its table stays: the run, and when its content was current. Absent if it has none. */
  readonly kept?: { readonly run: string; readonly at: string } | undefined
}

/** Replaces the rows. `database`: of an attached file, or of the warehouse. */
export const storeModelProblems = (problems: ReadonlyArray<FailedModel>, database?: string): ReadonlyArray<string> => {
  const table = `${database === undefined ? "" : `${database}.`}meta.model_problems`
  const rows = problems.map(
    ({ where, what, kept }) => `(${[where, what, kept?.run, kept?.at].map(literal).join(", ")})`
  )
  return [`DELETE FROM ${table}`, ...insertStatements(`${table} (model, problem, kept_run_id, kept_at)`, rows)]
}

export interface StoredProblem extends Finding<"wrong"> {
  /** When the table that stays was current, epoch milliseconds; `undefined` if the release has none. */
  readonly keptAt: number | undefined
}

export const modelProblems = Effect.fnUntraced(function* () {
  const rows = yield* query(
    { model: String, problem: String, keptAt: numberOf },
    "SELECT model, problem, epoch_ms(kept_at) AS keptAt FROM meta.model_problems ORDER BY model"
  )
  return rows.map(({ model, problem, keptAt }) => ({ ...wrong(model, problem), keptAt }))
})
