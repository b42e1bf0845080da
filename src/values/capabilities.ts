/** What earlier readings learnt about the service for a resource, to use next time. Stored with the watermark. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Detail } from "./reason.ts"

const Capabilities = Schema.Struct({
  version: Schema.Literal(1),
  /** The largest page sizes that the service accepts, by strategy (`GET /path`). */
  sizes: Schema.Record(Schema.String, Schema.Number),
  /** Fingerprints of strategies that the service does not support. */
  refused: Schema.Array(Schema.String),
  /** Strategies whose totals exceed the records they return. */
  unreliableTotals: Schema.Array(Schema.String),
  /** Constant parameters that the service does not want, by strategy. */
  leftOut: Schema.optionalKey(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  /** What stands beside the lists of a strategy: the kinds of members in answers with records, and how it is empty. */
  beside: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Struct({ kinds: Schema.Record(Schema.String, Schema.String), empties: Schema.Array(Schema.String) })
    )
  ),
  /** The partitions that were read, of a list whose partitions are named by others. */
  partitions: Schema.optionalKey(Schema.Array(Schema.String)),
  /** What the service answered to the request for a list that the account does not have. */
  notOffered: Schema.optionalKey(Detail),
  /** Records without a change timestamp in the last full sync. */
  undated: Schema.Number,
  /** By how many the service's total exceeds the rows after a full reading, if it does; negative if there are more rows. */
  totalExcess: Schema.optionalKey(Schema.Number),
  /** Full readings in a row that a total made necessary, and that changed no row. */
  vainReadings: Schema.optionalKey(Schema.Number)
})

export type Capabilities = typeof Capabilities.Type

export const noCapabilities: Capabilities = { version: 1, sizes: {}, refused: [], unreliableTotals: [], undated: 0 }

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Capabilities))

/** Decodes JSON. Capabilities of another version are discarded, so they are learnt again. */
export const decodeCapabilities = (json: unknown): Capabilities => Option.getOrElse(decode(json), () => noCapabilities)

export const encodeCapabilities = (capabilities: Capabilities): string => JSON.stringify(capabilities)
