/** What readings learnt about this account of the service, to start with next time. Stored with the watermark. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const Capabilities = Schema.Struct({
  version: Schema.Literal(1),
  /** Page sizes that were found to be the largest, by strategy (`GET /path`). */
  sizes: Schema.Record(Schema.String, Schema.Number),
  /** Fingerprints of strategies that do not work here. */
  refused: Schema.Array(Schema.String),
  /** Strategies whose totals count more records than they show. */
  unreliableTotals: Schema.Array(Schema.String),
  /** Records without a time of change, in the last full reading. */
  undated: Schema.Number
})

export type Capabilities = typeof Capabilities.Type

export const noCapabilities: Capabilities = { version: 1, sizes: {}, refused: [], unreliableTotals: [], undated: 0 }

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Capabilities))

/** From JSON; what another version wrote is learnt anew. */
export const decodeCapabilities = (json: unknown): Capabilities => Option.getOrElse(decode(json), () => noCapabilities)

export const encodeCapabilities = (capabilities: Capabilities): string => JSON.stringify(capabilities)
