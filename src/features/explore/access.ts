/**
 * Who may use the server: a browser of this machine that was given the token. Every page that the browser shows can send
 * requests to 127.0.0.1, and a name of an attacker can point there (DNS rebinding), so the Host and Origin headers must
 * name this server, and the cookie must have the token.
 */
import { randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"

export interface Access {
  readonly token: string
  /** A token that is valid once: the arguments of a browser that is started can be read by other users of the machine. */
  readonly newSingleUseToken: () => string
  /** Changes the state of nothing; says why a request is refused. */
  readonly refusalOf: (request: IncomingMessage) => "host" | "origin" | "token" | undefined
  /** The value of Set-Cookie for a request whose address has the right token. */
  readonly cookieFor: (request: IncomingMessage, token: string | null) => string | undefined
}

/** `port`: of the server, once it listens. */
export const newAccess = (port: () => number): Access => {
  const newToken = () => randomBytes(24).toString("base64url")
  const token = newToken()
  const singleUse = new Set<string>()
  // Browsers share cookies among all ports of a host.
  const cookieName = () => `sluice_explore_${port()}`
  const hosts = () => [`127.0.0.1:${port()}`, `localhost:${port()}`]
  return {
    token,
    newSingleUseToken: () => {
      const one = newToken()
      singleUse.add(one)
      return one
    },
    refusalOf: ({ headers: { host = "", origin, cookie = "" }, method }) => {
      if (!hosts().includes(host)) return "host"
      const isReading = method === "GET" || method === "HEAD"
      if (origin === undefined ? !isReading : origin !== `http://${host}`) return "origin"
      const value = cookie
        .split(/;\s*/)
        .find((pair) => pair.startsWith(`${cookieName()}=`))
        ?.slice(cookieName().length + 1)
      return value !== undefined && isEqual(value, token) ? undefined : "token"
    },
    cookieFor: ({ headers: { host = "" } }, given) =>
      hosts().includes(host) && given !== null && (isEqual(given, token) || singleUse.delete(given))
        ? `${cookieName()}=${token}; Path=/; HttpOnly; SameSite=Strict`
        : undefined
  }
}

/** Takes the same time for every wrong text. */
const isEqual = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
