/**
 * Who may use the console. A browser of this machine comes with the token of the printed link; anybody else with a password.
 * Sessions are in memory, so they end with the server.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import { promisify } from "node:util"
import { cookieOf, isEqual, isForeign, ownHosts } from "../explore/access.ts"
import { HttpError } from "../explore/http.ts"

/** `reader`: sees everything, and starts nothing. */
export type Role = "owner" | "reader"

export interface Session {
  readonly id: string
  readonly role: Role
  lastSeen: number
}

export interface Passwords {
  /** Secrets, or hashes as `hashOf` makes them. */
  readonly owner: string | undefined
  readonly reader: string | undefined
}

interface Options {
  readonly passwords: () => Passwords
  /** Of the setting console.url. */
  readonly url: string | undefined
  readonly trustedProxies: ReadonlyArray<string>
  /** Whether addresses of other machines are served. */
  readonly isPublic: boolean
  readonly now?: () => number
}

export type Access = ReturnType<typeof newAccess>

const idleMs = 12 * 3_600_000
/** So many wrong passwords of one client cost nothing but the check. */
const freeAttempts = 5
const waitMsMax = 60_000
/** Each check takes 64 MB for a moment. */
const waitingMax = 5
const clientsMax = 10_000

export const newAccess = ({ isPublic, now = Date.now, passwords, trustedProxies, url }: Options) => {
  const sessions = new Map<string, Session>()
  /** With whether it is valid once. */
  const links = new Map<string, boolean>()
  const wrong = new Map<string, { count: number; until: number }>()
  let checks: Promise<unknown> = Promise.resolve()
  let waiting = 0

  const newSession = (role: Role): Session => {
    const session = { id: randomText(), role, lastSeen: now() }
    sessions.set(session.id, session)
    return session
  }
  const cookieName = ({ socket }: IncomingMessage) => `sluice_console_${url === undefined ? socket.localPort : "site"}`
  const isSecure = url?.startsWith("https:") === true

  /** Wrong passwords are counted by client; only proxies that the settings name speak for another. */
  const clientOf = ({ headers, socket: { remoteAddress = "" } }: IncomingMessage): string => {
    const direct = remoteAddress.replace(/^::ffff:/, "")
    const forwarded = String(headers["x-forwarded-for"] ?? "").split(",")
    return trustedProxies.includes(direct) ? forwarded.at(-1)!.trim() || direct : direct
  }

  const isOwnHost = (request: IncomingMessage): boolean => {
    const { host = "" } = request.headers
    if (ownHosts(request).includes(host)) return true
    if (url !== undefined) return host === new URL(url).host
    // A number is no name that an attacker could let point here.
    return isPublic && isIP(host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1")) > 0
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
      const { host = "", origin } = request.headers
      if (!isOwnHost(request))
        throw new HttpError(
          403,
          "host",
          "This address is not one of the console. Open the printed one, or set console.url."
        )
      const own = [`http://${host}`, ...(url === undefined ? [] : [new URL(url).origin])]
      if (isForeign(request, origin, own)) throw new HttpError(403, "origin", "The request comes from another page.")
    },
    sessionOf: (request: IncomingMessage): Session | undefined => {
      const session = sessions.get(cookieOf(request, cookieName(request)) ?? "")
      if (session === undefined || now() - session.lastSeen > idleMs) {
        if (session) sessions.delete(session.id)
        return undefined
      }
      session.lastSeen = now()
      return session
    },
    /** The value of Set-Cookie for a new session. */
    cookieOf: (request: IncomingMessage, { id }: Session): string =>
      `${cookieName(request)}=${id}; Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`,
    openByLink: (given: string | null): Session | undefined => {
      const isOnce = links.get(given ?? "")
      if (isOnce) links.delete(given ?? "")
      return isOnce === undefined ? undefined : newSession("owner")
    },
    hasPassword: () => passwords().owner !== undefined || passwords().reader !== undefined,
    /** Throws if the password is wrong, or if too many were. */
    openByPassword: async (request: IncomingMessage, given: string): Promise<Session> => {
      const client = clientOf(request)
      const before = wrong.get(client)
      if ((before && before.until > now()) || waiting >= waitingMax)
        throw new HttpError(429, "later", "Too many wrong passwords: wait a minute, then try again.")
      waiting++
      // One after the other: the check is made to be slow.
      const checked = checks.then(() => roleOf(given, passwords()))
      checks = checked.catch(() => {})
      const role = await checked.finally(() => waiting--)
      if (role !== undefined) {
        wrong.delete(client)
        return newSession(role)
      }
      if (wrong.size > clientsMax) wrong.clear()
      const count = (wrong.get(client)?.count ?? 0) + 1
      const delay = count < freeAttempts ? 0 : Math.min(1000 * 2 ** (count - freeAttempts), waitMsMax)
      wrong.set(client, { count, until: now() + delay })
      throw new HttpError(401, "password", "The password is wrong.")
    },
    close: ({ id }: Session): void => void sessions.delete(id)
  }
}

const randomText = () => randomBytes(24).toString("base64url")

const roleOf = async (given: string, { owner, reader }: Passwords): Promise<Role | undefined> =>
  (await isPassword(given, owner)) ? "owner" : (await isPassword(given, reader)) ? "reader" : undefined

const hashBytes = 32
const hashed = promisify<string, Buffer, number, { readonly N: number; readonly maxmem: number }, Buffer>(scrypt)
const cost = { N: 2 ** 15, maxmem: 64 * 1024 * 1024 }

const isPassword = async (given: string, stored: string | undefined): Promise<boolean> => {
  if (stored === undefined) return false
  const [, salt, hash] = /^scrypt:([\w-]+):([\w-]+)$/.exec(stored) ?? []
  if (salt === undefined || hash === undefined) return isEqual(given, stored)
  const expected = Buffer.from(hash, "base64url")
  const found = await hashed(given, Buffer.from(salt, "base64url"), hashBytes, cost)
  return expected.length === hashBytes && timingSafeEqual(found, expected)
}

/** `scrypt:SALT:HASH`, from which the password cannot be read. */
export const hashOf = async (password: string): Promise<string> => {
  const salt = randomBytes(16)
  return `scrypt:${salt.toString("base64url")}:${(await hashed(password, salt, hashBytes, cost)).toString("base64url")}`
}

export const passwordLengthMin = 12
