/**
 * Who may use the server: a browser of this machine that was given the token. Every page that the browser shows can send
 * requests to 127.0.0.1, and a name of an attacker can point there (DNS rebinding), so the Host and Origin headers must
 * name this server, and the cookie must have the token.
 */
import { randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"

export type Access = ReturnType<typeof newAccess>

/** `port`: of the server, once it listens. */
export const newAccess = (port: () => number) => {
  const newToken = () => randomBytes(24).toString("base64url")
  const token = newToken()
  const singleUse = new Set<string>()
  // Browsers share cookies among all ports of a host.
  const cookieName = () => `sluice_explore_${port()}`
  const hosts = () => [`127.0.0.1:${port()}`, `localhost:${port()}`]
  return {
    token,
    /** A token that is valid once: the arguments of a browser that is started can be read by other users of the machine. */
    newSingleUseToken: () => {
      const one = newToken()
      singleUse.add(one)
      return one
    },
    /** Changes the state of nothing; says why a request is refused. */
    refusalOf: ({ headers: { host = "", origin, cookie = "" }, method }: IncomingMessage) => {
      if (!hosts().includes(host)) return "host"
      const isReading = method === "GET" || method === "HEAD"
      if (origin === undefined ? !isReading : origin !== `http://${host}`) return "origin"
      const value = cookie
        .split(/;\s*/)
        .find((pair) => pair.startsWith(`${cookieName()}=`))
        ?.slice(cookieName().length + 1)
      return value !== undefined && isEqual(value, token) ? undefined : "token"
    },
    /** The value of Set-Cookie for a request whose address has the right token. */
    cookieFor: ({ headers: { host = "" } }: IncomingMessage, given: string | null) =>
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
