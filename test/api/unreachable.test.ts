/** Addresses for which a retry is useless. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer as createHttp } from "node:http"
import { createServer as createTls } from "node:https"
import { type AddressInfo, type Server, createServer } from "node:net"
import { join } from "node:path"
import { Api } from "../../src/stages/api/api.ts"
import { connectionError } from "../../src/stages/api/exchange.ts"
import { advancingClock, callTo, settingsFor } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const listening = (server: Server): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))),
    () => Effect.sync(() => server.close())
  ).pipe(Effect.map(() => `127.0.0.1:${(server.address() as AddressInfo).port}`))

/** A self-signed certificate for this host. */
const selfSigned = () => {
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(newFolder(), name)) as [string, string]
  const command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
  execFileSync("openssl", [...command.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}
const send = (baseUrl: string, isNew = false) =>
  Effect.flatMap(Api, (api) => api.send(callTo("/x"))).pipe(
    Effect.provide(Api.layer({ ...settingsFor(baseUrl), isNew: () => isNew })),
    Effect.result,
    advancingClock,
    Effect.map((result) => JSON.stringify(result))
  )

describe("an address", () => {
  it.effect("with an untrusted certificate fails after one connection", () =>
    Effect.gen(function* () {
      const server = createTls(selfSigned(), (_, response) => response.end("[]"))
      let connections = 0
      server.on("connection", () => connections++)
      const result = yield* send(`https://${yield* listening(server)}`)
      assert.match(result, /"CertificateRejected","host":"127.0.0.1:\d+"/)
      assert.strictEqual(connections, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("at which no program listens is wrong until it has answered once", () =>
    Effect.gen(function* () {
      const server = createHttp((_, response) => response.end("[]"))
      const address = yield* Effect.scoped(listening(server))
      const results = yield* Effect.forEach([true, false], (isNew) => send(`http://${address}`, isNew))
      assert.match(results[0]!, /"NothingAnswers","host":"127.0.0.1:\d+","detail":".*ECONNREFUSED/)
      assert.match(results[1]!, /"Unavailable".*after 7 attempts.*"later":true/)
      assert.match(
        yield* send("http://no-such-host.invalid", true),
        /"NothingAnswers".*(ENOTFOUND)|"Unavailable".*EAI_AGAIN/
      )
    })
  )

  it.effect("that does not speak TLS, or only TLS, fails after one connection with the expected protocol", () =>
    Effect.gen(function* () {
      let connections = 0
      const plain = createHttp((_, response) => response.end("[]"))
      plain.on("connection", () => connections++)
      assert.match(yield* send(`https://${yield* listening(plain)}`), /"WrongProtocol".*"protocol":"HTTPS"/)
      assert.strictEqual(connections, 1)
      const alerting = createServer((socket) => {
        connections++
        socket.on("error", () => undefined)
        socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 70]))
      })
      assert.match(yield* send(`http://${yield* listening(alerting)}`), /"WrongProtocol".*"protocol":"HTTP"/)
      assert.strictEqual(connections, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("that redirects fails after one request with the address to write, and the token goes nowhere else", () =>
    Effect.gen(function* () {
      let strangers = 0
      const other = yield* listening(createHttp((_, response) => (strangers++, response.end("[]"))))
      for (const [location, expected] of [
        [`http://${other}/x`, `"base":"http://${other}"`],
        [`http://${other}/v2/x?a=1`, `"base":"http://${other}/v2"`],
        ["https://127.0.0.1/", `"base":"https://127.0.0.1"`],
        ["/v2/x", `"base":"http://ADDRESS/v2"`],
        [`http://${other}/login?next=/x`, `"RequestRejected".*302 redirect to http://${other}/login"`],
        ["/x/", `"RequestRejected".*302 redirect to http://ADDRESS/x/"`],
        ["javascript:alert(1)", `"RequestRejected"`],
        ["", `"RequestRejected"`]
      ] as const) {
        let requests = 0
        const address = yield* listening(
          createHttp((_, response) => (requests++, response.writeHead(302, { location }).end("moved")))
        )
        const result = yield* send(`http://${address}`)
        assert.match(result, new RegExp(expected.replaceAll("ADDRESS", address)))
        if (expected.startsWith('"base')) assert.include(result, `"Redirected","from":"http://${address}"`)
        assert.strictEqual(requests, 1)
      }
      assert.strictEqual(strangers, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("that has answered is right, whatever single requests are redirected to", () =>
    Effect.gen(function* () {
      let requests = 0
      const server = createHttp((_, response) =>
        requests++ === 0 ? response.end("{}") : response.writeHead(302, { location: "http://maintenance.test/x" }).end()
      )
      const settings = settingsFor(`http://${yield* listening(server)}`)
      const results = yield* Effect.flatMap(Api, (api) =>
        Effect.forEach([1, 2], () => Effect.result(api.send(callTo("/x"))))
      ).pipe(Effect.provide(Api.layer(settings)), advancingClock)
      assert.match(JSON.stringify(results[1]), /"RequestRejected".*302 redirect to http:\/\/maintenance\.test\/x"/)
    }).pipe(Effect.scoped)
  )

  it("fails for every error of a certificate, and a connection error is known to be sent or unsent", () => {
    const classify = (code: string) => {
      const failure = connectionError(Object.assign(new Error("x"), { code }), "https://api.example")
      return failure._tag === "Failure" ? failure.reason._tag : failure.unsent
    }
    const kinds: ReadonlyArray<readonly [string, string | boolean]> = [
      ["DEPTH_ZERO_SELF_SIGNED_CERT", "CertificateRejected"],
      ["SELF_SIGNED_CERT_IN_CHAIN", "CertificateRejected"],
      ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "CertificateRejected"],
      ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "CertificateRejected"],
      ["CERT_HAS_EXPIRED", "CertificateRejected"],
      ["CERT_NOT_YET_VALID", "CertificateRejected"],
      ["CERT_REVOKED", "CertificateRejected"],
      ["ERR_TLS_CERT_ALTNAME_INVALID", "CertificateRejected"],
      ["ECONNREFUSED", true],
      ["ENOTFOUND", true],
      ["ECONNRESET", false],
      ["UND_ERR_SOCKET", false]
    ]
    for (const [code, expected] of kinds) assert.strictEqual(classify(code), expected, code)
  })
})
