/** Prepares a batch of the vault: files that DuckDB reads, and the statements that load them. */
import { Effect } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Resource, backfillOf, embeddedResourcesOf } from "../../catalog/resource.ts"
import { keyText, tablesOf } from "../../catalog/tables.ts"
import { onDisk } from "../../output/files.ts"
import { removeBelow } from "../../output/remove.ts"
import { type EndEntry, type Entry, type PageEntry, type WindowEntry, isPage } from "../../stores/vault/entry.ts"
import type { Position } from "../../stores/vault/position.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { positionStatements } from "../../stores/warehouse/meta/vault-offset.ts"
import { addWindow } from "../../stores/warehouse/meta/backfilled-windows.ts"
import { deleteCheckpoints, replaceCheckpoints } from "../../stores/warehouse/meta/checkpoints.ts"
import { addKnownPages, keepKnownPages } from "../../stores/warehouse/meta/known-pages.ts"
import { replaceParentState, stageParentState } from "../../stores/warehouse/meta/parent-state.ts"
import type { Counted } from "../../stores/warehouse/meta/run-changes.ts"
import { addEnumValues, addUnexpectedValues } from "../../stores/warehouse/meta/schema-changes.ts"
import { addSeenKeys, deleteSeenKeys } from "../../stores/warehouse/meta/seen-keys.ts"
import { advanceWatermarks } from "../../stores/warehouse/meta/watermarks.ts"
import type { Transaction, TransactionWork } from "../../stores/warehouse/transaction.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { Failure } from "../../values/failure.ts"
import { type Limit, Limits } from "../../values/limits.ts"
import { wellFormed } from "../../catalog/convert.ts"
import { Changes, replaceFieldKeys } from "./merge/changes.ts"
import { type Decision, applyDecision, decidedKeys } from "./merge/deletions.ts"
import { blockedFields, driftStatements, storeRejects, writeDrift } from "./merge/rejects.ts"
import { NdjsonFile, readNdjson } from "./ndjson-file.ts"
import { BatchOrder } from "./batch-order.ts"
import type { KnownRows, TableReading } from "./known-rows.ts"
import { insertNewRows, merge } from "./merge/merge.ts"
import type { Batch as MergedBatch } from "./merge/staging-table.ts"
import { type Group, type Loaded, StagingFiles, isOfFullReading } from "./staging-files.ts"
import { isSynced, startsOver, statesOf } from "./checkpoints.ts"

export interface Batch {
  /** Rows first. The last one has all checkpoints and counts, so an interruption only causes rows to be loaded again. */
  readonly transactions: ReadonlyArray<TransactionWork>
  /** Position in the vault after the batch. */
  readonly next: Position
  /** Bytes of the vault in the batch. */
  readonly bytes: number
  /** Tables that the batch changes. */
  readonly tables: ReadonlyArray<readonly [table: string, location: string]>
}

/**
 * Raw bytes per transaction for the memory that DuckDB may use, in MB. Reading lines takes 32 MB of it. Rows to be merged are
 * staged, and the rows that they replace are archived, so they count three times; new rows only fill row groups.
 */
const bytesIn = (memoryMb: number) => Math.max(1, (memoryMb - 40) / 3.6) * 1024 * 1024

/** Called before each read with its position and the bytes in the batch. Waits for more pages; false closes the batch. */
export type ShouldContinue = (position: Position, bytes: number) => Effect.Effect<boolean>

/** Reads and normalises the frames from a position of the vault on; `undefined` at its end. */
export const prepareBatch = Effect.fn("load.prepare")(function* (
  loaded: Loaded,
  known: KnownRows,
  temporary: string,
  from: Position,
  shouldContinue: ShouldContinue
) {
  const { resources } = loaded
  const read = yield* readFrames(loaded, known, temporary, from, shouldContinue)
  if (read === undefined) return undefined
  const { bytes, decisions, entries, next, staging } = read
  const write = <A>(work: () => Promise<A>) => onDisk(temporary, "written", work)
  yield* write(() => staging.write(true))
  // Details complete the rows of lists.
  const groups = [...staging.groups.values()].toSorted(
    (a, b) => Number(a.kind === "detail") - Number(b.kind === "detail")
  )
  const deletions = decisions.filter(({ entry }) => entry.kind === "deleted")
  // Whoever reads the table only later may do so before this batch is committed, and would take its rows for live ones.
  yield* known.readTables(
    deletions.flatMap(({ entry: { location, resource: table } }) =>
      resources.flatMap((resource) => (resource.table === table ? [{ resource, location, isFull: false }] : []))
    )
  )
  for (const { entry, keys } of deletions) known.forget(entry.resource, entry.location, keys)
  for (const { entry } of decisions) loaded.pages?.take(entry)
  for (const { kind, resource, location } of entries)
    if (kind === "end")
      for (const { table } of [{ table: resource }, ...embeddedResourcesOf(resources, resource)])
        known.endReading(table, location)
  const endedPages = entries.flatMap((entry) => {
    const digests = entry.kind === "end" && startsOver(entry) ? loaded.pages?.end(entry) : undefined
    return digests === undefined ? [] : [keepKnownPages({ location: entry.location, label: entry.resource }, digests)]
  })
  const drift = new NdjsonFile(join(temporary, "drift.ndjson"))
  writeDrift(drift, groups)
  yield* write(() => writeFile(drift.path, drift.take(true), { mode: 0o600 }))
  return {
    next,
    bytes,
    tables: [
      ...groups.flatMap(({ location, newRows, resource, stagedRows }) =>
        newRows.rows.length + stagedRows.rows.length > 0 ? [[resource.table, location] as const] : []
      ),
      ...decisions.map(({ entry }) => [entry.resource, entry.location] as const)
    ],
    transactions: transactionsOf({ ...read, loaded, known, groups, drift, endedPages }, (yield* Limits).load)
  } satisfies Batch
})

interface ReadFrames {
  readonly staging: StagingFiles
  readonly entries: ReadonlyArray<Entry>
  readonly decisions: ReadonlyArray<Decision>
  readonly next: Position
  readonly bytes: number
}

/** Reads frames into the files of a batch, until it is full, complete or closed by the next frame. */
const readFrames = Effect.fnUntraced(function* (
  loaded: Loaded,
  known: KnownRows,
  temporary: string,
  from: Position,
  shouldContinue: ShouldContinue
): Effect.fn.Return<ReadFrames | undefined, Failure, Vault | Warehouse> {
  const limits = (yield* Limits).load
  const memoryBytes = bytesIn((yield* Warehouse).memoryMb)
  const write = <A>(work: () => Promise<A>) => onDisk(temporary, "written", work)
  const staging = new StagingFiles(loaded, known, temporary, limits)
  const entries: Array<Entry> = []
  const order = new BatchOrder(loaded.resources)
  const decisions: Array<Decision> = []
  let isClosed = false
  let [next, bytes] = [from, 0]
  while (
    bytes + 2 * staging.stagedBytes < memoryBytes &&
    !limits.batchBytes.isReachedBy(bytes + 2 * staging.stagedBytes) &&
    !limits.batchRecords.isReachedBy(staging.records) &&
    !isClosed &&
    (yield* shouldContinue(next, bytes))
  ) {
    const read = yield* (yield* Vault).read(next, limits.readBytes.value)
    if (read.bytes === 0) {
      next = read.next
      continue
    }
    if (bytes === 0) yield* write(() => recreate(temporary))
    const pages = read.frames.flatMap(({ entry }) => (isPage(entry) ? [entry] : []))
    for (const location of new Set(pages.flatMap(({ digest, location }) => (digest === undefined ? [] : [location]))))
      yield* loaded.pages?.read(location) ?? Effect.void
    yield* known.readTables(pages.flatMap((page) => staging.resourcesOf(page).map((one) => readingOf(page, one))))
    let taken = 0
    for (const { bytes: body, end, entry } of read.frames) {
      isClosed = order.isNext(entry) || (isPage(entry) && !(yield* stagePage(entry, body, staging, known)))
      if (isClosed) break
      taken = end
      entries.push(entry)
      if (isPage(entry)) loaded.pages?.take(entry)
      if (entry.kind === "deleted" || entry.kind === "existing")
        decisions.push({ entry, keys: decidedKeys(body.toString("utf8")) })
      if (isPage(entry)) yield* write(() => staging.write())
    }
    if (taken === 0) break
    next = { ...read.next, offset: taken }
    bytes += read.bytes - (read.next.offset - taken)
    limits.readBytes.isExceededBy(bytes)
  }
  return bytes === 0 ? undefined : { staging, entries, decisions, next, bytes }
})

/** Returns whether the batch takes the page. */
const stagePage = Effect.fnUntraced(function* (
  entry: PageEntry,
  body: Buffer,
  staging: StagingFiles,
  known: KnownRows
) {
  const pages = yield* all(staging.read(entry, body))
  if (!staging.takes(entry, pages)) return false
  yield* Effect.forEach(pages, ({ keys, resource }) => known.read(readingOf(entry, resource), keys()))
  if (!staging.knows(entry, pages)) return false
  staging.add(entry, body.length > 0, pages)
  return true
})

interface Prepared extends ReadFrames {
  readonly loaded: Loaded
  readonly known: KnownRows
  readonly groups: ReadonlyArray<Group>
  readonly drift: NdjsonFile
  /** Statements that forget the pages that the ended readings no longer have. */
  readonly endedPages: ReadonlyArray<string>
}

const transactionsOf = (prepared: Prepared, limits: Limits["load"]): ReadonlyArray<TransactionWork> => {
  const { groups, known, loaded, staging } = prepared
  const { released } = known
  const parents = staging.parents.statesSql
  // A sample of the records fills no memory.
  const [first = [], ...others] = loaded.filter ? [groups] : splitIntoTransactions(groups, limits.batchTables)
  return [first, ...others].map(
    (groups, index) => (tx) =>
      Effect.gen(function* () {
        const changes = new Changes(released)
        if (index === 0 && parents !== undefined) tx.run(stageParentState(parents))
        const batches = groups.map((group) => batchOf(group, prepared, changes, limits))
        for (const [resource, own] of Map.groupBy(batches, (batch) => batch.resource))
          insertNewRows(tx, resource, changes, own)
        for (const [at, batch] of batches.entries()) yield* loadGroup(tx, groups[at]!, batch, prepared)
        if (index === others.length) yield* storeState(tx, prepared, changes)
        tx.run(...changes.statements())
      })
  )
}

const batchOf = (
  group: Group,
  { staging }: Prepared,
  changes: Changes,
  { sliceBytes }: Limits["load"]
): Omit<MergedBatch, "hasMissing"> => {
  const { kind, hasParents, wasEmpty } = group
  return {
    ...group,
    listed: kind === "page" && hasParents && !wasEmpty ? staging.parents.listedSql(group) : undefined,
    slices: sliceBytes.isExceededBy(group.unknownBytes) ? Math.ceil(group.unknownBytes / sliceBytes.value) : 1,
    changes
  }
}

const loadGroup = Effect.fnUntraced(function* (
  tx: Transaction,
  group: Group,
  batch: Omit<MergedBatch, "hasMissing">,
  { known }: Prepared
) {
  const isMissing = yield* merge(tx, { ...batch, hasMissing: known.hasMissing(group.location, group.label) })
  if (isMissing) known.addMissing(group.location, group.label)
  yield* storeRejects(tx, group, batch.changes)
})

/** What the last transaction stores beside rows: counts, decisions, checkpoints, ends, and the position. */
const storeState = Effect.fnUntraced(function* (tx: Transaction, prepared: Prepared, changes: Changes) {
  const { decisions, drift, entries, groups, loaded, next, staging } = prepared
  const { policies, resources } = loaded
  const { partitions, ends, windows } = statesOf(entries)
  for (const group of groups) {
    const { pages, records, droppedCount, at } = group
    changes.counts.add(group, { pages, records, dropped_records: droppedCount }, at)
    changes.counts.block(group, blockedFields(group, policies))
  }
  const allEnds = ends.flatMap((end) => [end, ...endsOfEmbedded(resources, end)])
  for (const end of allEnds) changes.counts.end(counted(end), { ...end.outcome, at: end.at })
  // A deletion also removes the state of the row's children.
  if (staging.parents.statesSql !== undefined) tx.run(...replaceParentState)
  for (const decision of decisions) yield* applyDecision(tx, resources, changes, decision)
  yield* replaceFieldKeys(tx, resources, changes, new Set(groups.map(({ resource }) => resource.table)))
  tx.run(
    ...driftStatements(drift),
    ...addUnexpectedValues(staging.unlisted(true)),
    ...addEnumValues(staging.unlisted(false)),
    ...(staging.seen.length === 0 ? [] : [addSeenKeys(seenIn(staging.seen))]),
    ...[...staging.unsure.values()].map(({ location, resource }) => addSeenKeys(allKeys(resource, location))),
    ...(staging.noted.length === 0 ? [] : [addKnownPages(notedIn(staging.noted))]),
    ...prepared.endedPages,
    ...replaceCheckpoints(
      partitions.map(({ entry, reading }) => ({
        location: entry.location,
        label: reading,
        partition: entry.partition,
        checkpoint: wellFormed(loaded.pages?.checkpointOf(entry) ?? entry.checkpoint)
      }))
    ),
    ...endStatements(allEnds),
    ...windowStatements(windows),
    ...positionStatements(next)
  )
})

const readingOf = (page: PageEntry, resource: Resource): TableReading => ({
  resource,
  location: page.location,
  isFull: isOfFullReading(page)
})

/** Yields within a page, because requests are being timed meanwhile. */
const all = Effect.fnUntraced(function* <A>(reading: Generator<void, A>) {
  let step = reading.next()
  while (!step.done) {
    yield* Effect.yieldNow
    step = reading.next()
  }
  return step.value
})

const recreate = async (folder: string): Promise<void> => {
  await removeBelow(dirname(folder), folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** Distributes groups over transactions of at most so many tables. All groups of a table are in one, which keep their order. */
const splitIntoTransactions = (groups: ReadonlyArray<Group>, most: Limit): ReadonlyArray<ReadonlyArray<Group>> => {
  const transactions: Array<Array<Group>> = []
  let tables = 0
  for (const [resource, own] of Map.groupBy(groups, (group) => group.resource)) {
    const count = tablesOf(resource).length
    if (transactions.length === 0 || most.isExceededBy(tables + count)) {
      transactions.push([])
      tables = 0
    }
    transactions.at(-1)!.push(...own)
    tables += count
  }
  return transactions
}

const seenIn = (lines: NdjsonFile): string =>
  `(SELECT location_id, resource, unnest(keys) AS key FROM ${readNdjson(lines, "location_id: 'VARCHAR', resource: 'VARCHAR', keys: 'VARCHAR[]'")})`

const notedIn = (lines: NdjsonFile): string =>
  readNdjson(
    lines,
    "location_id: 'VARCHAR', resource: 'VARCHAR', digest: 'VARCHAR', \"rows\": 'VARCHAR', keys: 'VARCHAR[]'"
  )

const allKeys = (resource: Resource, location: string): string =>
  `(SELECT location_id, ${literal(resource.table)} AS resource, ${keyText(resource)} AS key
    FROM crm.${name(resource.table)} WHERE location_id = ${literal(location)})`

/** The row in which an end or a deletion is counted. */
const counted = ({ run, location, resource }: Entry): Counted => ({ run, location, label: resource })

const windowStatements = (windows: ReadonlyArray<WindowEntry>): ReadonlyArray<string> => [
  ...deleteCheckpoints(windows.map(({ location, resource }) => ({ location, label: backfillOf(resource) }))),
  ...windows.map(({ run, location, resource, window }) => addWindow(run, location, resource, window))
]

/** Embedded tables end with the table whose pages they are in. */
const endsOfEmbedded = (resources: ReadonlyArray<Resource>, { outcome, ...end }: EndEntry): ReadonlyArray<EndEntry> => {
  const { mode, shortfalls, warnings } = outcome
  return embeddedResourcesOf(resources, end.resource).map(({ table }) => ({
    ...end,
    resource: table,
    outcome: { mode, shortfalls, warnings, requests: 0 }
  }))
}

/**
 * A complete reading advances the watermark. An incomplete one keeps the watermark, and also its checkpoints unless it
 * reached the end of its list. A backfill window changes neither.
 */
const endStatements = (ends: ReadonlyArray<EndEntry>): ReadonlyArray<string> => {
  const finished = ends.filter(startsOver).map(counted)
  return [
    ...deleteCheckpoints(finished),
    ...deleteSeenKeys(finished),
    ...advanceWatermarks(
      ends.filter(isSynced).map((end) => ({ ...end, ...end.outcome, isFull: end.outcome.mode === "full" }))
    )
  ]
}
