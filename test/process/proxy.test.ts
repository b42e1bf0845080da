/** Requests leave through the proxy that the environment names, and its credentials are seen nowhere. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { createServer, request as requestOf } from "node:http"
import { createServer as createTls } from "node:https"
import { type AddressInfo, type Server, connect } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { withLake } from "../support/extensions.ts"
import { type Ran, newFolder } from "../support/sluice.ts"
import { type Service, startService } from "../support/service.ts"
import { start } from "../support/process.ts"
import { python } from "../support/python.ts"

const password = "correct%2Fhorse"
const host = "crm.invalid"

/** A server of the test, and its port. */
const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return (server.address() as AddressInfo).port
}

/** A certificate of the host that does not exist. */
const certificate = () => {
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(newFolder(), name)) as [string, string]
  const command = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${host} -addext subjectAltName=DNS:${host}`
  execFileSync("openssl", [...command.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" })
  return { key: readFileSync(key), cert: readFileSync(cert), file: cert }
}

describe("a proxy", () => {
  let service: Service
  let [proxyPort, securePort] = [0, 0]
  const servers: Array<Server> = []
  /** What the proxy was sent: `CONNECT crm.invalid:443`, `POST http://beats.invalid/…`. */
  const seen: Array<string> = []
  let authority = ""

  beforeAll(async () => {
    service = await startService("--contacts", "5", "--limits", "off")
    const { file, ...keys } = certificate()
    authority = file
    const sandbox = new URL(service.url)
    const secure = createTls(keys, (request, response) => {
      const { headers, method, url: path } = request
      const forwarded = requestOf({ host: sandbox.hostname, port: sandbox.port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      request.pipe(forwarded)
    })
    securePort = await listening(secure)
    const isRight = (authorization: string | undefined) =>
      authorization === `Basic ${Buffer.from(`someone:${decodeURIComponent(password)}`).toString("base64")}`
    const proxy = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      request.resume()
      response.writeHead(isRight(request.headers["proxy-authorization"]) ? 200 : 407).end()
    })
    proxy.on("connect", (request, socket) => {
      seen.push(`CONNECT ${request.url}`)
      if (!isRight(request.headers["proxy-authorization"])) return socket.end("HTTP/1.1 407 Who are you\r\n\r\n")
      const upstream = connect(securePort, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        upstream.pipe(socket).pipe(upstream)
      })
      for (const one of [socket, upstream]) one.on("error", () => socket.destroy())
      return undefined
    })
    proxyPort = await listening(proxy)
    servers.push(secure, proxy)
  })
  afterAll(() => {
    service?.stop()
    for (const server of servers) server.close()
  })

  const run = async (
    output: string,
    args: ReadonlyArray<string>,
    more: Readonly<Record<string, string>>
  ): Promise<Ran> => {
    seen.length = 0
    const ran = await start(args, {
      SLUICE_BASE_URL: `https://${host}`,
      SLUICE_TOKEN: service.token,
      SLUICE_LOCATION_ID: service.locationId,
      SLUICE_OUTPUT: output,
      SLUICE_MODELS: "false",
      SLUICE_FORMATS: "duckdb",
      NODE_EXTRA_CA_CERTS: authority,
      ...more
    }).ended
    for (const secret of [password, decodeURIComponent(password)]) {
      assert.notInclude(ran.stdout + ran.stderr, secret)
      for (const name of readdirSync(output, { recursive: true, encoding: "utf8" }))
        if (statSync(join(output, name)).isFile())
          assert.isFalse(readFileSync(join(output, name)).includes(secret), name)
    }
    return ran
  }
  const address = (port = proxyPort, of = `someone:${password}`) => `http://${of}@127.0.0.1:${port}`
  const sync = ["sync", "--only", "contacts,users"]

  it("gets every request to the service, and those to monitoring and buckets", async () => {
    const output = newFolder()
    const config = join(newFolder(), "sluice.toml")
    writeFileSync(
      config,
      `[signals]\nheartbeat_url = "http://beats.invalid/a"\n[[publish]]\nname = "lake"\nfolder = "s3://bucket/crm"\nprofile = "raw"
s3_endpoint = "http://s3.invalid"\ns3_key = "env:S3_KEY"\ns3_secret = "env:S3_KEY"\n`
    )
    const proxies = { HTTPS_PROXY: address(), http_proxy: address(), S3_KEY: "any" }
    await run(output, [...sync, "--config", config], proxies)
    assert.include(seen, `CONNECT ${host}:443`)
    for (const other of ["http://beats.invalid/a/start", "http://s3.invalid/bucket/crm/"])
      assert.isTrue(
        seen.some((one) => one.includes(` ${other}`)),
        `${other}: ${seen.join()}`
      )
    const doctor = await run(output, ["doctor"], proxies)
    assert.match(
      doctor.stdout,
      new RegExp(`proxy +${host} is reached through http://127.0.0.1:${proxyPort} \\(HTTPS_PROXY\\)`)
    )
    assert.match(doctor.stdout, /token +accepted/)
  })

  it.skipIf(python === undefined)("gets the requests of DuckDB for a lake in a bucket", async () => {
    const bucket = { s3_endpoint: "http://s3.invalid", s3_key: "env:S3_KEY", s3_secret: "env:S3_KEY" }
    const config = withLake(python!, { lake: "s3://bucket/lake", ...bucket })
    const requested = async (more: Readonly<Record<string, string>>) => {
      const proxies = { S3_KEY: "any", https_proxy: address(), ...more }
      await run(newFolder(), [...sync, ...config], proxies)
      return seen.filter((one) => one.includes("s3.invalid"))
    }
    assert.isNotEmpty(await requested({ http_proxy: address() }))
    assert.isEmpty(await requested({ HTTP_PROXY: address(), NO_PROXY: "s3.invalid" }))
  })

  it("is not for hosts that NO_PROXY names, and messages of a host that is not reached say so", async () => {
    for (const exceptions of [{ no_proxy: `other, .${host}` }, { NO_PROXY: "*" }]) {
      const ran = await run(newFolder(), sync, { HTTPS_PROXY: address(), ...exceptions })
      assert.strictEqual(ran.code, 78, ran.stderr)
      assert.deepStrictEqual(seen, [])
      assert.notMatch(ran.stderr, /through the proxy/)
    }
    const direct = await run(newFolder(), sync, {
      SLUICE_BASE_URL: service.url,
      HTTP_PROXY: address(),
      no_proxy: "127.0.0.1"
    })
    assert.strictEqual(direct.code, 0, direct.stderr)
    assert.deepStrictEqual(seen, [])
  })

  it("that is not there, refuses the credentials, or is no address, is named", async () => {
    const dead = await run(newFolder(), sync, { HTTPS_PROXY: address(1) })
    assert.strictEqual(dead.code, 78, dead.stderr)
    assert.match(dead.stderr, /ECONNREFUSED.*, through the proxy http:\/\/127\.0\.0\.1:1 \(HTTPS_PROXY\)/)
    const refused = await run(newFolder(), sync, { https_proxy: address(proxyPort, `someone:wrong-${password}`) })
    assert.strictEqual(refused.code, 78, refused.stderr)
    assert.match(
      refused.stderr,
      /The proxy http:\/\/127\.0\.0\.1:\d+ \(https_proxy\) does not accept its user and password/
    )
    for (const wrong of [`ftp://someone:${password}@proxy`, `http://someone:${password}@:`]) {
      const ran = await run(newFolder(), sync, { HTTPS_PROXY: wrong })
      assert.strictEqual(ran.code, 78, ran.stderr)
      assert.match(
        ran.stderr,
        /HTTPS_PROXY has a wrong value; expected an address such as http:\/\/proxy\.example\.com:3128/
      )
    }
    // As other programs read it.
    const bare = await run(newFolder(), sync, { HTTPS_PROXY: `someone:${password}@127.0.0.1:${proxyPort}` })
    assert.strictEqual(bare.code, 0, bare.stderr)
  })
})
