/**
 * Where the reading of a list stands: in every page of the vault, and in `meta.checkpoints` until the list is read to its
 * end. Only what survives a restart belongs here, so no expiring cursor. Times are epoch milliseconds.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Parameters } from "../catalog/request.ts"

/** As a definition writes them. */
const RequestParameters = Schema.Record(Schema.String, Schema.Unknown) as unknown as Schema.Codec<Parameters>
const Ids = Schema.Array(Schema.String)

/** Being read in parts: the records that share one sort value, more than a page holds. */
const Ties = Schema.Struct({
  value: Schema.Number,
  /** Parameters that are still to be tried. */
  left: Schema.Array(Schema.Struct({ level: Schema.Number, parameters: RequestParameters })),
  ids: Ids,
  /** Those among them that no part has shown yet. */
  unshown: Ids
})

const Checkpoint = Schema.Struct({
  version: Schema.Literal(1),
  done: Schema.Boolean,
  cursor: Schema.optional(Schema.Unknown),
  /**
   * Windows still to be read, the current one first: start, end, and of a window that was cut out of another, the records
   * that the service may count up to its end.
   */
  windows: Schema.optionalKey(Schema.Array(Schema.Array(Schema.Number))),
  /** Records seen, repetitions at the seams not counted. */
  count: Schema.Number,
  /** What the service counts: in the current window, and at the end in all of them. */
  total: Schema.optional(Schema.Number),
  /** Of the windows that are read: their records, and what the service counted in them. */
  earlier: Schema.optionalKey(Schema.Struct({ count: Schema.Number, total: Schema.Number })),
  /** A page shorter than requested was not the end: the service cuts pages to a size of its own. */
  cut: Schema.optionalKey(Schema.Boolean),
  /** Highest time of change seen. */
  highest: Schema.optionalKey(Schema.Number),
  /** Records without a time of change. */
  undated: Schema.optionalKey(Schema.Number),
  /** Where to begin again when an expiring cursor has expired. */
  anchor: Schema.optionalKey(Schema.Number),
  /** Last ids of the last page: the next one has to touch it, and must not be the same. */
  lastIds: Ids,
  /** Sort value of the last record. */
  edge: Schema.optionalKey(Schema.Number),
  /** The service does not look at the id beside a sort value, so its cursor is the value alone. */
  byValue: Schema.optionalKey(Schema.Boolean),
  ties: Schema.optional(Ties),
  /** How often the list moved up under the reading. */
  stepsBack: Schema.optionalKey(Schema.Number),
  warnings: Schema.Array(Schema.String),
  mode: Schema.Literals(["full", "incremental", "window"]),
  /** Watermark less its overlap; always there in mode `incremental`. */
  since: Schema.optional(Schema.Number),
  /** When the reading began, by our clock. */
  startedAt: Schema.Number,
  /** The same by the service's clock: it dates changes, and ours may be hours off. */
  servedAt: Schema.optional(Schema.Number),
  /** Of the strategy it was begun with: after an edit the list is read anew. */
  fingerprint: Schema.String,
  /** Read a second time, because the service counts more than the first time showed. */
  again: Schema.optionalKey(Schema.Boolean),
  /** In mode `window`: what is being read. */
  window: Schema.optionalKey(Schema.Tuple([Schema.Number, Schema.Number])),
  /** Ids of the first page, where another partition has to look at them. */
  firstPageIds: Schema.optionalKey(Ids),
  /** Name of a partition whose parameters the service ignores; nothing of it is kept. */
  ignored: Schema.optionalKey(Schema.String)
})

export type TimeWindow = readonly [start: number, end: number, most?: number]
export type Ties = typeof Ties.Type
export type Checkpoint = Omit<typeof Checkpoint.Type, "windows"> & { readonly windows?: ReadonlyArray<TimeWindow> }

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Checkpoint))

/** From JSON; `undefined` where another version wrote it: the list is then read anew. */
export const decodeCheckpoint = (json: unknown): Checkpoint | undefined =>
  // A window has two numbers or three.
  Option.getOrUndefined(decode(json)) as Checkpoint | undefined
