/** Who may use the console: a browser of this machine comes with the token of the printed link; anybody else with a password. */
import { usualLimits } from "../../values/limits.ts"
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import { promisify } from "node:util"
import { HttpError, type Role } from "../../network/server.ts"
import { type Session, type SessionsOptions, isEqual, newSessions } from "../../network/sessions.ts"

export interface Passwords {
  /** Secrets, or hashes as `hashOf` makes them. */
  readonly owner: string | undefined
  readonly reader: string | undefined
}

interface Options extends Pick<SessionsOptions, "isPublic" | "kept" | "now"> {
  readonly passwords: () => Passwords
  /** Of the setting console.url. */
  readonly url: string | undefined
  readonly trustedProxies: ReadonlyArray<string>
}

export type Access = ReturnType<typeof newAccess>

/** So many wrong passwords of one client cost nothing but the check. */
const freeAttempts = 5
const waitMsMax = 60_000

export const newAccess = (
  { isPublic, kept, now = Date.now, passwords, trustedProxies, url }: Options,
  { networks, passwordChecks } = usualLimits.serve
) => {
  const sessions = newSessions({
    name: "console",
    isPublic,
    kept,
    now,
    url,
    otherHost: "This address is not one of the console. Open the printed one, or set console.url.",
    noSession: "The session has ended: open the page again."
  })
  const wrong = new Map<string, { count: number; until: number }>()
  /** Networks from which a password was right. */
  const known = new Set<string>()
  /** A network from which somebody came in does not wait for the others. */
  const waiting = new Set<string>()
  let checks: Promise<unknown> = Promise.resolve()

  /** Wrong passwords are counted by network; only proxies that the settings name speak for another. */
  const networkOf = ({ headers, socket: { remoteAddress = "" } }: IncomingMessage): string => {
    const direct = remoteAddress.replace(/^::ffff:/, "")
    const forwarded = String(headers["x-forwarded-for"] ?? "").split(",")
    return prefixOf((trustedProxies.includes(direct) && forwarded.at(-1)?.trim()) || direct)
  }

  return {
    ...sessions,
    hasPassword: () => passwords().owner !== undefined || passwords().reader !== undefined,
    /** Throws if the password is wrong, or if too many were. */
    openByPassword: async (request: IncomingMessage, given: string): Promise<Session> => {
      const network = networkOf(request)
      const before = wrong.get(network)
      const isCrowded = waiting.has(network) || (!known.has(network) && passwordChecks.isReachedBy(waiting.size))
      if ((before && before.until > now()) || isCrowded)
        throw new HttpError(429, "later", "Too many wrong passwords: wait a minute, then try again.")
      waiting.add(network)
      // One after the other: the check is made to be slow.
      const checked = checks.then(() => roleOf(given, passwords()))
      checks = checked.catch(() => {})
      const role = await checked.finally(() => waiting.delete(network))
      wrong.delete(network)
      if (role !== undefined) {
        known.add(network)
        return sessions.newSession(role)
      }
      const [oldest = ""] = wrong.keys()
      if (networks.isReachedBy(wrong.size)) wrong.delete(oldest)
      const count = (before?.count ?? 0) + 1
      const delay = count < freeAttempts ? 0 : Math.min(1000 * 2 ** (count - freeAttempts), waitMsMax)
      wrong.set(network, { count, until: now() + delay })
      throw new HttpError(401, "password", "The password is wrong.")
    }
  }
}

/** Who has an address of IPv6 has its whole /64. */
const prefixOf = (address: string): string => {
  if (isIP(address) !== 6) return address
  const [head = "", tail] = address.toLowerCase().split("::")
  const [before = [], after = []] = [head, tail].map((part) => (part ? part.split(":") : []))
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0")
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")
}

const roleOf = async (given: string, { owner, reader }: Passwords): Promise<Role | undefined> =>
  (await isPassword(given, owner)) ? "owner" : (await isPassword(given, reader)) ? "reader" : undefined

export const passwordLengthMin = 12
const hashBytes = 32
const hashed = promisify<string, Buffer, number, { readonly N: number; readonly maxmem: number }, Buffer>(scrypt)
const cost = { N: 2 ** 15, maxmem: 64 * 1024 * 1024 }

const isPassword = async (given: string, stored: string | undefined): Promise<boolean> => {
  // The file of the password may be emptied, or cut, while the server runs.
  if (stored === undefined || stored.length < passwordLengthMin) return false
  const [, salt, hash] = /^scrypt:([\w-]+):([\w-]+)$/.exec(stored) ?? []
  if (salt === undefined || hash === undefined) return isEqual(given, stored)
  const expected = Buffer.from(hash, "base64url")
  const found = await hashed(given, Buffer.from(salt, "base64url"), hashBytes, cost)
  return expected.length === hashBytes && timingSafeEqual(found, expected)
}

/** Whether a text is a hash that a password can have. */
export const isHash = (text: string): boolean => /^scrypt:[\w-]{22}:[\w-]{43}$/.test(text)

/** `scrypt:SALT:HASH`, from which the password cannot be read. */
export const hashOf = async (password: string): Promise<string> => {
  const salt = randomBytes(16)
  return `scrypt:${salt.toString("base64url")}:${(await hashed(password, salt, hashBytes, cost)).toString("base64url")}`
}
