/** Addresses that no other attempt makes better. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer as createTls } from "node:https"
import { type AddressInfo, type Server, createServer } from "node:net"
import { join } from "node:path"
import { Api } from "../../src/api/api.ts"
import { lost } from "../../src/api/unreachable.ts"
import { callTo, hurried, serving, settingsFor } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const listening = (server: Server): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))),
    () => Effect.sync(() => server.close())
  ).pipe(Effect.map(() => `127.0.0.1:${(server.address() as AddressInfo).port}`))

/** A certificate for this host that nobody else vouches for. */
const selfSigned = () => {
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(newFolder(), name)) as [string, string]
  const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
  execFileSync("openssl", [...words.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}
const send = (baseUrl: string) =>
  Effect.flatMap(Api, (api) => api.send(callTo("/x"))).pipe(
    Effect.provide(Api.layer(settingsFor(baseUrl))),
    Effect.result,
    hurried,
    Effect.map((result) => JSON.stringify(result))
  )

describe("an address", () => {
  it.effect("whose certificate is not accepted ends the run at once, with what to do", () =>
    Effect.gen(function* () {
      const server = createTls(selfSigned(), (_, response) => response.end("[]"))
      let connections = 0
      server.on("connection", () => connections++)
      const result = yield* send(`https://${yield* listening(server)}`)
      assert.match(result, /"CertificateRejected","host":"127.0.0.1:\d+"/)
      assert.strictEqual(connections, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("that speaks no TLS, or nothing else, ends the run at once", () =>
    Effect.gen(function* () {
      const plain = yield* serving((_, response) => response.end("[]"))
      assert.match(yield* send(plain.replace("http:", "https:")), /"WrongProtocol".*"protocol":"HTTPS"/)
      const alerting = createServer((socket) => {
        socket.on("error", () => undefined)
        socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 70]))
      })
      assert.match(yield* send(`http://${yield* listening(alerting)}`), /"WrongProtocol".*"protocol":"HTTP"/)
    }).pipe(Effect.scoped)
  )

  it("is judged by the reason: certificates by every name they have, and what may pass is tried again", () => {
    const told = (code: string) => {
      const failure = lost(Object.assign(new Error("x"), { code }), "https://api.example")
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
    for (const [code, expected] of kinds) assert.strictEqual(told(code), expected, code)
  })
})
