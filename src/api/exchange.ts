/** One request on the wire and its answer: sockets, decompression, time-outs, and why no answer came. */
import { Context, Effect, type Scope } from "effect"
import { Agent, type Dispatcher, interceptors } from "undici"
import { type Failure, fileFailure } from "../failure.ts"
import { TransportError, RequestRejected } from "./errors.ts"
import { DiskTrouble, type FileSink, Unwanted, store } from "./downloads.ts"
import { lost } from "./unreachable.ts"
import { bytesOf, errorTextOf, textOf } from "./response-body.ts"

export interface Received {
  readonly status: number
  readonly headers: Dispatcher.ResponseData["headers"]
  /** Decompressed; nothing where a success is over our limit of size, or an error cannot be read. */
  readonly text: string | undefined
}

export interface Exchange {
  readonly send: (
    options: Omit<Dispatcher.RequestOptions, "origin">,
    file?: Omit<FileSink, "megabytesMax">
  ) => Effect.Effect<Received, TransportError | RequestRejected | Failure>
  /** Something at the address has answered. */
  readonly answered: () => boolean
}

export const timeoutMs = 60_000
/** However steadily it comes: an hour of sound is some 60 MB. */
const fileTimeoutMs = 600_000

export interface ExchangeSettings {
  readonly baseUrl: string
  /** An answer that sends no byte for so long is lost; a minute. */
  readonly idleMs?: number
  /** A larger file is not kept. */
  readonly fileMbMax: number
}

/** Carries the requests in place of our own sockets, to a service in this process. */
export const Transport = Context.Reference<Dispatcher | undefined>("sluice/api/Transport", {
  defaultValue: () => undefined
})

export const makeExchange = Effect.fn("api.exchange")(function* ({
  baseUrl,
  fileMbMax,
  idleMs = timeoutMs
}: ExchangeSettings): Effect.fn.Return<Exchange, never, Scope.Scope> {
  const agent =
    (yield* Transport) ??
    (yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ connections: 24 })),
      (agent) => Effect.promise(() => agent.destroy())
    ))
  const client = decompressed(agent)
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/$/, "")
  let answered = false

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
        if (file === undefined) {
          const bytes = await bytesOf(body)
          return { status, headers, text: bytes && textOf(bytes) }
        }
        const stored = await store(body, headers, { ...file, megabytesMax: fileMbMax })
        return { status, headers, text: JSON.stringify(stored) }
      },
      catch: (cause) => {
        if (cause instanceof DiskTrouble) return fileFailure(file!.target.name, "written", cause)
        if (cause instanceof Unwanted) return new RequestRejected({ status: 200, message: cause.message })
        return lost(cause, origin)
      }
    }).pipe(
      Effect.timeoutOrElse({
        duration: file === undefined ? timeoutMs : fileTimeoutMs,
        orElse: () => Effect.fail(new TransportError({ message: "no answer in time", unsent: false }))
      }),
      Effect.tap(() => Effect.sync(() => (answered = true)))
    )

  return { send, answered: () => answered }
})

/** The interceptor announces itself as experimental on every start; that is no news for the user. */
export const decompressed = (dispatcher: Dispatcher): Dispatcher => {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    // Errors too: what they mean stands in their words.
    return dispatcher.compose(interceptors.decompress({ skipErrorResponses: false }))
  } finally {
    process.emitWarning = emitWarning
  }
}
