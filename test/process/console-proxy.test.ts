/** The console behind the proxies of deploy/console, as Debian has them: who is let in, what is sent at once, who is counted. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../../src/features/fleet/commands/free-port.ts"
import { programOf } from "../support/programs.ts"
import { type Running, start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

const name = "sluice.test"
const example = (file: string) =>
  readFileSync(fileURLToPath(new URL(`../../deploy/console/${file}`, import.meta.url)), "utf8")

interface Places {
  readonly folder: string
  /** Of the proxy, and of the console. */
  readonly port: number
  readonly console: number
}

/** Changes what each machine changes in an example; fails if the example has it no more. */
const changed = (text: string, changes: ReadonlyArray<readonly [from: string, to: string]>): string =>
  changes.reduce((now, [from, to]) => {
    assert.include(now, from)
    return now.replaceAll(from, to)
  }, text)

const proxies = [
  {
    proxy: "nginx",
    program: programOf("nginx-light", "/usr/sbin/nginx"),
    run: (program: string, { console, folder, port }: Places) => {
      const server = changed(example("nginx.conf"), [
        ["listen 443", `listen 127.0.0.1:${port}`],
        ["/etc/ssl/sluice.example.com.pem", join(folder, "cert.pem")],
        ["/etc/ssl/sluice.example.com.key", join(folder, "key.pem")],
        ["server_name sluice.example.com", `server_name ${name}`],
        ["127.0.0.1:8787", `127.0.0.1:${console}`]
      ])
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((one) => `${one}_temp_path ${folder};`)
      const file = join(folder, "nginx.conf")
      writeFileSync(
        file,
        `daemon off; user root; pid ${folder}/nginx.pid; error_log stderr; events {}\nhttp { access_log off; ${temporary.join(" ")}\n${server}}`
      )
      return spawn(program, ["-c", file, "-p", folder], { stdio: ["ignore", "inherit", "pipe"] })
    }
  },
  {
    proxy: "Caddy",
    program: programOf("caddy", "/usr/bin/caddy"),
    run: (program: string, { console, folder, port }: Places) => {
      const site = changed(example("Caddyfile"), [
        ["\nsluice.example.com {", `\nhttps://${name}:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`],
        ["127.0.0.1:8787", `127.0.0.1:${console}`]
      ])
      const file = join(folder, "Caddyfile")
      writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${site}`)
      const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, PATH: process.env["PATH"] }
      return spawn(program, ["run", "--config", file], { env, stdio: ["ignore", "inherit", "pipe"] })
    }
  }
]

describe.each(proxies)("behind $proxy", ({ program, run }) => {
  describe.skipIf(program === undefined)("the console", () => {
    let folder: string
    let server: Running
    let proxy: ChildProcess
    let port: number
    let link: string

    const send = (
      method: string,
      path: string,
      {
        body = "",
        headers = {},
        until
      }: { body?: string; headers?: Readonly<Record<string, string>>; until?: RegExp } = {}
    ) =>
      new Promise<{ status: number; text: string; cookie: string }>((resolve, reject) => {
        const own = { host: name, ...(method === "POST" && { origin: `https://${name}` }), ...headers }
        const outgoing = request(
          {
            host: "127.0.0.1",
            port,
            method,
            path,
            servername: name,
            rejectUnauthorized: false,
            agent: false,
            headers: own
          },
          (incoming) => {
            let text = ""
            const cookie = incoming.headers["set-cookie"]?.[0] ?? ""
            const end = () => {
              resolve({ status: incoming.statusCode!, text, cookie })
              outgoing.destroy()
            }
            incoming.on("data", (part: Buffer) => {
              text += part.toString()
              if (until?.test(text)) end()
            })
            incoming.once("end", end)
          }
        )
        outgoing.once("error", reject)
        outgoing.end(body)
      })
    const login = (password: string, headers: Readonly<Record<string, string>> = {}) =>
      send("POST", "/login", { body: new URLSearchParams({ password }).toString(), headers })

    beforeAll(async () => {
      folder = newFolder()
      mkdirSync(join(folder, "config"))
      writeFileSync(
        join(folder, "config", "sluice.toml"),
        `[console]\nurl = "https://${name}"\ntrusted_proxies = ["127.0.0.1"]\n`
      )
      server = start(
        ["serve", "--json", "--listen", "0"],
        { SLUICE_CONSOLE_PASSWORD: "owner-password", HOME: folder },
        folder
      )
      while (!server.stdout().includes("\n")) await new Promise((resolve) => setTimeout(resolve, 20))
      const { data } = JSON.parse(server.stdout())
      link = new URL(data.url).search
      const made = ["-subj", `/CN=${name}`, "-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")]
      execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...made], {
        stdio: "ignore"
      })
      port = await freePort("127.0.0.1")
      proxy = run(program!, { folder, port, console: data.port })
      let said = ""
      proxy.stderr!.on("data", (part: Buffer) => (said += part.toString()))
      for (let tries = 0; tries < 200; tries++) {
        if (proxy.exitCode !== null) assert.fail(said)
        if (
          await send("GET", "/healthz").then(
            ({ status }) => status < 500,
            () => false
          )
        )
          return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      assert.fail(said)
    })
    afterAll(async () => {
      proxy?.kill("SIGTERM")
      server.kill("SIGTERM")
      await server.ended
      rmSync(folder, { recursive: true, force: true })
    })

    it("asks for the password, and its printed link opens nothing", async () => {
      const { status, text } = await send("GET", "/")
      assert.deepStrictEqual([status, text.includes('type="password"')], [200, true])
      assert.strictEqual((await send("GET", `/${link}`)).status, 401)
      assert.strictEqual((await send("GET", "/api/console")).status, 401)
      assert.strictEqual((await send("HEAD", "/")).status, 200)
    })
    it("lets its owner in, by a cookie for https, and sends events as they happen", async () => {
      const { cookie, status } = await login("owner-password")
      assert.strictEqual(status, 303)
      assert.match(cookie, /; Secure/)
      const headers = { cookie: cookie.split(";")[0]! }
      assert.strictEqual((await send("GET", "/api/console", { headers })).status, 200)
      const began = Date.now()
      const { text } = await send("GET", "/api/events", { headers, until: /event: state\ndata: .*\n\n/ })
      assert.include(text, '"needsSetup":true')
      assert.isBelow(Date.now() - began, 5000)
      const body = JSON.stringify({ task: "check" })
      for (const origin of ["https://evil.example", `http://${name}`, `https://${name}:1`])
        assert.strictEqual(
          (await send("POST", "/api/start", { body, headers: { ...headers, origin } })).status,
          403,
          origin
        )
    })
    it("counts wrong passwords of a client, whatever it says of itself", async () => {
      const told: Array<number> = []
      for (let count = 0; count < 7; count++)
        told.push(
          (await login("wrong-password", { "x-forwarded-for": `10.0.${count}.1`, forwarded: `for=10.0.${count}.2` }))
            .status
        )
      assert.deepStrictEqual(told, [401, 401, 401, 401, 401, 429, 429])
    })
  })
})
