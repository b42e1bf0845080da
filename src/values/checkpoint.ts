/**
 * The progress of reading a list. Every page in the vault has one, and `meta.checkpoints` keeps the last one until the list
 * is read to its end. Expiring cursors do not survive a restart, so they are not part of it. Times are epoch milliseconds.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Parameters } from "../catalog/request.ts"
import { SingleReason } from "./reason.ts"

/** Parameters as a definition has them. */
const RequestParameters = Schema.Record(Schema.String, Schema.Unknown) as unknown as Schema.Codec<Parameters>
const Ids = Schema.Array(Schema.String)

/** State while records that share one sort value, too many for a page, are read in parts. */
const Ties = Schema.Struct({
  value: Schema.Number,
  /** The parts still to be read. */
  left: Schema.Array(Schema.Struct({ level: Schema.Number, parameters: RequestParameters })),
  ids: Ids,
  /** The ids that no part has returned yet. */
  unshown: Ids
})

const Checkpoint = Schema.Struct({
  version: Schema.Literal(1),
  done: Schema.Boolean,
  cursor: Schema.optional(Schema.Unknown),
  /**
   * Windows still to be read, the current one first: start, end, and for a half of a split window the largest total that
   * the service may report for all windows up to the end of the split one.
   */
  windows: Schema.optionalKey(Schema.Array(Schema.Array(Schema.Number))),
  /** Records read, without those repeated where pages overlap. */
  count: Schema.Number,
  /** The service's total: for the current window, and at the end for all windows. */
  total: Schema.optional(Schema.Number),
  /** Records that the total includes, and those of the pages do not: read before a list was begun again at its anchor. */
  behind: Schema.optionalKey(Schema.Number),
  /** Records and totals of the windows read so far. */
  earlier: Schema.optionalKey(Schema.Struct({ count: Schema.Number, total: Schema.Number })),
  /** Whether a page shorter than requested was not the last one, because the service limits the page size. */
  cut: Schema.optionalKey(Schema.Boolean),
  /** The size of the pages round a record with which every page fails; a page number counts pages of this size. */
  size: Schema.optionalKey(Schema.Number),
  /** Latest change timestamp so far. */
  highest: Schema.optionalKey(Schema.Number),
  /** Records without a change timestamp. */
  undated: Schema.optionalKey(Schema.Number),
  /** The sort value to restart from if an expiring cursor has expired. */
  anchor: Schema.optionalKey(Schema.Number),
  /** Whether the list is in the order of its changes, as its first page has shown. */
  inOrder: Schema.optionalKey(Schema.Boolean),
  /** Last ids of the last page, at most `lastIds` of `limits.ts`: the next page must overlap it, but not be the same. */
  lastIds: Ids,
  /** Sort value of the last record. */
  edge: Schema.optionalKey(Schema.Number),
  /** Whether the service ignores the id in a cursor of sort value and id, so that the cursor is the value alone. */
  byValue: Schema.optionalKey(Schema.Boolean),
  ties: Schema.optional(Ties),
  /** How often reading stepped back, because deletions had moved records up onto pages already read. */
  stepsBack: Schema.optionalKey(Schema.Number),
  warnings: Schema.Array(SingleReason),
  mode: Schema.Literals(["full", "incremental", "window"]),
  /** Watermark less its overlap; always set in mode `incremental`. */
  since: Schema.optional(Schema.Number),
  /** When the reading began, by the local clock. */
  startedAt: Schema.Number,
  /** The same by the service's clock, which dates changes; the local clock may be hours off. */
  servedAt: Schema.optional(Schema.Number),
  /** Fingerprint of the strategy: if its definition changes, the list is read from the start. */
  fingerprint: Schema.String,
  /** Whether this is a second reading, because the first returned fewer records than the service counts. */
  again: Schema.optionalKey(Schema.Boolean),
  /** In mode `window`: the window being read. */
  window: Schema.optionalKey(Schema.Tuple([Schema.Number, Schema.Number])),
  /** Ids of the first page, if the first pages of other partitions are compared with it. */
  firstPageIds: Schema.optionalKey(Ids),
  /** Name of a partition whose parameters the service ignores; its pages are not stored. */
  ignored: Schema.optionalKey(Schema.String)
})

export type TimeWindow = readonly [start: number, end: number, countMax?: number]
export type Ties = typeof Ties.Type
export type Checkpoint = Omit<typeof Checkpoint.Type, "windows"> & {
  readonly windows?: ReadonlyArray<TimeWindow>
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Checkpoint))

/** Decodes JSON; `undefined` for a checkpoint of another version, so that the list is read from the start. */
export const decodeCheckpoint = (json: unknown): Checkpoint | undefined =>
  // A window has two numbers or three.
  Option.getOrUndefined(decode(json)) as Checkpoint | undefined
