/**
 * Fetches the files behind the links of the tables, after their records have been loaded. Each file is stored and
 * noted beside the files before the vault has its row, so a process that is killed costs the files that it was fetching.
 */
import { itemAt } from "../../catalog/present.ts"
import { type Limit, Limits } from "../../values/limits.ts"
import { Clock, Effect, Stream } from "effect"
import { statfs } from "node:fs/promises"
import type { Fetched } from "../api/fetch-file.ts"
import { contradictionIn } from "../api/file-evidence.ts"
import { Api } from "../api/api.ts"
import type { ApiError, BudgetExhausted } from "../api/errors.ts"
import { chosenLinks } from "../../catalog/link-columns.ts"
import { requestForRow } from "../../catalog/get-one.ts"
import type { Resource } from "../../catalog/resource.ts"
import { onDisk } from "../../output/files.ts"
import { differenceOf, headOf, syncFiles, unrecordedOf } from "../../output/stored-files.ts"
import { noCapabilities } from "../../values/capabilities.ts"
import { type Failure, fileFailure } from "../../values/failure.ts"
import type { Reason } from "../../values/reason.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import { Vault } from "../../stores/vault/vault.ts"
import {
  type DueLink,
  type FileRecord,
  type Owner,
  dueLinks,
  findLinks,
  knownFiles,
  linkStatuses,
  noteDamaged,
  sameLinks,
  storedBytes,
  withoutLink
} from "../../stores/warehouse/file-links.ts"
import { rowOfKey } from "../../stores/warehouse/absent-rows.ts"
import { watermarksOf } from "../../stores/warehouse/meta/watermarks.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type RunContext, count } from "./run-context.ts"

/** Files that are fetched at a time; those of one host are limited by its connections. */
const concurrency = 32
/** Space that is left to the records: the vault and the warehouse must be able to end their run. */
const reservedBytes = 256 * 1024 * 1024
/** The free space is checked again after this many bytes. */
const checkBytes = 64 * 1024 * 1024

export const readFiles = Effect.fn("extract.files")(function* (
  resource: Resource,
  /** Compare every file with its row, instead of those fetched since the last complete reading. */
  isFull: boolean,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault | Warehouse> {
  const [api, vault, { extract: limits }] = [yield* Api, yield* Vault, yield* Limits]
  const { files: settings, folder, location, run } = context
  const { table } = resource
  const { columns } = chosenLinks(context.resources, context.optional.files)
  const now = yield* Clock.currentTimeMillis
  const record = Effect.fnUntraced(function* (rows: ReadonlyArray<ReadonlyArray<FileRecord>>) {
    const files = rows.flat()
    if (files.length === 0) return
    limits.fileRecords.isReachedBy(rows.length)
    count(context.counts, table, files.length)
    const page = { kind: "page", partition: "all", request: {}, records: "files", hasBigNumbers: false } as const
    const at = yield* Clock.currentTimeMillis
    yield* vault.append({ entry: { ...page, run, at, location, resource: table }, body: JSON.stringify({ files }) })
  })
  const unrecorded = unrecordedOf(folder, location)
  yield* record([(yield* unrecorded.left) as ReadonlyArray<FileRecord>])
  unrecorded.clear()
  yield* context.loaded
  yield* findLinks(columns, location)
  const known = yield* compareKnown(
    folder,
    location,
    isFull,
    isFull ? undefined : (yield* watermarksOf(location)).get(table)?.completeAt
  )
  yield* noteDamaged(location, known.damaged)
  const unlinked = yield* withoutLink(columns, location)
  const entry = { kind: "deleted", run, at: now, location, resource: table } as const
  if (unlinked.length > 0) yield* vault.append({ entry, body: JSON.stringify(unlinked) })
  const fetching = makeFetching(api, table, context, {
    stored: known.stored,
    total: yield* storedBytes,
    note: unrecorded.add,
    silentLinks: limits.silentLinks
  })
  yield* (yield* dueLinks(location, settings?.maxBytes ?? Number.MAX_SAFE_INTEGER, now)).pipe(
    Stream.mapEffect(
      (due) =>
        fetching.fetch(due).pipe(
          Effect.catchTags({
            BudgetExhausted: (error) => fetching.stop(error),
            // The disk is full, or denies a file. What was read is stored, and the sync goes on.
            Failure: () => fetching.stop({ _tag: "FilesStopped", why: "disk" })
          })
        ),
      { concurrency, unordered: true }
    ),
    // Each write of the vault makes the disk wait for the files before it, and each is a transaction of the load.
    Stream.groupedWithin(limits.fileRecords.value, "5 seconds"),
    Stream.runForEach(record)
  )
  yield* onDisk(folder, "written", () => syncFiles(folder, fetching.fresh))
  unrecorded.clear()
  yield* context.loaded
  const stopped = fetching.stopped()
  if (stopped?._tag === "BudgetExhausted") return yield* stopped
  const { left, noted } = yield* notFetched(location)
  return {
    mode: "children",
    finished: true,
    shortfalls: [...(stopped ? [stopped] : []), ...left],
    warnings: noted,
    requests: api.requestsByResource.get(table) ?? 0,
    capabilities: noCapabilities
  }
})

/** The links without their file: those that are requested again, and those of which a person should know. */
const notFetched = Effect.fnUntraced(function* (location: string) {
  const statuses = (yield* linkStatuses(location)).map(
    ({ count, reason, status = "not requested" }) =>
      ({ _tag: "FilesNotFetched", status, count, example: reason }) as const
  )
  const isLeft = ({ status }: (typeof statuses)[number]) => /^(refused|failed|not requested)$/.test(status)
  return {
    left: statuses.filter(isLeft),
    noted: statuses.filter((one) => !isLeft(one) && one.status !== "not chosen")
  }
})

/**
 * The paths of the files that are there as their rows say, and the rows of the others. `since`: of the last complete reading;
 * `isFull`: every file is compared, also with what earlier versions took for files: a text in place of a picture or a PDF file.
 */
const compareKnown = Effect.fnUntraced(function* (
  folder: string,
  location: string,
  isFull: boolean,
  since: number | undefined
) {
  const all = yield* knownFiles(location, undefined)
  const damaged = yield* Effect.filter(
    since === undefined ? all : yield* knownFiles(location, since),
    (row) => Effect.map(differenceOf(folder, row, isFull), (difference) => difference !== undefined),
    { concurrency: 8 }
  )
  const mistaken = isFull ? yield* Effect.filter(all, (row) => isMistaken(folder, row), { concurrency: 8 }) : []
  const stored = new Set(all.map(({ path }) => path))
  for (const { path } of damaged) stored.delete(path)
  return { stored, damaged: [...damaged, ...mistaken] }
})

type Stopped = BudgetExhausted | Extract<Reason, { readonly _tag: "FilesStopped" }>

interface There {
  /** The paths of the files that are there. */
  readonly stored: Set<string>
  /** Their bytes, those of fetched files included. */
  total: number
  /** Keeps the rows of a file until the vault has them. */
  readonly note: (rows: ReadonlyArray<FileRecord>) => void
  readonly silentLinks: Limit
}

/** Fetches files one by one, until something stops all of them. */
const makeFetching = (api: Api["Service"], table: string, context: RunContext, there: There) => {
  const { files: settings, folder } = context
  const { note, silentLinks, stored } = there
  const accepts = acceptsAmong(settings?.types)
  const fresh: Array<string> = []
  let stopped: Stopped | undefined
  let checkAt = 0
  /** Links in a row that each host has left unanswered. */
  const silence = new Map<string, number>()

  /** The file, asked for again through its record if the link has expired. */
  const fetched = Effect.fnUntraced(function* ({ link, owners, said, url }: DueLink) {
    const get = (url: string) => api.download({ url, folder, accepts, stored, said }, table)
    const first = yield* get(url)
    if (first.status !== "refused" && !(first.status === "gone" && url !== link)) return { url, ...first }
    const renewed = yield* renewedLink(link, itemAt(owners, 0), context)
    return renewed === undefined || renewed === url ? { url, ...first } : { url: renewed, ...(yield* get(renewed)) }
  })

  const fetch = Effect.fnUntraced(function* (due: DueLink) {
    if (due.stored !== undefined) return rowsOf(due.owners, due.stored)
    const host = URL.parse(due.url)?.host ?? ""
    if (silentLinks.isReachedBy(silence.get(host) ?? 0)) return []
    if (due.typeLeftOut !== undefined && !accepts(due.typeLeftOut)) return []
    if (stopped === undefined && there.total >= checkAt) {
      checkAt = there.total + checkBytes
      if (yield* isAlmostFull(folder)) stopped = { _tag: "FilesStopped", why: "disk" }
    }
    if (there.total >= (settings?.maxTotalBytes ?? Infinity)) stopped ??= { _tag: "FilesStopped", why: "total" }
    if (stopped !== undefined) return []
    yield* context.backpressure
    const found = yield* fetched(due)
    silence.set(host, "isUnanswered" in found && found.isUnanswered ? (silence.get(host) ?? 0) + 1 : 0)
    const at = new Date(yield* Clock.currentTimeMillis).toISOString()
    if (found.status === "fetched" && !stored.has(found.path)) {
      stored.add(found.path)
      fresh.push(found.path)
      there.total += found.bytes
    }
    const rows = rowsOf(due.owners, recordOf(due, found, at))
    if (found.status === "fetched")
      yield* Effect.try({
        try: () => note(rows),
        catch: (cause) => fileFailure(folder, "written", cause)
      })
    return rows
  })
  const stop = (why: Stopped) =>
    Effect.sync((): ReadonlyArray<FileRecord> => {
      stopped ??= why
      return []
    })
  /** `fresh`: the paths of the files that were not there before. `stopped`: why no further file is fetched. */
  return { fetch, stop, fresh, stopped: () => stopped }
}

type KnownFile = Effect.Success<ReturnType<typeof knownFiles>>[number]
const isMistaken = Effect.fnUntraced(function* (
  folder: string,
  { bytes, contentType, foundType, name, path, url }: KnownFile
) {
  if (foundType !== null) return false
  const head = yield* headOf(folder, path)
  const received = { head, bytes, found: undefined, announced: contentType ?? undefined, url }
  return contradictionIn(received, { name }) !== undefined
})

const isAlmostFull = (folder: string) =>
  onDisk(folder, "read", async () => {
    const { bavail, blocks, bsize } = await statfs(folder)
    return bavail * bsize < Math.min(reservedBytes, (blocks * bsize) / 20)
  })

/** The link as the record has it now, read alone; `undefined` if it cannot be, or does not have the link. */
const renewedLink = Effect.fnUntraced(function* (
  link: string,
  owner: Owner,
  { company, location, resources }: RunContext
) {
  const resource = resources.find(({ table }) => table === owner.tableName)
  if (resource === undefined) return undefined
  const row = yield* rowOfKey(resource, location, owner.recordId)
  const request = row && requestForRow(resource, row, { location, company })
  if (request === undefined) return undefined
  const none = () => Effect.succeed("")
  const pathTemplate = resource.getOne?.request.path
  const call = { request, priority: 2, resource: "files", ...(pathTemplate !== undefined && { pathTemplate }) } as const
  const text = yield* (yield* Api).send(call).pipe(
    Effect.map(({ bytes }) => bytes.toString("utf8")),
    Effect.catchTags({ Forbidden: none, RequestRejected: none, Unavailable: none })
  )
  const addresses = text.match(/"https?:(?:[^"\\]|\\.)*"/gi)?.map((one): string => JSON.parse(one)) ?? []
  return (yield* sameLinks(addresses, link))[0]
})

const rowsOf = (owners: ReadonlyArray<Owner>, record: FileRecord): ReadonlyArray<FileRecord> =>
  owners.map((owner) => ({ ...owner, ...record }))

/** What the rows of a link say about its file. */
const recordOf = (
  { link, missingSince }: DueLink,
  found: Fetched & { readonly url: string },
  at: string
): FileRecord => {
  if (found.status === "fetched") {
    const { found: foundType, ...file } = found
    return { ...file, foundType, link, fetchedAt: at, checkedAt: at }
  }
  const { isUnanswered: _, ...answer } = found
  const record = { ...answer, link, checkedAt: at }
  // A host may lose a file for an hour: it is gone if it is missing on another day as well.
  if (found.status !== "gone" || missingSince !== undefined) return { ...record, ...(missingSince && { missingSince }) }
  return {
    ...record,
    status: "failed",
    reason: `${found.reason}; it is requested again on another day`,
    missingSince: at
  }
}

const acceptsAmong = (types: ReadonlyArray<string> | undefined): ((type: string) => boolean) => {
  if (types === undefined) return () => true
  const patterns = types.map((type) => type.trim().toLowerCase())
  return (type) => patterns.some((one) => (one.endsWith("/*") ? type.startsWith(one.slice(0, -1)) : type === one))
}
