/**
 * Why the reading of a resource is not complete, or complete with warnings, as facts. The vault, the checkpoints and
 * `meta.run_resources.reading` store them; `sentenceOf` alone writes the sentences that people read.
 */
import * as Schema from "effect/Schema"
import { stateText } from "./state.ts"

/** What a request, or the response to it, failed with. */
export const Detail = Schema.Struct({
  message: Schema.String,
  /** The HTTP status of the answer that the message quotes: it has words of the service. Absent if the words are ours. */
  answered: Schema.optionalKey(Schema.Number)
})
export type Detail = typeof Detail.Type

const single = {
  /** A reason of which only the sentence is known: a masked release has no others. */
  Text: { text: Schema.String },

  /** The token may not read the resource. */
  Forbidden: { detail: Detail },
  /** Of an unproven resource that has given the account no row. */
  NotOffered: { detail: Detail },
  LocationUnreadable: { detail: Detail },
  RequestFailed: { detail: Detail },
  /** Requests for single parents or records. `id`: one of them, shortened. */
  RequestsFailed: { count: Schema.Number, id: Schema.String, detail: Detail },
  /** Parents that were not requested, because nothing was answered for those before them. */
  NotRequested: { count: Schema.Number },
  /** Single records that do not exist, as the service answers, although a list or a parent names them. `id`: one of them. */
  NotFoundButNamed: { count: Schema.Number, id: Schema.String },
  /** A way to read the list that does not work for this account. `dateField`: of a backfill. */
  StrategyFailed: {
    method: Schema.String,
    path: Schema.String,
    dateField: Schema.optionalKey(Schema.String),
    detail: Detail
  },

  /** The service does not want the parameter: from now on, requests are without it. */
  ParameterLeftOut: { parameter: Schema.String },
  /** Records with which no page of a list was answered, however small. */
  RecordsUnreadable: { count: Schema.Number },
  /** The settings name the partition. */
  PartitionNotFound: { partition: Schema.String },
  /** The service refuses the partition, and answers for others. */
  PartitionFailed: { partition: Schema.String, detail: Detail },
  /** The service returns another partition in its place. */
  PartitionIgnored: { partition: Schema.String },
  PartitionBelowTotal: {},
  BelowTotal: { total: Schema.Number, read: Schema.Number },
  /** Of a window of a backfill, in epoch milliseconds. */
  WindowBelowTotal: { missing: Schema.Number, from: Schema.Number, to: Schema.Number },

  ParentNeverRead: { table: Schema.String },
  ParentNotComplete: { table: Schema.String, status: Schema.Literals(["incomplete", "complete_with_warnings"]) },
  LinkedTextsMissing: { count: Schema.Number },
  /** Files behind links, by what became of them. `example`: why one of them was not fetched. */
  FilesNotFetched: { status: Schema.String, count: Schema.Number, example: Schema.NullOr(Schema.String) },
  /** No further file was fetched. */
  FilesStopped: { why: Schema.Literals(["disk", "total"]) },
  /** Records without a change timestamp, of which a reading of changes does not return new ones. */
  UndatedRecords: { count: Schema.Number, field: Schema.String },

  RepeatedRecord: {},
  /** Of a list that is read by the value of the field, on several pages: a misplaced record may hide others. */
  OutOfOrder: { field: Schema.String },
  PageNumbersLimited: { records: Schema.Number },
  CursorStuck: {},
  /** What a list without records has beside it, as `path=value`: it was learnt that the service is empty in this way. */
  EmptyBeside: { beside: Schema.String },
  /** More records share a value of the sort field than fit on a page. */
  TiesLimited: { field: Schema.String },
  /** More records have this time, in epoch milliseconds, than the service returns. */
  TimestampLimited: { at: Schema.Number },

  DeletionsNotSought: {},
  /** After a full reading, the service's total is not the number of live rows. */
  TotalDiffers: { total: Schema.Number, rows: Schema.Number },
  DeletionsUnconfirmed: { rows: Schema.Number },
  MissingRowsExist: { rows: Schema.Number },
  MissingRowsUnknown: { rows: Schema.Number },
  /** `deleted` of all `rows`: of the table itself or, because `missing` of its rows are, of the `dependent` table. */
  TooManyDeletions: {
    missing: Schema.Number,
    deleted: Schema.Number,
    rows: Schema.Number,
    dependent: Schema.optionalKey(Schema.String)
  },

  /** Fields and values that a frozen schema kept out of the tables, as `table.field`. */
  SchemaFrozen: { fields: Schema.Array(Schema.String) },
  /** Records without a key, which have no row. */
  RecordsWithoutKey: { count: Schema.Number }
} as const
/** A reason that may be part of another one. */
export const SingleReason = Schema.TaggedUnion(single)

export const Reason = Schema.TaggedUnion({
  ...single,
  /** No way to read the list works. */
  NoStrategyWorks: { reasons: Schema.Array(SingleReason) },
  /** The request for new records without the change timestamp did not work. */
  UndatedNotRead: { field: Schema.String, reasons: Schema.Array(SingleReason) }
})
export type SingleReason = typeof SingleReason.Type
export type Reason = typeof Reason.Type

export const textReason = (text: string): SingleReason => ({ _tag: "Text", text })

/** Keeps one of those that read the same. */
export const distinct = <R extends Reason>(reasons: ReadonlyArray<R>): ReadonlyArray<R> =>
  reasons.length < 2 ? reasons : [...new Map(reasons.map((reason) => [sentenceOf(reason), reason])).values()]

type Quote = (detail: Detail) => string
type ReasonOf<Tag extends Reason["_tag"]> = Extract<Reason, { readonly _tag: Tag }>

const sentences: { readonly [Tag in Reason["_tag"]]: (reason: ReasonOf<Tag>, quoted: Quote) => string } = {
  Text: (reason) => reason.text,
  Forbidden: (reason, quoted) => `refused by the service, which answers other requests: ${quoted(reason.detail)}`,
  NotOffered: (reason, quoted) => `not offered by this account: ${quoted(reason.detail)}`,
  LocationUnreadable: (reason, quoted) => `the location cannot be read: ${quoted(reason.detail)}`,
  RequestFailed: (reason, quoted) => quoted(reason.detail),
  RequestsFailed: (reason, quoted) =>
    `failed requests: ${reason.count}, for example ${reason.id}: ${quoted(reason.detail)}`,
  NotRequested: (reason) =>
    `not requested: ${reason.count}, because nothing was answered for those before; the next sync begins with them`,
  NotFoundButNamed: (reason) =>
    `not found, although still named by the service: ${reason.count}, for example ${reason.id}; nothing was deleted, and the next sync requests them again`,
  StrategyFailed: (reason, quoted) => {
    const by = reason.dateField === undefined ? "" : ` by ${reason.dateField}`
    return `${reason.method} ${reason.path}${by} could not be used: ${quoted(reason.detail)}`
  },
  NoStrategyWorks: (reason, quoted) => allOf(reason.reasons, quoted),
  ParameterLeftOut: (reason) => `the service rejects the parameter ${reason.parameter}, which is left out from now on`,
  RecordsUnreadable: (reason) =>
    `${reason.count} ${reason.count === 1 ? "record" : "records"} could not be read: the service answers no page with them`,
  PartitionNotFound: (reason) => `${reason.partition}, named in the settings, does not exist`,
  PartitionFailed: (reason, quoted) => `${reason.partition} could not be read: ${quoted(reason.detail)}`,
  PartitionIgnored: (reason) => `the service ignores the parameters of partition ${reason.partition}`,
  PartitionBelowTotal: () => "a partition returned fewer records than the service counts",
  BelowTotal: (reason) => `the service counts ${reason.total} records, and ${reason.read} were read`,
  WindowBelowTotal: (reason) =>
    `${reason.missing} of the records that the service counts in ${dayOf(reason.from)} to ${dayOf(reason.to)} were not returned`,
  ParentNeverRead: (reason) => `the parent table ${reason.table} was never read`,
  ParentNotComplete: (reason) => `the parent table ${reason.table} is ${stateText(reason.status)}`,
  LinkedTextsMissing: (reason) => `${reason.count} linked texts could not be fetched`,
  FilesNotFetched: (reason) =>
    `${reason.count} ${reason.count === 1 ? "file" : "files"} ${reason.status}${reason.example === null ? "" : `: ${reason.example}`}`,
  FilesStopped: (reason) =>
    reason.why === "disk"
      ? "the disk is almost full, or cannot be written: no further file was fetched"
      : "the files have reached files.max_total_bytes: no further file was fetched",
  UndatedRecords: (reason) =>
    `${reason.count} records have no ${reason.field}; new records without it arrive with the next full sync`,
  UndatedNotRead: (reason, quoted) =>
    `new records without ${reason.field} arrive with the next full sync: ${allOf(reason.reasons, quoted)}`,
  RepeatedRecord: () => "a page had a record twice, with different values; the later one is kept",
  OutOfOrder: (reason) =>
    `a record is not where its ${reason.field} belongs in the list; what was received is stored, and others may be missing`,
  PageNumbersLimited: (reason) => `only the first ${reason.records} records can be reached by page number`,
  CursorStuck: () => "the cursor does not advance, and the service gives no total, so records may be missing",
  EmptyBeside: (reason) =>
    `empty lists have ${reason.beside} beside them, in turn with lists with records: from now on, this means that there are none`,
  TiesLimited: (reason) => `more records share one ${reason.field} than fit on a page; some may be missing`,
  TimestampLimited: (reason) =>
    `more records share one timestamp (${new Date(reason.at).toISOString()}) than the service returns`,
  DeletionsNotSought: () => "deleted rows were not looked for",
  TotalDiffers: (reason) =>
    `the service counts ${reason.total} records, and there are ${reason.rows} rows also after a full reading; from now on, only a change of this difference makes another one necessary`,
  DeletionsUnconfirmed: (reason) =>
    `${missing(reason.rows, "was", "were")} missing once, and a second reading does not confirm that`,
  MissingRowsExist: (reason) =>
    `${missing(reason.rows)} missing from the list but still ${reason.rows === 1 ? "exists" : "exist"}`,
  MissingRowsUnknown: (reason) =>
    `${missing(reason.rows)} missing from the list, and the service did not say whether ${reason.rows === 1 ? "it exists" : "they exist"}`,
  TooManyDeletions: (reason) => {
    const { missing: absent, deleted, rows, dependent } = reason
    const what =
      dependent === undefined
        ? `${deleted} of ${rows} rows are missing from the list`
        : `${missing(absent)} missing from the list, and with ${absent === 1 ? "it" : "them"} ${deleted} of ${rows} rows of ${dependent}`
    return `${what}: too many to be deleted at once, so none was marked deleted. If the deletions are real, run again with --accept-deletions`
  },
  SchemaFrozen: (reason) => frozenText(reason.fields),
  RecordsWithoutKey: (reason) => `${reason.count} records have no key; see meta.rejected_records`
}

/** `quoted`: how to write a detail, which may contain words of the service. No full stop. */
export const sentenceOf = <Tag extends Reason["_tag"]>(
  reason: ReasonOf<Tag> & { readonly _tag: Tag },
  quoted: Quote = ({ message }) => message
): string => sentences[reason._tag](reason, quoted)

/** Ways that failed for the same reason are one sentence, with their number. */
const allOf = (reasons: ReadonlyArray<Reason>, quoted: Quote): string => {
  const whyOf = (one: Reason) => (one._tag === "StrategyFailed" ? quoted(one.detail) : sentenceOf(one, quoted))
  const textOf = (why: string, [first, ...others]: ReadonlyArray<Reason>) => {
    if (first === undefined || others.length === 0) return first ? sentenceOf(first, quoted) : ""
    return `${others.length + 1} strategies could not be used, such as ${strategyIn(first)}: ${why}`
  }
  return Array.from(Map.groupBy(reasons, whyOf), ([why, own]) => textOf(why, own)).join("; ")
}
const strategyIn = (one: Reason): string => (one._tag === "StrategyFailed" ? `${one.method} ${one.path}` : one._tag)

const missing = (rows: number, is = "is", are = "are"): string => (rows === 1 ? `1 row ${is}` : `${rows} rows ${are}`)

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

const frozenText = (fields: ReadonlyArray<string>): string => {
  const shown = fields.slice(0, 5)
  const more = fields.length > shown.length ? ` and ${fields.length - shown.length} more` : ""
  return `the schema is frozen, and the service sent new fields or values: ${shown.join(", ")}${more}. New fields are in the vault but in no table. To accept them, set accepted = ${JSON.stringify(shown)} under [schema] in the settings file, or choose another policy there, and run ./sluice rebuild`
}
