/** Whom and what an erasure concerns. */
import * as Schema from "effect/Schema"

const RecordKey = Schema.Struct({
  kind: Schema.Literal("record"),
  table: Schema.String,
  location: Schema.String,
  key: Schema.String
})
export type RecordKey = typeof RecordKey.Type

/** What may be on the list of erased people: a contact, an address, or a record by its table and key. */
const ListedAs = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("contact"), location: Schema.String, id: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("address"), value: Schema.String }),
  RecordKey
])
export type ListedAs = typeof ListedAs.Type

export const Identifier = Schema.Union([
  ListedAs,
  /** Financial records of this contact or address, or this financial record, are kept without the person. */
  Schema.Struct({ kind: Schema.Literal("financial"), of: ListedAs })
])
export type Identifier = typeof Identifier.Type

/** The records that go, and those that stay without the person. */
export const recordsIn = (
  identifiers: ReadonlyArray<Identifier>
): { readonly removed: ReadonlyArray<RecordKey>; readonly kept: ReadonlyArray<RecordKey> } => ({
  removed: identifiers.filter((one) => one.kind === "record"),
  kept: identifiers.flatMap((one) => (one.kind === "financial" && one.of.kind === "record" ? [one.of] : []))
})
