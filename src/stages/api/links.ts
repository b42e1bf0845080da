/**
 * Connections to the hosts to which records link. A link could lead to a private network that the service cannot reach but
 * sluice can, so only public addresses are connected to, and those of the service itself.
 */
import type { Limit } from "../../values/limits.ts"
import { Effect, Schedule, type Scope } from "effect"
import { lookup } from "node:dns/promises"
import { BlockList, type LookupFunction, isIP, isIPv6 } from "node:net"
import { type Dispatcher, EnvHttpProxyAgent, request } from "undici"
import { FileRejected } from "../../output/stored-files.ts"
import { proxyFor, agentOptions } from "../../network/proxy.ts"
import { decompressed, timeoutMs } from "./exchange.ts"
import { bytesOf } from "./response-body.ts"

export interface Links {
  /** Decompresses what arrives. */
  readonly dispatcher: Dispatcher
  /** Rejects with `FileRejected` for a URL that must not be requested. Names are checked again when they are connected to. */
  readonly check: (url: URL) => Promise<void>
}

/** Requests to one host at a time. */
const connectionsMax = 16

/** A dispatcher sends requests to a service in this process, and addresses are then not checked. */
export const makeLinks = Effect.fn("api.links")(function* (
  baseUrl: string,
  dispatcher: Dispatcher | undefined
): Effect.fn.Return<Links, never, Scope.Scope> {
  const base = new URL(baseUrl)
  const agent =
    dispatcher ??
    (yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new EnvHttpProxyAgent({
            connections: connectionsMax,
            connect: { lookup: guardedLookup(base.hostname) },
            ...agentOptions()
          })
      ),
      (agent) => Effect.promise(() => agent.destroy())
    ))
  return {
    dispatcher: decompressed(agent),
    check: async (url) => {
      if (url.protocol !== "https:" && (url.protocol !== "http:" || base.protocol !== "http:"))
        throw new FileRejected(`it leads to ${url.protocol.slice(0, -1)}, which is not requested`, "not public")
      // A numeric address is connected to without the lookup function that checks names, and a proxy looks names up itself.
      const host = withoutBrackets(url.hostname)
      if (dispatcher === undefined && (isIP(host) || proxyFor(url.href)))
        await allowedAmong(base.hostname, await addressesOf(host))
    }
  }
})

/** Fetches the text at a URL, without the token; `undefined` if it cannot be fetched. Does not follow redirects. */
export const linkedText = ({ check, dispatcher }: Links, limit: Limit) =>
  Effect.fn("api.linkedText")((url: string) =>
    Effect.tryPromise(async (signal) => {
      await check(new URL(url))
      const { statusCode, body } = await request(url, { dispatcher, headers: { accept: "*/*" }, signal })
      const bytes = await bytesOf(body, limit)
      if (statusCode !== 200 || bytes === undefined) throw new Error(`status ${statusCode}`)
      return bytes.toString("utf8")
    }).pipe(
      Effect.timeout(timeoutMs),
      Effect.retry({ times: 2, schedule: Schedule.exponential(500) }),
      Effect.catch(() => Effect.succeed(undefined))
    )
  )

/** Resolves and checks a name for one connection, because a second lookup could return another address. */
const guardedLookup =
  (baseHost: string): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true })
      .then(async (found) => {
        const allowed = await allowedAmong(baseHost, found)
        if (options.all) callback(null, allowed)
        else callback(null, allowed[0]!.address, allowed[0]!.family)
      })
      .catch((cause: NodeJS.ErrnoException) => callback(cause, []))
  }

/** The public addresses, and those of the service itself. Throws if there is none. */
const allowedAmong = async <One extends { readonly address: string }>(
  baseHost: string,
  found: ReadonlyArray<One>
): Promise<Array<One>> => {
  const own = found.some(({ address }) => isPrivate(address))
    ? (await lookup(withoutBrackets(baseHost), { all: true })).map(({ address }) => address)
    : []
  const allowed = found.filter(({ address }) => !isPrivate(address) || own.includes(address))
  if (allowed.length === 0 && found.length > 0) throw new FileRejected("the address is not public", "not public")
  return allowed
}

/** None if only the proxy can resolve the name. */
const addressesOf = (host: string) => lookup(host, { all: true }).catch(() => [])

const withoutBrackets = (host: string) => host.replaceAll(/^\[|\]$/g, "")

/** Whether an address cannot be reached from the internet. An IPv4-mapped IPv6 address counts as the IPv4 address. */
export const isPrivate = (address: string): boolean => {
  const plain = address.replace(/%.*/s, "")
  return notPublic.check(plain, isIPv6(plain) ? "ipv6" : "ipv4")
}

const notPublic = new BlockList()
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["192.0.2.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Multicast, reserved and broadcast.
  ["224.0.0.0", 3]
] as const)
  notPublic.addSubnet(network, prefix, "ipv4")
for (const [network, prefix] of [
  // Some systems take these for IPv4 addresses: compatible and translated ones.
  ["::", 96],
  ["::ffff:0:0:0", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  // Gateways translate these to IPv4 addresses, which cannot be checked here.
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
  // Teredo, and what is for documents only.
  ["2001::", 32],
  ["2001:db8::", 32]
] as const)
  notPublic.addSubnet(network, prefix, "ipv6")
