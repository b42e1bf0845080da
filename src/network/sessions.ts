/**
 * Who uses a server: browsers with a session, which began with a link that was printed, or with a password. Every page that a
 * browser shows can send requests to 127.0.0.1, and a name of an attacker can point there (DNS rebinding), so the Host and
 * Origin headers must name this server. Sessions end with the server, unless a file keeps their digests.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import { HttpError, type Role } from "./server.ts"

export interface Session {
  /** The text of the cookie; of a session that an earlier server opened, its digest. */
  readonly id: string
  readonly role: Role
  /** Epoch milliseconds; undefined once it is closed. */
  lastSeen: number | undefined
}

const idleMs = 12 * 3_600_000
/** When a session was last seen is stored this often. */
const savedMs = 3_600_000

/** Whether what follows a session goes on. */
export const isOpen = ({ lastSeen }: Session, now: number): boolean =>
  lastSeen !== undefined && now - lastSeen <= idleMs

export interface SessionsOptions {
  /** Of the cookie. */
  readonly name: string
  /** What is said of another address than those of the server. */
  readonly otherHost: string
  /** What is said without a session. */
  readonly noSession: string
  /** The address that people open, if it is not one of this machine. */
  readonly url: string | undefined
  /** Whether addresses of other machines are served. */
  readonly isPublic: boolean
  readonly now?: () => number
  /** What keeps sessions for the next server: what was written last, and how more is. */
  readonly kept?: { readonly text: string; readonly write: (text: string) => void } | undefined
}

const Kept = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({ id: Schema.String, role: Schema.Literals(["owner", "reader"]), lastSeen: Schema.Number })
  )
)

export const newSessions = ({ isPublic, kept, name, noSession, now = Date.now, otherHost, url }: SessionsOptions) => {
  /** By the digest of the cookie: who reads the file cannot make one. */
  const before = Option.getOrElse(Schema.decodeUnknownOption(Kept)(kept?.text ?? ""), () => [])
  const sessions = new Map<string, Session>(before.map((one) => [one.id, { ...one }]))
  let savedAt = 0
  const save = () => {
    if (kept === undefined) return
    savedAt = now()
    const open = Array.from(sessions).filter(([, session]) => isOpen(session, savedAt))
    kept.write(JSON.stringify(open.map(([id, { lastSeen, role }]) => ({ id, role, lastSeen }))))
  }
  /** With whether it is valid once. */
  const links = new Map<string, boolean>()

  const newSession = (role: Role): Session => {
    const session = { id: randomText(), role, lastSeen: now() }
    sessions.set(keyOf(session.id), session)
    save()
    return session
  }
  /** Browsers share cookies among all ports of a host. */
  const cookieName = ({ socket }: IncomingMessage) => `sluice_${name}_${url === undefined ? socket.localPort : "site"}`
  const isSecure = url?.startsWith("https:") === true

  const isOwnHost = (request: IncomingMessage): boolean => {
    if (url !== undefined && hostOf(request) === new URL(url).host) return true
    return isDirect(request)
  }
  const isDirect = (request: IncomingMessage): boolean => {
    const host = hostOf(request)
    if (ownHosts(request).includes(host)) return true
    // A number is no name that an attacker could let point here.
    return isPublic && url === undefined && isIP(host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1")) > 0
  }

  const close = (session: Session): void => {
    session.lastSeen = undefined
    for (const [key, one] of sessions) if (one === session) sessions.delete(key)
    save()
  }
  const sessionOf = (request: IncomingMessage): Session | undefined => {
    const [session] = cookiesOf(request, cookieName(request)).flatMap((id) => sessions.get(keyOf(id)) ?? [])
    if (session === undefined) return undefined
    if (!isOpen(session, now())) {
      close(session)
      return undefined
    }
    session.lastSeen = now()
    if (session.lastSeen - savedAt > savedMs) save()
    return session
  }

  return {
    /** A token that opens the page. `isOnce`: it may be seen by others, such as in the arguments of a browser. */
    newLink: (isOnce: boolean): string => {
      const link = randomText()
      links.set(link, isOnce)
      return link
    },
    /** Throws for a request of another page, or for another name of this machine. */
    checkOrigin: (request: IncomingMessage): void => {
      const { origin } = request.headers
      if (!isOwnHost(request)) throw new HttpError(403, "host", otherHost)
      const site = url === undefined ? undefined : new URL(url)
      const own = [site?.host === hostOf(request) ? site.origin : `http://${hostOf(request)}`]
      if (isForeign(request, origin, own)) throw new HttpError(403, "origin", "The request comes from another page.")
    },
    newSession,
    sessionOf,
    /** Throws without a session. */
    whoSends: (request: IncomingMessage): Session => {
      const session = sessionOf(request)
      if (session === undefined) throw new HttpError(401, "token", noSession)
      return session
    },
    /** The value of Set-Cookie for a new session. */
    cookieOf: (request: IncomingMessage, { id }: Session): string =>
      `${cookieName(request)}=${id}; Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`,
    /** Not through a proxy: others may read the log that has the link. */
    openByLink: (request: IncomingMessage, given: string | null): Session | undefined => {
      if (!isDirect(request) || ofProxies.some((name) => request.headers[name] !== undefined)) return undefined
      const isOnce = links.get(given ?? "")
      if (isOnce) links.delete(given ?? "")
      return isOnce === undefined ? undefined : newSession("owner")
    },
    close
  }
}

/** Any of them is from a proxy: no browser sends one by itself. */
const ofProxies = [
  ..."forwarded via x-real-ip x-client-ip cf-connecting-ip true-client-ip".split(" "),
  ..."for host proto port server by".split(" ").map((name) => `x-forwarded-${name}`)
]

const hostOf = ({ headers: { host = "" } }: IncomingMessage): string => host.toLowerCase()

const keyOf = (id: string): string => digestOf(id).toString("hex")

const randomText = () => randomBytes(24).toString("base64url")

/** The Host headers that name this machine. */
const ownHosts = ({ socket: { localAddress = "127.0.0.1", localPort } }: IncomingMessage): ReadonlyArray<string> => [
  `localhost:${localPort}`,
  ...["127.0.0.1", "::1", localAddress].map((address) => `${hostText(address)}:${localPort}`)
]

/** An address as the host of an URL. */
export const hostText = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address)

/** Whether another page sends the request. A browser names the page of every request that may change something. */
const isForeign = ({ method }: IncomingMessage, origin: string | undefined, own: ReadonlyArray<string>): boolean =>
  origin === undefined ? method !== "GET" && method !== "HEAD" : !own.includes(origin)

/** All of that name: another port of the host may have set one, too. */
const cookiesOf = ({ headers: { cookie = "" } }: IncomingMessage, name: string): ReadonlyArray<string> =>
  cookie.split(/;\s*/).flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []))

/** Takes the same time for every wrong text of any length. */
export const isEqual = (one: string, other: string): boolean => timingSafeEqual(digestOf(one), digestOf(other))
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest()
