import { usualLimits } from "../../src/values/limits.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { networkInterfaces } from "node:os"
import { isPrivate, linkedText, makeLinks } from "../../src/stages/api/links.ts"
import { advancingClock, serving } from "../support/api-server.ts"

/** The text of a link of a service at `baseUrl`, and the number of requests for it. */
const follow = (baseUrl: string, linkTo: (port: string) => string) =>
  Effect.gen(function* () {
    let requests = 0
    // Without a host, it listens on every address of IPv4, and of IPv6 if the machine has it.
    const url = yield* serving(
      (request, response) => {
        requests++
        if (request.url === "/moved") return void response.writeHead(302, { location: "/text" }).end("elsewhere")
        response.end("text")
      },
      { port: 0 }
    )
    const linked = linkedText(yield* makeLinks(baseUrl, undefined), usualLimits.api.bodyBytes)
    return { text: yield* advancingClock(linked(linkTo(new URL(url).port))), requests }
  }).pipe(Effect.scoped)

describe("a link", () => {
  // Receives no request: an address needs no look-up.
  const outside = "https://93.184.216.34"
  const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === "::1")
  )
  const localHosts = ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0.0.0.0", "127.0.0.2"].concat(
    hasIpv6 ? ["[::ffff:127.0.0.1]", "[::1]"] : []
  )

  it.effect("to the local network is not followed, in any notation of the address", () =>
    Effect.gen(function* () {
      for (const host of localHosts) {
        const link = (port: string) => `http://${host}:${port}/text`
        assert.deepStrictEqual(yield* follow(outside, link), { text: undefined, requests: 0 }, host)
        // The server is there: a service at the same address may link to it.
        const isSame = /^(127.0.0.1|localhost|2130706433|0x7f.1)$/.test(host)
        const expected = isSame ? { text: "text", requests: 1 } : { text: undefined, requests: 0 }
        assert.deepStrictEqual(yield* follow("http://127.0.0.1:1", link), expected, host)
      }
    })
  )

  it.effect("to the local network is followed if the service is there, but its redirects are not", () =>
    Effect.gen(function* () {
      const link = (port: string) => `http://localhost:${port}/text`
      for (const base of ["http://127.0.0.1:1", "http://localhost:1"])
        assert.strictEqual((yield* follow(base, link)).text, "text", base)
      // The local network has other machines than that of the service.
      assert.isUndefined((yield* follow("http://10.1.2.3", link)).text)
      const moved = yield* follow("http://127.0.0.1:1", (port) => `http://127.0.0.1:${port}/moved`)
      assert.isUndefined(moved.text)
    })
  )

  it("is private or public by its address", () => {
    const privateAddresses =
      "127.0.0.1 127.255.0.1 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 100.127.255.255 " +
      "0.0.0.0 255.255.255.255 224.0.0.1 :: ::1 fd00::1 fe80::1 fe80::1%eth0 ::ffff:10.0.0.1 ::ffff:7f00:1 " +
      "::7f00:1 ::ffff:0:10.0.0.1 2001:0:4136:e378:: 2001:db8::1 192.0.2.1 198.51.100.7 203.0.113.9 " +
      "64:ff9b::7f00:1 2002:7f00:1::"
    const publicAddresses = [
      "93.184.216.34",
      "100.63.255.255",
      "100.128.0.1",
      "172.15.0.1",
      "172.32.0.1",
      "2606:2800:220:1::1"
    ]
    assert.deepStrictEqual(
      privateAddresses.split(" ").filter((address) => !isPrivate(address)),
      []
    )
    assert.deepStrictEqual([...publicAddresses, "::ffff:93.184.216.34"].filter(isPrivate), [])
  })
})
