/** The site of the console over HTTP: who gets what, and what a hostile visitor does not. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { newFolder, sluice } from "../support/sluice.ts"
import { dirname, join } from "node:path"
import { closeAll, open, program } from "./visitors.ts"

let page: Awaited<ReturnType<typeof open>>
let owner: string
let reader: string
afterAll(closeAll)
beforeAll(async () => {
  page = await open(program)
  owner = await page.enter("owner-password")
  reader = await page.enter("reader-password")
})

const routes = [
  "GET /api/console",
  "GET /api/events",
  "GET /api/tasks",
  "GET /api/runs",
  "GET /api/settings",
  "GET /api/catalog",
  "GET /api/release",
  "GET /report",
  "GET /dictionary",
  "GET /page/main.js",
  "GET /exports/x.xlsx",
  ..."job,start,stop,schedule/resume,run,settings,setup,setup/check,locations,token,fleet,fleet/act,query,password"
    .split(",")
    .map((name) => `POST /api/${name}`)
]
const acting = "start,stop,schedule/resume,settings,setup,setup/check,locations,token,fleet/act,queries".split(",")

/** The events that a log-in gets, until it leaves or they end. */
const followed = (cookie: string) =>
  new Promise<{ status: number; text: () => string; ended: Promise<unknown>; leave: () => void }>((resolve, reject) => {
    const headers = { cookie }
    const outgoing = request(
      { host: "127.0.0.1", port: page.site.port, path: "/api/events", headers, agent: false },
      (incoming) => {
        let text = ""
        incoming.on("data", (part: Buffer) => (text += part.toString()))
        const ended = new Promise((close) => incoming.on("error", close).on("end", () => close(undefined)))
        resolve({ status: incoming.statusCode!, text: () => text, ended, leave: () => void outgoing.destroy() })
      }
    )
    outgoing.once("error", reject)
    outgoing.end()
  })

describe("a visitor without a session", () => {
  it("gets a form for the password, and nothing else", async () => {
    for (const pathname of ["/", "/login", "/?token=guessed"]) {
      const { status, text } = await page.send("GET", pathname)
      assert.strictEqual(status, pathname.includes("token") ? 401 : 200)
      if (status === 200) assert.include(text, 'type="password"')
    }
    for (const route of routes) {
      const [method, pathname] = route.split(" ") as [string, string]
      for (const cookie of [undefined, "sluice_console_1=x", `sluice_console_${page.site.port}=${"x".repeat(32)}`]) {
        const { status } = await page.send(method, pathname, {
          body: method === "GET" ? "" : "{}",
          ...(cookie && { cookie })
        })
        assert.strictEqual(status, 401, route)
      }
    }
  })
  it("learns of the health only whether it is well", async () => {
    const { status, text } = await page.send("GET", "/healthz")
    assert.deepStrictEqual({ status, text }, { status: 200, text: "ok\n" })
  })
  it("is not let in from another page or by another name", async () => {
    for (const headers of [{ origin: "http://evil.example" }, { origin: "null" }, { host: "evil.example" }]) {
      const body = "password=owner-password"
      assert.strictEqual((await page.send("POST", "/login", { body, headers })).status, 403)
      assert.strictEqual(
        (await page.send("POST", "/api/start", { body: '{"task":"sync"}', cookie: owner, headers })).status,
        403
      )
    }
    const { status, text } = await page.send("POST", "/login", { body: "password=%3Cscript%3E" })
    // Whoever counts log-ins from outside sees the status.
    assert.strictEqual(status, 401)
    const long = await page.send("POST", "/login", { body: `password=${"x".repeat(20_000)}` })
    assert.strictEqual(long.status, 413)
    assert.include(long.text, "The request has more than 10,000 bytes.")
    assert.include(text, "The password is wrong.")
    assert.notInclude(text, "<script")
  })
})

describe("a reader", () => {
  it("sees everything and starts nothing", async () => {
    const { text } = await page.send("GET", "/api/console", { cookie: reader })
    assert.strictEqual(JSON.parse(text).role, "reader")
    for (const name of acting) {
      const { status, text } = await page.send("POST", `/api/${name}`, { cookie: reader, body: "{}" })
      assert.strictEqual(status, 403, name)
      assert.strictEqual(JSON.parse(text).error.code, "reader")
    }
    assert.strictEqual(
      (await page.send("POST", "/api/password", { cookie: reader, body: '{"password":"123456789012"}' })).status,
      403
    )
  })
})

describe("an owner", () => {
  it("starts work once, from two browsers at the same time", async () => {
    const body = '{"task":"sync","values":{}}'
    const answers = await Promise.all([1, 2, 3].map(() => page.send("POST", "/api/start", { cookie: owner, body })))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409])
    const { job } = JSON.parse(answers.find(({ status }) => status === 200)!.text)
    const found = JSON.parse(
      (await page.send("POST", "/api/job", { cookie: reader, body: JSON.stringify({ id: job.id }) })).text
    )
    assert.include(found, { id: job.id, state: "running", by: "console" })
    await page.send("POST", "/api/stop", { cookie: owner, body: JSON.stringify({ id: job.id }) })
    const stopping = JSON.parse((await page.send("GET", "/api/console", { cookie: owner })).text)
    assert.include(["stopping", "ended"], stopping.jobs[0].state)
  })
  it("follows everything by events, and every browser at once", async () => {
    const first = await new Promise<string>((resolve, reject) => {
      const outgoing = request(
        { host: "127.0.0.1", port: page.site.port, path: "/api/events", headers: { cookie: reader } },
        (incoming) =>
          incoming.once("data", (part: Buffer) => {
            resolve(`${incoming.headers["content-type"]} ${part}`)
            incoming.destroy()
          })
      )
      outgoing.once("error", reject)
      outgoing.end()
    })
    assert.match(first, /^text\/event-stream.*event: state\ndata: \{/s)
    assert.strictEqual(JSON.parse(first.split("data: ")[1]!.split("\n")[0]!).role, "reader")
  })
  it.each(["owner", "nobody"])("is refused a body that is too large before it is read: %s", async (who) => {
    const sent = await new Promise<number>((resolve) => {
      let bytes = 0
      const outgoing = request({
        host: "127.0.0.1",
        port: page.site.port,
        method: "POST",
        path: "/api/settings",
        headers: {
          ...(who === "owner" && { cookie: owner }),
          origin: `http://${page.address}`,
          "content-length": 1_000_000_000
        }
      })
      const part = Buffer.alloc(100_000, " ")
      const more = () => {
        while (bytes < 1_000_000_000) {
          bytes += part.length
          if (!outgoing.write(part)) return void outgoing.once("drain", more)
        }
      }
      outgoing.once("response", () => {
        resolve(bytes)
        outgoing.destroy()
      })
      outgoing.once("error", () => resolve(bytes))
      more()
    })
    assert.isBelow(sent, 20_000_000)
  })
  it("gets files of the exports by their plain name only", async () => {
    mkdirSync(join(page.output, "exports"), { recursive: true })
    writeFileSync(join(page.output, "exports", "sales 1.xlsx"), "sheet")
    writeFileSync(join(page.output, "secret"), "secret")
    assert.strictEqual((await page.send("GET", "/exports/sales%201.xlsx", { cookie: owner })).text, "sheet")
    for (const name of ["audit.zip", "audit.zip.age", "notes", "a.7z"]) {
      writeFileSync(join(page.output, "exports", name), "file")
      const { status, text, type } = await page.send("GET", `/exports/${name}`, { cookie: owner })
      assert.deepStrictEqual({ status, text, type }, { status: 200, text: "file", type: "application/octet-stream" })
    }
    for (const name of ["..%2Fsecret", "../secret", "%2e%2e/secret", "%00", "%E0%A4%A", "nothing.xlsx"]) {
      const answer = await page.send("GET", `/exports/${name}`, { cookie: owner })
      assert.notStrictEqual(answer.status, 200, name)
      assert.notInclude(answer.text, "secret\n")
    }
  })
  it("reads the dictionary, and that there is no report yet", async () => {
    const dictionary = await page.send("GET", "/dictionary", { cookie: owner })
    assert.match(dictionary.type ?? "", /^text\/html/)
    assert.include(dictionary.text, '<main class="x"><p><a href="/">Back')
    const { status, text } = await page.send("GET", "/report", { cookie: owner })
    assert.strictEqual(status, 404)
    assert.include(text, "no report yet")
  })
  it("alone sees work that names a person", async () => {
    const events = [await followed(reader), await followed(owner)]
    const body = JSON.stringify({ task: "subject-erase", values: { email: "jane@example.com" } })
    const { job } = JSON.parse((await page.send("POST", "/api/start", { cookie: owner, body })).text)
    const seenBy = async (cookie: string) => [
      (await page.send("GET", "/api/console", { cookie })).text.includes("jane@example.com"),
      (await page.send("POST", "/api/job", { cookie, body: JSON.stringify({ id: job.id }) })).status
    ]
    assert.deepStrictEqual(await seenBy(owner), [true, 200])
    assert.deepStrictEqual(await seenBy(reader), [false, 404])
    for (let tries = 0; tries < 100 && !events[1]!.text().includes("jane@"); tries++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    assert.include(events[1]!.text(), "jane@example.com")
    assert.notInclude(events[0]!.text(), "jane@example.com")
    for (const { leave } of events) leave()
  })
  it("leaves, and its events end", async () => {
    const cookie = await page.enter("owner-password")
    const events = await followed(cookie)
    assert.strictEqual((await page.send("POST", "/logout", { cookie, body: "{}" })).status, 303)
    assert.strictEqual((await page.send("GET", "/api/console", { cookie })).status, 401)
    await page.send("POST", "/api/start", { cookie: owner, body: '{"task":"check","values":{}}' })
    await events.ended
    assert.notInclude(events.text(), '"check"')
  })
  it("follows events, however many pages of readers do", async () => {
    const readers = await Promise.all(Array.from({ length: 60 }, () => followed(reader)))
    assert.strictEqual(readers.filter(({ status }) => status === 503).length, 10)
    const own = await followed(owner)
    assert.strictEqual(own.status, 200)
    for (const { leave } of [...readers, own]) leave()
  })
  it("is told of what cannot be read, and by HEAD what GET would say", async () => {
    for (const pathname of ["/exports/a%", "/exports/a%ff"])
      assert.strictEqual((await page.send("GET", pathname, { cookie: owner })).status, 400, pathname)
    for (const task of [{ toString: 1 }, ["plan"], 1, null, "__proto__"]) {
      const { status } = await page.send("POST", "/api/start", { cookie: owner, body: JSON.stringify({ task }) })
      assert.strictEqual(status, 400, JSON.stringify(task))
    }
    for (const pathname of ["/", "/healthz", "/login", "/page/main.js"]) {
      const [head, get] = [await page.send("HEAD", pathname), await page.send("GET", pathname)]
      assert.deepStrictEqual([head.status, head.text], [get.status, ""], pathname)
    }
  })
})

describe("a server without a password that others can reach", () => {
  it("asks for one first, and then for nothing but it", async () => {
    const first = await open(program, { needsPassword: true })
    const { cookie } = await first.send("GET", `/?token=${first.access.newLink(true)}`)
    const sent = { cookie: cookie! }
    assert.isTrue(JSON.parse((await first.send("GET", "/api/console", sent)).text).needsPassword)
    for (const route of routes.filter((one) => !/page|console|password/.test(one))) {
      const [method, pathname] = route.split(" ") as [string, string]
      const { status } = await first.send(method, pathname, { ...sent, body: method === "GET" ? "" : "{}" })
      assert.include([403, 404], status, route)
    }
    assert.strictEqual(
      (await first.send("POST", "/api/password", { ...sent, body: '{"password":"short"}' })).status,
      400
    )
    assert.strictEqual(
      (await first.send("POST", "/api/password", { ...sent, body: '{"password":"long enough, I say"}' })).status,
      200
    )
    assert.match(readFileSync(first.passwordFile, "utf8"), /^scrypt:/)
    assert.isDefined(await first.enter("long enough, I say"))
    assert.strictEqual(
      (await first.send("POST", "/api/password", { ...sent, body: '{"password":"another password"}' })).status,
      403
    )
    assert.strictEqual((await first.send("GET", "/api/tasks", sent)).status, 200)
  })
  it("has the password of one browser, if several choose one at once", async () => {
    const first = await open(program, { needsPassword: true })
    const { cookie } = await first.send("GET", `/?token=${first.access.newLink(true)}`)
    const passwords = ["first-password", "second-password", "third-password", "fourth-password"]
    const told = await Promise.all(
      passwords.map((password) =>
        first.send("POST", "/api/password", { cookie: cookie!, body: JSON.stringify({ password }) })
      )
    )
    assert.deepStrictEqual(told.map(({ status }) => status).toSorted(), [200, 409, 409, 409])
    for (const [index, password] of passwords.entries())
      assert.strictEqual((await first.enter(password)) !== undefined, told[index]!.status === 200)
  })
})

it("whose port is in use starts nothing, whatever is due", async () => {
  const folder = newFolder()
  const output = join(folder, "output")
  mkdirSync(join(output, "console"), { recursive: true })
  writeFileSync(join(output, "console", "schedule.json"), '{"handled":0}')
  const config = join(folder, "sluice.toml")
  writeFileSync(
    config,
    '[account]\nbase_url = "http://127.0.0.1:9"\nlocation_id = "north"\n[schedule]\ntimes = ["00:00"]\n'
  )
  const { code, stderr } = await sluice(
    ["serve", "--config", config, "--output", output, "--listen", String(page.site.port)],
    { SLUICE_TOKEN: "pit" }
  )
  assert.strictEqual(code, 1, stderr)
  assert.include(stderr, "EADDRINUSE")
  assert.deepStrictEqual(
    readdirSync(join(output, "console")).filter((name) => name.startsWith("job-")),
    []
  )
})

describe("an output folder", () => {
  it("has one console at a time", async () => {
    const output = newFolder()
    const lock = join(output, "console", "serve.lock")
    mkdirSync(dirname(lock))
    const module = fileURLToPath(new URL("../../src/output/kernel-lock.ts", import.meta.url))
    const take = `import(${JSON.stringify(module)}).then(async ({ lockUnlessHeld }) => { await lockUnlessHeld(${JSON.stringify(lock)}); console.log("held"); setInterval(() => {}, 1000) })`
    const other = spawn(process.execPath, ["-e", take], { stdio: ["ignore", "pipe", "inherit"] })
    await once(other.stdout, "data")
    const refused = await open(program, { output }).then(
      () => "started",
      (cause: Error) => cause.message
    )
    assert.match(refused, /Another \.\/sluice serve, has .*: end it first/)
    // Whatever its number was, the kernel ends the lock of a process that was killed.
    other.kill("SIGKILL")
    await once(other, "exit")
    assert.isDefined(await open(program, { output }))
  })
})
