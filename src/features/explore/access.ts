/**
 * Who may use the server: a browser of this machine that was given the token. Every page that the browser shows can send
 * requests to 127.0.0.1, and a name of an attacker can point there (DNS rebinding), so the Host and Origin headers must
 * name this server, and the cookie must have the token.
 */
import { randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"

export const newAccess = () => {
  const newToken = () => randomBytes(24).toString("base64url")
  const token = newToken()
  const singleUse = new Set<string>()
  return {
    token,
    /** A token that is valid once: the arguments of a browser that is started can be read by other users of the machine. */
    newSingleUseToken: () => {
      const one = newToken()
      singleUse.add(one)
      return one
    },
    /** Changes the state of nothing; says why a request is refused. */
    refusalOf: (request: IncomingMessage) => {
      const { host = "", origin } = request.headers
      if (!ownHosts(request).includes(host)) return "host"
      if (isForeign(request, origin, [`http://${host}`])) return "origin"
      const value = cookieOf(request, cookieName(request))
      return value !== undefined && isEqual(value, token) ? undefined : "token"
    },
    /** The value of Set-Cookie for a request whose address has the right token. */
    cookieFor: (request: IncomingMessage, given: string | null) =>
      ownHosts(request).includes(request.headers.host ?? "") &&
      given !== null &&
      (isEqual(given, token) || singleUse.delete(given))
        ? `${cookieName(request)}=${token}; Path=/; HttpOnly; SameSite=Strict`
        : undefined
  }
}

/** Browsers share cookies among all ports of a host. */
const cookieName = ({ socket }: IncomingMessage) => `sluice_explore_${socket.localPort}`

/** The Host headers that name this machine. */
export const ownHosts = ({ socket: { localPort } }: IncomingMessage): ReadonlyArray<string> => [
  `127.0.0.1:${localPort}`,
  `localhost:${localPort}`
]

/** Whether another page sends the request. A browser names the page of every request that may change something. */
export const isForeign = (
  { method }: IncomingMessage,
  origin: string | undefined,
  own: ReadonlyArray<string>
): boolean => (origin === undefined ? method !== "GET" && method !== "HEAD" : !own.includes(origin))

export const cookieOf = ({ headers: { cookie = "" } }: IncomingMessage, name: string): string | undefined =>
  cookie
    .split(/;\s*/)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)

/** Takes the same time for every wrong text. */
export const isEqual = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
