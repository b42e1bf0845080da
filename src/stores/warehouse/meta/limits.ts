/** `meta.limits`: what a limit of a program or a format leaves out, now. Whoever cuts something writes it here. */
import * as Effect from "effect/Effect"
import { query, hasTable } from "../query.ts"
import { literal, selected } from "../sql.ts"

export interface ReachedLimit {
  /** The table that lacks something. */
  readonly place: string
  /** What is limited, such as `columns of custom fields`. */
  readonly what: string
  readonly allowed: number
  readonly found: number
  readonly leftOut: ReadonlyArray<string>
  /** Where that is. */
  readonly whole: string
}

const table = "meta.limits"

/** None in a file of an earlier version. */
export const reachedLimits = Effect.fnUntraced(function* () {
  if (!(yield* hasTable("meta.limits"))) return []
  const rows = yield* query(
    {
      place: String,
      what: String,
      allowed: Number,
      found: Number,
      leftOut: selected<ReadonlyArray<string>>,
      whole: String
    },
    `SELECT place, what, allowed, found, to_json(left_out)::VARCHAR AS "leftOut", whole FROM ${table} ORDER BY place`
  )
  return rows satisfies ReadonlyArray<ReachedLimit>
})

/** Replaces all rows. */
export const storeLimits = (limits: ReadonlyArray<ReachedLimit>): ReadonlyArray<string> => [
  `DELETE FROM ${table}`,
  ...limits.map(
    ({ allowed, found, leftOut, place, what, whole }) =>
      `INSERT INTO ${table} VALUES (${literal(place)}, ${literal(what)}, ${allowed}, ${found}, [${leftOut.map(literal).join(", ")}], ${literal(whole)})`
  )
]
