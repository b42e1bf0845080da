/**
 * Fetches the file behind a link: follows redirects to public addresses, continues where a connection broke if the host
 * allows it, and says in one of few words how it ended.
 */
import { pipeline } from "node:stream"
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import type { Dispatcher } from "undici"
import { DiskError, type IncomingFile, type StoredFile, headBytes, receiveFile } from "../../output/stored-files.ts"
import { FileRejected, FileTooLarge, headerOf, lengthIn, receiveBody } from "./downloads.ts"
import { commonHeaders, timeOf } from "./http.ts"
import { type Links, NotPublic } from "./links.ts"

/** What a host says of a file: where all three are the same, the file is. */
export interface Validators {
  readonly etag: string | undefined
  readonly lastModified: string | undefined
  readonly bytes: number | undefined
}

export type Fetched =
  | ({ readonly status: "fetched"; readonly contentType: string | undefined } & StoredFile & Omit<Validators, "bytes">)
  | { readonly status: "unchanged" }
  | {
      readonly status: "gone" | "refused" | "too large" | "not public" | "not chosen" | "failed"
      readonly reason: string
      /** As announced. */
      readonly bytes?: number | undefined
      readonly contentType?: string | undefined
      /** Whether no host answered at all. */
      readonly isUnanswered?: boolean
    }

export interface FileRequest {
  readonly url: string
  /** The output folder. */
  readonly folder: string
  readonly bytesMax: number
  /** Whether files of a MIME type are stored. */
  readonly accepts: (type: string) => boolean
  /** Whether the file with a path is known to be there. */
  readonly isStored?: (path: string) => boolean
  /** Of a file that is stored already by another link, and may be the same. */
  readonly known?: Validators | undefined
  /** Headers for hosts that may have them, such as those of the API. */
  readonly headersFor?: (url: URL) => Readonly<Record<string, string>>
  /** Texts that the file must not contain. */
  readonly secrets?: Iterable<string>
  readonly attemptsMax?: number
  readonly signal: AbortSignal
}

const redirectsMax = 5
/** Attempts that bring no further byte, before a file is given up. */
const attemptsDefault = 3
const idleMs = 30_000
/** For one file, even while bytes arrive. */
const downloadMsMax = 3_600_000
/** A host that asks for a longer wait is asked again by the next run. */
const waitMsMax = 30_000

/** Rejects only with `DiskError`, and if it is aborted. */
export const fetchFile = async (links: Links, request: FileRequest): Promise<Fetched> => {
  const incoming = receiveFile(request.folder)
  let last = "it could not be fetched"
  let partial: Partial | undefined
  let isUnanswered = true
  try {
    for (let attempts = 0; attempts < (request.attemptsMax ?? attemptsDefault);) {
      const before = incoming.bytes()
      try {
        const answer = await attempt(links, request, incoming, partial)
        if (!("retry" in answer)) return answer
        isUnanswered = false
        last = answer.retry
        if (answer.waitMs > waitMsMax) break
        await sleep(answer.waitMs || 250 * 2 ** attempts, undefined, { signal: request.signal })
      } catch (cause) {
        if (cause instanceof DiskError || request.signal.aborted) throw cause
        const ended = endOf(cause)
        if (ended !== undefined) return ended
        last = cause instanceof Interrupted ? cause.message : messageOf(cause)
        partial = cause instanceof Interrupted ? cause.partial : undefined
        isUnanswered &&= !(cause instanceof Interrupted)
        if (last === "ENOTFOUND") break
      }
      attempts = incoming.bytes() > before ? 0 : attempts + 1
    }
    return { status: "failed", reason: last, isUnanswered }
  } finally {
    await incoming.discard()
  }
}

/** What is known of a file of which the first bytes were received, if its host can send the others alone. */
interface Partial {
  readonly validator: string
  readonly total: number | undefined
}

class Interrupted extends Error {
  readonly partial: Partial | undefined
  constructor(message: string, partial: Partial | undefined) {
    super(message)
    this.partial = partial
  }
}

type Again = { readonly retry: string; readonly waitMs: number }

const attempt = async (
  links: Links,
  request: FileRequest,
  incoming: IncomingFile,
  partial: Partial | undefined
): Promise<Fetched | Again> => {
  const { known } = request
  if (partial === undefined) await incoming.restart()
  const range =
    partial === undefined ? undefined : { range: `bytes=${incoming.bytes()}-`, "if-range": partial.validator }
  const { body, headers, statusCode } = await follow(links, request, range)
  const isRest = statusCode === 206 && startOf(headers) === incoming.bytes()
  if (statusCode !== 200 && !isRest) {
    await body.dump({ limit: 64 * 1024 }).catch(() => {})
    if (statusCode === 416 && partial) throw new Error("the host announces more bytes than it sends")
    return afterStatus(statusCode, headers)
  }
  if (!isRest) await incoming.restart()
  const [etag, lastModified] = [headerOf(headers, "etag"), headerOf(headers, "last-modified")]
  const bytes = lengthIn(headers)
  const contentType = headerOf(headers, "content-type")
  if (!isRest && known && isSame(known, { etag, lastModified, bytes })) {
    abandon(body)
    return { status: "unchanged" }
  }
  const encoding = headerOf(headers, "content-encoding")?.toLowerCase() ?? "identity"
  const strong = etag?.startsWith("W/") ? undefined : etag
  const validator = strong ?? lastModified
  const isResumable = encoding === "identity" && headerOf(headers, "accept-ranges") === "bytes"
  const total = isRest ? partial!.total : bytes
  try {
    await receiveBody(
      decoded(body, encoding),
      judged(incoming, request, contentType),
      { bytesMax: request.bytesMax, secrets: request.secrets ?? [] },
      encoding === "identity" ? bytes : 0
    )
  } catch (cause) {
    abandon(body)
    if (cause instanceof FileRejected || cause instanceof DiskError) throw cause
    throw new Interrupted(messageOf(cause), isResumable && validator ? { validator, total } : undefined)
  }
  if (encoding === "identity" && total !== undefined && incoming.bytes() !== total)
    throw new Error("the host sends another number of bytes than it announces")
  await judge(incoming, request, contentType)
  return { status: "fetched", ...(await incoming.keep(request.isStored)), contentType, etag, lastModified }
}

/** Ends the connection. What it still reports is of no interest. */
const abandon = (body: Readable) => void body.on("error", () => {}).destroy()

class NotChosen extends FileRejected {
  readonly contentType: string
  constructor(contentType: string) {
    super(`files.types leaves out ${contentType}`)
    this.contentType = contentType
  }
}

const judge = async (incoming: IncomingFile, { accepts }: FileRequest, sent: string | undefined) => {
  const type = (await incoming.type())?.mime ?? plainType(sent)
  if (!accepts(type)) throw new NotChosen(type)
}

/** Ends a file of a type that is not wanted with its first bytes, and one that never ends. */
const judged = (
  incoming: IncomingFile,
  request: FileRequest,
  sent: string | undefined,
  endsAt = performance.now() + downloadMsMax
): IncomingFile => ({
  ...incoming,
  write: async (chunk) => {
    if (performance.now() > endsAt) throw new FileRejected("it takes longer than an hour")
    const before = incoming.bytes()
    await incoming.write(chunk)
    if (before < headBytes && incoming.bytes() >= headBytes) await judge(incoming, request, sent)
  }
})

/** Sends the request, and those to which it is redirected. Every address is checked. */
const follow = async (
  { check, dispatcher }: Links,
  { headersFor, signal, url }: FileRequest,
  headers: Readonly<Record<string, string>> = {}
): Promise<Dispatcher.ResponseData> => {
  let target = parsed(url, undefined)
  for (let redirects = 0; ; redirects++) {
    await check(target)
    const response = await dispatcher.request({
      origin: target.origin,
      path: target.pathname + target.search,
      method: "GET",
      headers: {
        "user-agent": commonHeaders["user-agent"],
        accept: "*/*",
        "accept-encoding": "identity",
        ...headers,
        ...headersFor?.(target)
      },
      signal,
      headersTimeout: idleMs,
      bodyTimeout: idleMs
    })
    const location = headerOf(response.headers, "location")
    if (![301, 302, 303, 307, 308].includes(response.statusCode) || location === undefined) return response
    await response.body.dump({ limit: 64 * 1024 }).catch(() => {})
    if (redirects === redirectsMax) throw new FileRejected(`it is redirected more than ${redirectsMax} times`)
    target = parsed(location, target)
  }
}

const parsed = (url: string, base: URL | undefined): URL => {
  const target = URL.parse(url, base?.href)
  if (target === null) throw new FileRejected("it is not an address")
  // Credentials in an address would be sent to whoever wrote it.
  ;[target.username, target.password] = ["", ""]
  return target
}

const afterStatus = (status: number, headers: Dispatcher.ResponseData["headers"]): Fetched | Again => {
  const reason = `the host answers ${status}`
  if (status === 404 || status === 410) return { status: "gone", reason }
  if (status === 401 || status === 403) return { status: "refused", reason }
  if (status === 408 || status === 429 || status >= 500) {
    const after = headerOf(headers, "retry-after")?.trim() ?? ""
    const waitMs = /^\d{1,6}$/.test(after)
      ? Number(after) * 1000
      : Math.max(0, Date.parse(after) - (timeOf(headers) ?? Number.NaN))
    return { retry: reason, waitMs: waitMs || 0 }
  }
  return { status: "failed", reason }
}

/** How a file ends that no further attempt would bring; `undefined` if one may. */
const endOf = (cause: unknown): Fetched | undefined => {
  if (cause instanceof NotPublic) return { status: "not public", reason: cause.message }
  if (cause instanceof FileTooLarge) return { status: "too large", reason: cause.message, bytes: cause.bytes }
  if (cause instanceof NotChosen) return { status: "not chosen", reason: cause.message, contentType: cause.contentType }
  return cause instanceof FileRejected ? { status: "failed", reason: cause.message } : undefined
}

/** Without any of the three, two files of the same name may differ. */
const isSame = (known: Validators, now: Validators): boolean =>
  known.etag !== undefined &&
  known.lastModified !== undefined &&
  known.bytes !== undefined &&
  known.etag === now.etag &&
  known.lastModified === now.lastModified &&
  known.bytes === now.bytes

/** The first byte of a partial answer. */
const startOf = (headers: Dispatcher.ResponseData["headers"]): number | undefined => {
  const start = /^bytes (\d+)-/.exec(headerOf(headers, "content-range") ?? "")?.[1]
  return start === undefined ? undefined : Number(start)
}

/** A host may compress what was asked for as it is. The limit of bytes counts what comes out. */
const decoded = (body: Readable, encoding: string): AsyncIterable<Buffer> => {
  const decoder = decoders[encoding]?.()
  if (decoder === undefined) {
    if (encoding !== "identity") throw new FileRejected("it is compressed in an unknown way")
    return body
  }
  return pipeline(body, decoder, () => {})
}

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream & AsyncIterable<Buffer>>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress
}

const plainType = (contentType: string | undefined): string =>
  contentType?.split(";")[0]!.trim().toLowerCase() || "application/octet-stream"

const messageOf = (cause: unknown): string => {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  return typeof code === "string" ? code : String(message ?? cause)
}
