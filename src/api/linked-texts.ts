/**
 * Texts on other hosts that an answer links to, fetched without the token. The service names the address, so it may name
 * one in our own network that it could not reach itself: those are refused, by the address that is connected to.
 */
import { Effect, Schedule, type Scope } from "effect"
import { lookup } from "node:dns/promises"
import { BlockList, type LookupFunction, isIP, isIPv6 } from "node:net"
import { Agent, type Dispatcher, request } from "undici"
import { decompressed, timeoutMs } from "./exchange.ts"
import { bytesOf } from "./response-body.ts"

/** The text at an address, or nothing where it does not come. Redirects are not followed. */
export type Linked = (url: string) => Effect.Effect<string | undefined>

/** With a dispatcher, requests go to a service in this process instead of over sockets. */
export const makeLinked = Effect.fn("api.linked.make")(function* (
  baseUrl: string,
  dispatcher: Dispatcher | undefined
): Effect.fn.Return<Linked, never, Scope.Scope> {
  const agent =
    dispatcher ??
    (yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ connections: 24, connect: { lookup: guarded(new URL(baseUrl).hostname) } })),
      (agent) => Effect.promise(() => agent.destroy())
    ))
  const client = decompressed(agent)
  return Effect.fn("api.linked")((url: string) =>
    Effect.tryPromise(async (signal) => {
      // An address that is a number is connected to without a look-up.
      const host = bare(new URL(url).hostname)
      if (dispatcher === undefined && isIP(host)) await checked(new URL(baseUrl).hostname, [host])
      const { statusCode, body } = await request(url, { dispatcher: client, headers: { accept: "*/*" }, signal })
      const bytes = await bytesOf(body)
      if (statusCode !== 200 || bytes === undefined) throw new Error(`status ${statusCode}`)
      return bytes.toString("utf8")
    }).pipe(
      Effect.timeout(timeoutMs),
      Effect.retry({ times: 2, schedule: Schedule.exponential(500) }),
      Effect.catch(() => Effect.succeed(undefined))
    )
  )
})

/** What is connected to is what was checked: a name may lead elsewhere the next time. */
const guarded =
  (baseHost: string): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true })
      .then(async (found) => {
        await checked(
          baseHost,
          found.map(({ address }) => address)
        )
        const [first] = found
        if (options.all) callback(null, found)
        else callback(null, first!.address, first!.family)
      })
      .catch((cause: NodeJS.ErrnoException) => callback(cause, []))
  }

/** Where the service itself is in our own network, so is what it links to. */
const checked = async (baseHost: string, addresses: ReadonlyArray<string>): Promise<void> => {
  if (!addresses.some(isPrivate)) return
  const base = await lookup(bare(baseHost), { all: true })
  if (!base.some(({ address }) => isPrivate(address))) throw new Error("an address that is not public")
}

const bare = (host: string) => host.replaceAll(/^\[|\]$/g, "")

/** Not reached from the internet. An IPv4 address within an IPv6 one is judged as itself. */
export const isPrivate = (address: string): boolean => {
  const plain = address.split("%")[0]!
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
  ["198.18.0.0", 15],
  // Multicast, reserved and broadcast.
  ["224.0.0.0", 3]
] as const)
  notPublic.addSubnet(network, prefix, "ipv4")
for (const [network, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  // Translated to an IPv4 address on the way, which then is not seen here.
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16]
] as const)
  notPublic.addSubnet(network, prefix, "ipv6")
