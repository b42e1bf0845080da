/** What a hold is, in `holds.json` and in results. */
import * as Schema from "effect/Schema"

export const Hold = Schema.Struct({
  id: Schema.String,
  reason: Schema.String,
  /** Who set it. */
  by: Schema.String,
  addedAt: Schema.String,
  /** Ids of contacts whose records are held. */
  contacts: Schema.Array(Schema.String),
  /** Tables of records that are held; with `*`, all are. */
  tables: Schema.Array(Schema.String)
})
export type Hold = typeof Hold.Type
