/**
 * Fetches the file behind a link: follows redirects to public addresses, continues where a connection broke if the host
 * allows it, and says in one of few words how it ended.
 */
import type { Limit, Limits } from "../../values/limits.ts"
import { setTimeout as sleep } from "node:timers/promises"
import type { Dispatcher } from "undici"
import { DiskError, FileRejected, IncomingFile, type StoredFile, headBytes } from "../../output/stored-files.ts"
import { type Said, contradictionOf } from "./file-evidence.ts"
import { type Headers, commonHeaders, headerOf, lengthIn, retryAfterMs } from "./http.ts"
import { isRedirect } from "./redirect.ts"
import type { Links } from "./links.ts"
import { codeOf, messageOf } from "../../values/thrown.ts"

/** What a host says of the version of a file at an address. */
interface Validators {
  readonly etag: string | undefined
  readonly lastModified: string | undefined
  readonly bytes: number | undefined
}

export type Fetched =
  | ({ readonly status: "fetched"; readonly contentType: string | undefined } & StoredFile & Omit<Validators, "bytes">)
  | {
      readonly status: "gone" | "refused" | FileRejected["status"]
      readonly reason: string
      /** What the host announced. */
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
  /** The paths of files that are known to be there, as they should be. */
  readonly stored?: ReadonlySet<string>
  /** What the record says of the file. */
  readonly said?: Said
  /** Headers for hosts that may have them, such as those of the API. */
  readonly headersFor?: (url: URL) => Readonly<Record<string, string>>
  /** Is told of every answer, redirects included. */
  readonly heard?: (url: URL, answer: Answer) => void
  /** Texts that the file must not contain. */
  readonly forbidden?: ReadonlyArray<string>
  /** Attempts that bring no further byte, before the file is given up. */
  readonly attempts?: Limit
  readonly signal: AbortSignal
}

const idleMs = 30_000
const ignoredBytesMax = 64 * 1024
/** The limit for one file, even while bytes arrive. */
const downloadMsMax = 3_600_000

/** Rejects only with `DiskError`, and if it is aborted. */
export const fetchFile = async (links: Links, request: FileRequest, limits: Limits["api"]): Promise<Fetched> => {
  const { attempts: most = limits.fileAttempts, bytesMax, folder, forbidden, signal } = request
  const incoming = new IncomingFile(folder, bytesMax, forbidden)
  const progress: Progress = { isUnanswered: true, partial: undefined, endsAt: performance.now() + downloadMsMax }
  let last = "it could not be fetched"
  let furthest = 0
  try {
    for (let attempts = 0; !most.isReachedBy(attempts);) {
      let waitMs = 0
      try {
        const answer = await attempt(links, request, incoming, progress, limits)
        if (!("retry" in answer)) return answer
        last = answer.retry
        if (limits.hostWaitMs.isExceededBy(answer.waitMs)) break
        waitMs = answer.waitMs || 250 * 2 ** attempts
      } catch (cause) {
        if (cause instanceof FileRejected) return { status: cause.status, reason: cause.message, ...cause.about }
        if (cause instanceof DiskError || signal.aborted) throw cause
        last = reasonOf(cause)
        if (last === "ENOTFOUND") break
      }
      // A host that begins anew again and again gets no further.
      attempts = incoming.bytes > furthest ? 0 : attempts + 1
      furthest = Math.max(furthest, incoming.bytes)
      if (waitMs > 0 && attempts < most.value) await sleep(waitMs, undefined, { signal })
    }
    return { status: "failed", reason: last, isUnanswered: progress.isUnanswered }
  } finally {
    incoming.discard()
  }
}

/** What the attempts to fetch a file have shown. */
interface Progress {
  /** Whether no host has answered. */
  isUnanswered: boolean
  /** Of a file whose host can send what is missing alone. */
  partial: { readonly validator: string; readonly total: number } | undefined
  readonly endsAt: number
}

type Again = { readonly retry: string; readonly waitMs: number }

const attempt = async (
  links: Links,
  request: FileRequest,
  incoming: IncomingFile,
  progress: Progress,
  limits: Limits["api"]
): Promise<Fetched | Again> => {
  const { partial } = progress
  const range = partial && { range: `bytes=${incoming.bytes}-`, "if-range": partial.validator }
  progress.partial = undefined
  let total: number | undefined
  let isTaken = false
  const { headers, status } = await follow(links, request, range, limits, ({ headers, status }, stop) => {
    progress.isUnanswered = false
    const now = validatorsIn(headers)
    const isRest = status === 206 && isRestOf(partial, now, headers, incoming.bytes)
    if (status !== 200 && !isRest) {
      // A part of another version: begin anew.
      if (status === 206) incoming.restart()
      return undefined
    }
    if (!isRest) incoming.restart()
    isTaken = true
    // What a host compresses is decompressed on its way, and has no length then.
    if ((headerOf(headers, "content-encoding") ?? "identity").toLowerCase() !== "identity")
      throw new FileRejected("it is compressed in an unknown way")
    incoming.expect(now.bytes)
    total = isRest ? partial!.total : now.bytes
    const validator = (now.etag?.startsWith("W/") ? undefined : now.etag) ?? now.lastModified
    const isResumable = validator !== undefined && total !== undefined && headerOf(headers, "accept-ranges") === "bytes"
    if (isResumable) progress.partial = { validator, total: total! }
    return (chunk) => {
      if (performance.now() > progress.endsAt) throw new FileRejected("it takes longer than an hour")
      const before = incoming.bytes
      incoming.write(chunk)
      // A file of a type that is not wanted ends with its first bytes.
      if (before < headBytes && incoming.bytes >= headBytes) judge(incoming, request, headers).catch(stop)
    }
  })
  if (!isTaken) {
    if (status === 416 && partial) throw new Error("the host announces more bytes than it sends")
    if (status === 206) throw new Error("the host sent a part of another version")
    return afterStatus(status, headers)
  }
  progress.partial = undefined
  if (total !== undefined && incoming.bytes !== total)
    throw new Error("the host sends another number of bytes than it announces")
  await judge(incoming, request, headers)
  const contentType = headerOf(headers, "content-type")
  const contradiction = await contradictionOf(incoming, contentType, request.url, request.said ?? {})
  if (contradiction !== undefined)
    throw new FileRejected(contradiction, "failed", { ...(contentType && { contentType }) })
  const { etag, lastModified } = validatorsIn(headers)
  return { status: "fetched", ...(await incoming.keep(request.stored)), contentType, etag, lastModified }
}

const judge = async (incoming: IncomingFile, { accepts }: FileRequest, headers: Headers) => {
  const contentType = (await incoming.type())?.mime ?? plainType(headerOf(headers, "content-type"))
  if (!accepts(contentType))
    throw new FileRejected(`files.types leaves out ${contentType}`, "not chosen", { contentType })
}

interface Answer {
  readonly status: number
  readonly headers: Headers
}

/** Takes the body piece by piece; `undefined` if it is of no interest. `stop` ends the connection. */
type Begin = (answer: Answer, stop: (cause: Error) => void) => ((chunk: Buffer) => void) | undefined

/** Sends the request, and those to which it is redirected. Every address is checked. */
const follow = async (
  { check, dispatcher }: Links,
  { headersFor, heard, signal, url }: FileRequest,
  headers: Readonly<Record<string, string>> = {},
  limits: Limits["api"],
  begin: Begin
): Promise<Answer> => {
  let target = parsed(url, undefined)
  for (let redirects = 0; ; redirects++) {
    await check(target)
    const options = {
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
      headersTimeout: idleMs,
      bodyTimeout: idleMs
    } as const
    let location: string | undefined
    const answer = await send(dispatcher, options, signal, (answer, stop) => {
      heard?.(target, answer)
      location = redirectIn(answer)
      return location === undefined ? begin(answer, stop) : undefined
    })
    if (location === undefined) return answer
    if (limits.redirects.isReachedBy(redirects))
      throw new FileRejected(`it is redirected more than ${limits.redirects.value} times`)
    target = parsed(location, target)
  }
}

const redirectIn = ({ headers, status }: Answer): string | undefined =>
  isRedirect(status) ? headerOf(headers, "location") : undefined

/** Streams of undici would cost as much as everything else about a small file. */
const send = (dispatcher: Dispatcher, options: Dispatcher.DispatchOptions, signal: AbortSignal, begin: Begin) =>
  new Promise<Answer>((resolve, reject) => {
    let answer: Answer | undefined
    let take: ReturnType<Begin>
    let ignoredBytes = 0
    let abort = () => {}
    dispatcher.dispatch(options, {
      onRequestStart: (controller) => {
        abort = () => controller.abort(signal.reason)
        if (signal.aborted) abort()
        else signal.addEventListener("abort", abort)
      },
      onResponseStart: (controller, status, headers) => {
        if (status < 200) return
        answer = { status, headers }
        take = begin(answer, (cause) => controller.abort(cause))
        if (take === undefined) resolve(answer)
      },
      onResponseData: (_, chunk) => {
        if (take !== undefined) return take(chunk)
        ignoredBytes += chunk.length
        // The end of a short body lets the connection be used again.
        if (ignoredBytes > ignoredBytesMax) throw new Error("the rest is of no interest")
      },
      onResponseEnd: () => {
        signal.removeEventListener("abort", abort)
        resolve(answer!)
      },
      onResponseError: (_, cause) => {
        signal.removeEventListener("abort", abort)
        reject(cause)
      }
    })
  })

const parsed = (url: string, base: URL | undefined): URL => {
  const target = URL.parse(url, base?.href)
  if (target === null) throw new FileRejected("it is not an address")
  // Credentials in an address would be sent to whoever wrote it.
  ;[target.username, target.password] = ["", ""]
  return target
}

const afterStatus = (status: number, headers: Headers): Fetched | Again => {
  const reason = `the host answers ${status}`
  if (status === 404 || status === 410) return { status: "gone", reason }
  if (status === 401 || status === 403) return { status: "refused", reason }
  if (status === 408 || status === 429 || status >= 500) return { retry: reason, waitMs: retryAfterMs(headers) ?? 0 }
  return { status: "failed", reason }
}

/** Whether a partial answer continues the first part: the same version and the same size, from its end on. */
const isRestOf = (partial: Progress["partial"], now: Validators, headers: Headers, bytes: number): boolean => {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headerOf(headers, "content-range") ?? "") ?? []
  return (
    partial !== undefined &&
    Number(start) === bytes &&
    Number(total) === partial.total &&
    [now.etag, now.lastModified].includes(partial.validator)
  )
}

const validatorsIn = (headers: Headers): Validators => ({
  etag: headerOf(headers, "etag"),
  lastModified: headerOf(headers, "last-modified"),
  bytes: lengthIn(headers)
})

const plainType = (contentType: string | undefined): string =>
  (contentType ?? "").replace(/;.*/s, "").trim().toLowerCase() || "application/octet-stream"

const reasonOf = (cause: unknown): string => codeOf(cause) ?? messageOf(cause)
