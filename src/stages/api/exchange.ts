/** One HTTP request and its response: connections, decompression, time-outs and transport errors. */
import { Limits } from "../../values/limits.ts"
import { Context, Effect } from "effect"
import { type Dispatcher, EnvHttpProxyAgent, interceptors } from "undici"
import { Failure, fileFailure, failure } from "../../values/failure.ts"
import { agentOptions, proxyFor, throughProxy } from "../../network/proxy.ts"
import { TransportError, RequestRejected } from "./errors.ts"
import { DiskError, FileRejected, IncomingFile } from "../../output/stored-files.ts"
import { contradictionOf } from "./file-evidence.ts"
import { headerOf, lengthIn } from "./http.ts"
import { isRedirect, redirectIn } from "./redirect.ts"
import type { ExchangeSettings } from "../../settings/account.ts"
import { bytesOf, errorOf, utf8Of } from "./response-body.ts"
import { codeOf } from "../../values/thrown.ts"

export interface Received {
  readonly status: number
  readonly headers: Dispatcher.ResponseData["headers"]
  /** The decompressed body as UTF-8; `undefined` if a successful response is too large, or if an error cannot be read. */
  readonly bytes: Buffer | undefined
}

export interface Exchange {
  readonly send: (
    options: Omit<Dispatcher.RequestOptions, "origin">,
    /** For a response that is a file: the output folder, and texts that it must not contain. */
    file?: { readonly folder: string; readonly forbidden: ReadonlyArray<string> }
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
  fileBytesMax,
  idleMs = timeoutMs,
  isNew = () => false
}: ExchangeSettings) {
  const agent =
    (yield* Transport) ??
    (yield* Effect.acquireRelease(
      Effect.sync(() => new EnvHttpProxyAgent({ connections: 24, ...agentOptions() })),
      (agent) => Effect.promise(() => agent.destroy())
    ))
  const client = decompressed(agent)
  const { api: limits } = yield* Limits
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/$/, "")
  let hasResponded = false
  /** A service that has answered has the right address, and sends single requests elsewhere, for example during its maintenance. */
  let hasAnswered = false

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
        const redirect = isRedirect(status) ? redirectIn(headers, baseUrl, options.path) : undefined
        if (redirect?.base !== undefined && file === undefined && !hasAnswered) {
          await body.dump()
          throw failure({ _tag: "Redirected", from: origin, base: redirect.base })
        }
        hasAnswered ||= !isRedirect(status)
        if (status >= 300 || status === 206)
          return { status, headers, bytes: await errorOf(body, headers["content-encoding"], limits.errorBytes) }
        // A page or a JSON text in place of a file is an error.
        if (file === undefined || /json|text|xml/i.test(String(headers["content-type"]))) {
          const bytes = await bytesOf(body, limits.bodyBytes)
          return { status, headers, bytes: bytes && utf8Of(bytes) }
        }
        return { status, headers, bytes: await stored(response, file, fileBytesMax) }
      },
      catch: (cause) => {
        if (cause instanceof Failure) return cause
        if (cause instanceof DiskError) return fileFailure(file!.folder, "written", cause)
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

/** Stores a recording, by the same judge as all other files, and describes it in JSON. */
const stored = async (
  { body, headers }: Dispatcher.ResponseData,
  { folder, forbidden }: { readonly folder: string; readonly forbidden: ReadonlyArray<string> },
  bytesMax: number
): Promise<Buffer> => {
  const incoming = new IncomingFile(folder, bytesMax, forbidden)
  try {
    incoming.expect(lengthIn(headers))
    for await (const chunk of body) incoming.write(chunk)
    const announced = headerOf(headers, "content-type")
    const contradiction = await contradictionOf(incoming, announced, "", { type: "audio/*" })
    if (contradiction !== undefined) throw new FileRejected(contradiction)
    const { found: _, ...file } = await incoming.keep()
    return Buffer.from(JSON.stringify({ ...file, content_type: announced ?? "" }))
  } finally {
    incoming.discard()
  }
}

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

/** Converts an error of undici or Node for a request to `origin`. `isNew`: nothing has answered at that address yet. */
export const connectionError = (cause: unknown, origin: string, isNew = false): TransportError | Failure => {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  const code = codeOf(error) ?? ""
  const said = code && !error.message.includes(code) ? `${code}: ${error.message}` : error.message || code
  const reason = said + throughProxy(origin)
  const proxy = proxyFor(origin)
  const { host } = new URL(origin)
  if (proxy !== undefined && /\(407\)/.test(said)) return failure({ _tag: "ProxyRefuses", proxy, detail: said })
  if (certificateCode.test(code)) return failure({ _tag: "CertificateRejected", host, detail: reason })
  if (isOtherProtocol(code, error))
    return failure({
      _tag: "WrongProtocol",
      host,
      protocol: new URL(origin).protocol === "https:" ? "HTTPS" : "HTTP",
      detail: reason
    })
  if (isNew && absentCode.test(code)) return failure({ _tag: "NothingAnswers", host, detail: reason })
  return new TransportError({ message: reason, unsent: unsentCode.test(code) })
}

/** Codes of errors that occur before a connection exists. */
const unsentCode = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT/

/** Codes of a name that does not exist, and of a port on which no program listens. */
const absentCode = /^(ENOTFOUND|ECONNREFUSED)$/

/** Codes of Node for certificate errors: those of OpenSSL, and its own for a certificate of another host. */
const certificateCode =
  /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_(GET|DECRYPT|DECODE|VERIFY)|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE))/

/** Whether TLS was sent to a port without TLS, or HTTP to a port with TLS, which responds with a TLS alert. */
const isOtherProtocol = (code: string, error: Error & { readonly data?: unknown }): boolean => {
  const start = String(error.data ?? "")
  const isAlert = error.name === "HTTPParserError" && start.charCodeAt(0) === 0x15 && start.charCodeAt(1) === 3
  return (
    isAlert ||
    (/^(ERR_SSL_|EPROTO)/.test(code) && /wrong version number|packet length too long|http request/.test(error.message))
  )
}
