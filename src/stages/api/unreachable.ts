/** Classifies errors of connections: those that a retry may solve, and those that the user must solve. */
import { type Failure, failure } from "../../values/failure.ts"
import { proxyFor, throughProxy } from "../../values/proxy.ts"
import { TransportError } from "./errors.ts"

/** Converts an error of undici or Node for a request to `origin`. `isNew`: nothing has answered at that address yet. */
export const connectionError = (cause: unknown, origin: string, isNew = false): TransportError | Failure => {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  const code = String((error as NodeJS.ErrnoException).code ?? "")
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
