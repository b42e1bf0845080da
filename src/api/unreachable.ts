/** Why no answer came: what another attempt may better, and what only a person can. */
import { type Failure, failure } from "../failure.ts"
import { TransportError } from "./errors.ts"

/** What undici or Node threw at a request to `origin`. */
export const lost = (cause: unknown, origin: string): TransportError | Failure => {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  const code = String((error as NodeJS.ErrnoException).code ?? "")
  const reason = code && !error.message.includes(code) ? `${code}: ${error.message}` : error.message || code
  const { host } = new URL(origin)
  if (certificate.test(code)) return failure({ _tag: "CertificateRejected", host, detail: reason })
  if (isOtherProtocol(code, error))
    return failure({
      _tag: "WrongProtocol",
      host,
      protocol: new URL(origin).protocol === "https:" ? "HTTPS" : "HTTP",
      detail: reason
    })
  return new TransportError({ message: reason, unsent: unsent.test(code) })
}

/** Refused, not found, not routed: the request never left. */
const unsent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT/

/** X.509 codes of OpenSSL as Node names them, and its own for another host's. */
const certificate =
  /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_(GET|DECRYPT|DECODE|VERIFY)|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE))/

/** TLS to a port without it; or HTTP to one with it, which answers with an alert of TLS. */
const isOtherProtocol = (code: string, error: Error & { readonly data?: unknown }): boolean => {
  const begins = String(error.data ?? "")
  const isAlert = error.name === "HTTPParserError" && begins.charCodeAt(0) === 0x15 && begins.charCodeAt(1) === 3
  return (
    isAlert ||
    (/^(ERR_SSL_|EPROTO)/.test(code) && /wrong version number|packet length too long|http request/.test(error.message))
  )
}
