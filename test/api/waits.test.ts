/** Waits that the service names are heard by every request, whatever the status; and what requests share fails once. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createSecureServer } from "node:http2"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { Api } from "../../src/stages/api/api.ts"
import { advancingClock, callTo, serving, settingsFor } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

describe("Retry-After", () => {
  it.effect.each([400, 403, 500, 502, 503])("of a %i is waited for by all requests", (status) =>
    Effect.gen(function* () {
      let [requests, downUntil] = [0, Infinity]
      const clock = yield* Clock.Clock
      const url = yield* serving((_, response) => {
        requests++
        const now = clock.currentTimeMillisUnsafe()
        if (downUntil === Infinity) downUntil = now + 40_000
        return now < downUntil
          ? response.writeHead(status, { "retry-after": "40" }).end("<html>maintenance")
          : response.end("[]")
      })
      const sent = yield* Effect.flatMap(Api, (api) =>
        Effect.forEach(Array.from({ length: 30 }), (_, n) => Effect.result(api.send(callTo(`/x${n}`))), {
          concurrency: 12
        })
      ).pipe(Effect.provide(Api.layer(settingsFor(url))), (sending) => advancingClock(sending, 2000))
      assert.isTrue(sent.every(({ _tag }) => _tag === "Success"))
      assert.isAtMost(requests, 30 + 12, "only those in flight are refused")
    }).pipe(Effect.scoped)
  )

  it.effect("of more than an hour ends with the time at which it is over", () =>
    Effect.gen(function* () {
      const url = yield* serving((_, response) => response.writeHead(503, { "retry-after": "7200" }).end())
      const result = yield* Effect.flatMap(Api, (api) => api.send(callTo("/x"))).pipe(
        Effect.provide(Api.layer(settingsFor(url))),
        Effect.result,
        advancingClock
      )
      assert.match(JSON.stringify(result), /"BudgetExhausted".*wait of 1(19|20) minutes.*"resumeAt":\d+/)
    }).pipe(Effect.scoped)
  )
})

describe("a service that prefers HTTP/2", () => {
  /** Offers both protocols, and ends each third connection with all that is on it. */
  const bothProtocols = Effect.fnUntraced(function* () {
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(newFolder(), name)) as [string, string]
    const command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    const names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    execFileSync("openssl", [...command.split(" "), ...names, "-keyout", key, "-out", cert], { stdio: "ignore" })
    const trusted = getCACertificates("default")
    const met = { versions: new Set<string>(), requests: 0 }
    const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert), allowHTTP1: true })
    server.on("request", (request, response) => {
      met.versions.add(request.httpVersion)
      if (++met.requests % 5 === 0) return void request.socket.destroy()
      response.end("[]")
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.sync(() => {
          setDefaultCACertificates(trusted)
          server.close()
        })
    )
    setDefaultCACertificates([...trusted, readFileSync(cert, "utf8")])
    return { met, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }
  })

  it.effect("is spoken to by HTTP/1.1: a connection that is lost fails one request, which is sent again", () =>
    Effect.gen(function* () {
      const { met, url } = yield* bothProtocols()
      const sent = yield* Effect.flatMap(Api, (api) =>
        Effect.forEach(Array.from({ length: 60 }), (_, n) => Effect.result(api.send(callTo(`/x${n}`))), {
          concurrency: 12
        })
      ).pipe(Effect.provide(Api.layer(settingsFor(url))), advancingClock)
      assert.isTrue(sent.every(({ _tag }) => _tag === "Success"))
      assert.deepStrictEqual([...met.versions], ["1.1"])
      assert.isAtMost(met.requests, 60 * 1.25 + 1, "each loss costs one request")
    }).pipe(Effect.scoped)
  )
})
