/** `meta.history_limit`: the time before which `prune` has removed earlier versions of rows. No row: it has removed none. */
import { queryValue } from "../query.ts"
import { instantOf, numberOf } from "../sql.ts"

/** Versions that ended before this time are removed; epoch milliseconds. */
export const historyLimit = () => queryValue(numberOf, "SELECT epoch_ms(max(before_at)) FROM meta.history_limit")

/** The limit never moves back. `before`: epoch milliseconds. */
export const raiseHistoryLimit = (before: number): ReadonlyArray<string> => [
  `INSERT INTO meta.history_limit VALUES (${instantOf(before)})`,
  "DELETE FROM meta.history_limit WHERE before_at < (SELECT max(before_at) FROM meta.history_limit)"
]

/** SQL: true for a moment from the limit on; any other moment is an error, because only a part of its rows is left. */
export const isKnownMoment = (moment: string): string =>
  `(SELECT CASE WHEN ${moment} < before_at
      THEN error('the rows as of ' || (${moment})::VARCHAR || ' are not known: prune.history has removed the versions that ended before ' || before_at::VARCHAR)
      ELSE true END FROM (SELECT max(before_at) AS before_at FROM meta.history_limit))`
