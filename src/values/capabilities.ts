/** What earlier readings learnt about the service for a resource, to use next time. Stored with the watermark. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const Capabilities = Schema.Struct({
  version: Schema.Literal(1),
  /** The largest page sizes that the service accepts, by strategy (`GET /path`). */
  sizes: Schema.Record(Schema.String, Schema.Number),
  /** Fingerprints of strategies that the service does not support. */
  refused: Schema.Array(Schema.String),
  /** Strategies whose totals exceed the records they return. */
  unreliableTotals: Schema.Array(Schema.String),
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
