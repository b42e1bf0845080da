/** `meta.unknown_states`: what the figures of the last release leave out, because the models do not know its state. */
import * as Effect from "effect/Effect"
import { query, hasTable } from "../query.ts"

export interface UnknownStates {
  readonly fact: string
  readonly records: number
  /** What the records are worth in each currency, such as `USD 300`; empty if they have no amount. */
  readonly worth: string
}

/** The model that has them. */
export const unknownStatesModel = "mart_unknown_state"

/**
 * Numbers and codes alone: a state is whatever was sent, and must not outlive its record. `database`: the file with the models.
 */
export const storeUnknownStates = (database: string): string =>
  `CREATE OR REPLACE TABLE meta.unknown_states AS
   SELECT fact, CASE WHEN regexp_full_match(currency, '[A-Z]{3}') THEN currency END AS currency, sum(records)::BIGINT AS records, sum(amount)::DECIMAL(38, 7) AS amount
   FROM ${database}.bi.${unknownStatesModel} WHERE state IS NOT NULL GROUP BY ALL`

/** Of each fact, records that have a state. None in a file of an earlier version. */
export const unknownStates = Effect.fnUntraced(function* () {
  if (!(yield* hasTable("meta.unknown_states"))) return []
  const rows = yield* query(
    { fact: String, records: Number, worth: String },
    `SELECT fact, sum(records)::BIGINT AS records,
       coalesce(string_agg(concat_ws(' ', currency, round(amount, 2)::DECIMAL(38, 2)), ' and ' ORDER BY currency) FILTER (amount <> 0), '') AS worth
     FROM meta.unknown_states GROUP BY fact ORDER BY fact`
  )
  return rows satisfies ReadonlyArray<UnknownStates>
})
