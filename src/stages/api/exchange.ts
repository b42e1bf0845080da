/** One HTTP request and its response: connections, decompression, time-outs and transport errors. */
import { Context, Effect } from "effect"
import { type Dispatcher, EnvHttpProxyAgent, interceptors } from "undici"
import { type Failure, fileFailure } from "../../values/failure.ts"
import { proxyOptions } from "../../values/proxy.ts"
import { TransportError, RequestRejected } from "./errors.ts"
import { DiskError, type FileSink, FileRejected, store } from "./downloads.ts"
import { connectionError } from "./unreachable.ts"
import type { ExchangeSettings } from "../../settings/account.ts"
import { bytesOf, errorTextOf, textOf } from "./response-body.ts"

export interface Received {
  readonly status: number
  readonly headers: Dispatcher.ResponseData["headers"]
  /** The decompressed body; `undefined` if a successful response is too large, or if an error response cannot be read. */
  readonly text: string | undefined
}

export interface Exchange {
  readonly send: (
    options: Omit<Dispatcher.RequestOptions, "origin">,
    file?: Omit<FileSink, "megabytesMax">
  ) => Effect.Effect<Received, TransportError | RequestRejected | Failure>
  /** Whether the service has responded at least once. */
  readonly hasResponded: () => boolean
}

export const timeoutMs = 60_000
/** Limit for a whole download, even while bytes arrive. An hour of audio is about 60 MB. */
const fileTimeoutMs = 600_000

/** A dispatcher to use instead of connections, for a service in this process. */
export const Transport = Context.Reference<Dispatcher | undefined>("sluice/api/Transport", {
  defaultValue: () => undefined
})

export const makeExchange = Effect.fn("api.exchange")(function* ({
  baseUrl,
  fileMbMax,
  idleMs = timeoutMs,
  isNew = () => false
}: ExchangeSettings) {
  const agent =
    (yield* Transport) ??
    (yield* Effect.acquireRelease(
      Effect.sync(() => new EnvHttpProxyAgent({ connections: 24, ...proxyOptions() })),
      (agent) => Effect.promise(() => agent.destroy())
    ))
  const client = decompressed(agent)
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/$/, "")
  let hasResponded = false

  const send: Exchange["send"] = (options, file) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await client.request({
          ...options,
          origin,
          path: prefix + options.path,
          signal,
          headersTimeout: idleMs,
          bodyTimeout: idleMs
        })
        const { statusCode: status, headers, body } = response
        if (status >= 300 || status === 206)
          return { status, headers, text: await errorTextOf(body, headers["content-encoding"]) }
        // A page or a JSON text in place of a file is an error.
        if (file === undefined || /json|text|xml/i.test(String(headers["content-type"]))) {
          const bytes = await bytesOf(body)
          return { status, headers, text: bytes && textOf(bytes) }
        }
        const stored = await store(body, headers, { ...file, megabytesMax: fileMbMax })
        return { status, headers, text: JSON.stringify(stored) }
      },
      catch: (cause) => {
        if (cause instanceof DiskError) return fileFailure(file!.target.name, "written", cause)
        if (cause instanceof FileRejected) return new RequestRejected({ status: 200, message: cause.message })
        return connectionError(cause, origin, !hasResponded && isNew())
      }
    }).pipe(
      Effect.timeoutOrElse({
        duration: file === undefined ? timeoutMs : fileTimeoutMs,
        orElse: () => Effect.fail(new TransportError({ message: "no response in time", unsent: false }))
      }),
      Effect.tap(() => Effect.sync(() => (hasResponded = true)))
    )

  return { send, hasResponded: () => hasResponded }
})

/** Adds decompression. Suppresses the warning of the interceptor that it is experimental, which is of no use to users. */
export const decompressed = (dispatcher: Dispatcher): Dispatcher => {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    // Error responses must be decompressed too, because their messages are evaluated.
    return dispatcher.compose(interceptors.decompress({ skipErrorResponses: false }))
  } finally {
    process.emitWarning = emitWarning
  }
}
