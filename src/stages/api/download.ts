/** Fetches files to which records link. Only the service itself gets the token, and then a file costs a request. */
import { type Limits, limitTo } from "../../values/limits.ts"
import { Clock, Effect } from "effect"
import { type Failure, fileFailure } from "../../values/failure.ts"
import { type Attempts, rateLimitIn } from "./attempts.ts"
import type { Retry } from "./classify.ts"
import { type ApiError, BudgetExhausted, type TransportError } from "./errors.ts"
import type { Received } from "./exchange.ts"
import { type Fetched, type FileRequest, fetchFile } from "./fetch-file.ts"
import { commonHeaders } from "./http.ts"
import type { Links } from "./links.ts"

export type Download = Pick<FileRequest, "url" | "folder" | "accepts" | "stored" | "said">

interface Downloads {
  readonly attempts: Attempts
  readonly limits: Limits["api"]
  readonly links: Links
  /** Of the service itself. */
  readonly origin: string
  readonly bytesMax: number
  /** Epoch milliseconds. */
  readonly deadline: number
}

const once = limitTo(1)

export const makeDownload = ({ attempts, bytesMax, deadline, limits, links, origin }: Downloads) => {
  const fetched = (request: Download, own: Partial<FileRequest>) =>
    Effect.tryPromise({
      try: (signal) => fetchFile(links, { ...request, bytesMax, ...own, signal }, limits),
      catch: (cause) => fileFailure(request.folder, "written", cause)
    })

  /** Asks the service itself once, and hears its status: that of the last answer may be of another host. */
  const ask = (request: Download, resource: string, token: string) => {
    let own: Pick<Received, "status" | "headers"> = { status: 0, headers: {} }
    const requested = Effect.suspend(() => {
      attempts.counted(resource)
      const headers = { authorization: `Bearer ${token}`, version: commonHeaders.version }
      return fetched(request, {
        headersFor: (url): Readonly<Record<string, string>> => (url.origin === origin ? headers : {}),
        heard: (url, answer) => {
          if (url.origin === origin) own = answer
        },
        forbidden: attempts.forbidden(),
        attempts: once
      }).pipe(Effect.map((result) => ({ result, ...own })))
    })
    return attempts.inSlot(2, requested, rateLimitIn)
  }

  /** The newest token with which the service refused a file. */
  let refusedToken: string | undefined
  /** Why to ask again, or the result. */
  const resultOf = Effect.fnUntraced(function* (
    { result, status }: { readonly result: Fetched; readonly status: number },
    token: string
  ): Effect.fn.Return<Fetched | Retry, ApiError | TransportError | Failure> {
    const answer = { message: "reason" in result ? result.reason : "", ...(status > 0 && { answered: status }) }
    if (status === 429) return { retry: "after the window", ...answer }
    // A token that could not be renewed for one file is not renewed for the next one.
    if (status === 401 && (token !== refusedToken || token !== (yield* attempts.token))) {
      refusedToken = token
      if ((yield* attempts.renewal(token)) !== "none") return { retry: "soon", ...answer }
    }
    return result.status === "failed" ? { retry: "soon", ...answer } : result
  })

  return Effect.fnUntraced(function* (
    request: Download,
    resource: string
  ): Effect.fn.Return<Fetched, ApiError | Failure> {
    if ((yield* Clock.currentTimeMillis) >= deadline)
      return yield* new BudgetExhausted({ message: "the deadline has passed" })
    if (URL.parse(request.url)?.origin !== origin) return yield* fetched(request, {})
    let found: Fetched = { status: "failed", reason: "the service could not be requested", isUnanswered: true }
    const attempt = Effect.gen(function* () {
      const token = yield* attempts.token
      const answered = yield* ask(request, resource, token)
      found = answered.result
      return yield* resultOf(answered, token)
    })
    const noControl = () => Effect.succeed("nothing" as const)
    return yield* attempts.repeated(attempt, limits.fileAttempts, undefined, noControl).pipe(
      // One file is no proof that the token is invalid: the next request for records is.
      Effect.catchTags({ BadCredentials: () => Effect.succeed(found), Unavailable: () => Effect.succeed(found) })
    )
  })
}
