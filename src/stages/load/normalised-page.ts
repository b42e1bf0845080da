/** The records of a page of the vault, as rows of the resources that store them. */
import type { Resource } from "../../catalog/resource.ts"
import type { PageEntry } from "../../stores/vault/entry.ts"
import { rejected } from "./normalise/normalise.ts"
import type { ReadPage, ReadRecord, RecordFilter } from "./scan/scan-page.ts"

/** The records of a page that one resource stores. */
export interface NormalisedPage {
  readonly resource: Resource
  /** Whether the page says different things about one record. */
  hasCopies: boolean
  readonly results: ReadonlyArray<ReadRecord>
  readonly keys: () => ReadonlyArray<string>
}

/** A resource that has records in a page. */
export interface PageTarget {
  readonly resource: Resource
  readonly read: ReadPage
  /** Path of the records, if it differs from the request's. */
  readonly records: string | undefined
}

export function* normalisedPage(
  { read, records: path, resource }: PageTarget,
  entry: PageEntry,
  body: Buffer,
  filter?: RecordFilter
): Generator<void, NormalisedPage> {
  const { hasBigNumbers, kind, location } = entry
  const page = {
    body,
    hasBigNumbers,
    path: path ?? entry.records,
    // Only lists mix records of several resources; a detail is requested by id.
    isMixed: resource.filter !== undefined && kind === "page",
    // The state of a detail's parent depends on the record.
    filter: kind === "page" ? filter : undefined
  }
  const sent = yield* read(page, { location, given: givenBy(resource, entry) })
  const results = sent.map((record) => (isOfAnother(record, entry, resource) ? rejectedFor(resource, record) : record))
  const keys = () => results.flatMap(({ keyText, row }) => (row === undefined ? [] : [keyText]))
  return { resource, results, keys, hasCopies: false }
}

/** Whether the answer to a request for one record has another one. */
const isOfAnother = ({ keyText, row }: ReadRecord, { kind, parent }: PageEntry, { childOf, getOne }: Resource) =>
  (kind === "detail" || (childOf !== undefined && childOf.strategy.request === getOne?.request)) &&
  row !== undefined &&
  parent !== undefined &&
  keyText !== parent.id
const rejectedFor = ({ table }: Resource, { row }: ReadRecord): ReadRecord =>
  rejected(table, JSON.parse(String(row)), "another record than the one that was requested")

/** Columns that follow from where a record was read: its parent or its partition. */
export const givenBy = (
  { childOf, partitions }: Resource,
  { parent, partition }: PageEntry
): Readonly<Record<string, unknown>> => ({
  ...(childOf && parent && { [childOf.column]: parent.id }),
  ...(!parent && typeof partitions === "object" && partitions[partition]?.columns)
})
