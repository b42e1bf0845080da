/** The site of the console over HTTP: who gets what, and what a hostile visitor does not. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { processStart } from "../../src/output/lock.ts"
import { closeAll, open } from "./visitors.ts"

const status = `{"schema":"sluice/error/1","exitCode":1,"error":{"code":"failed","message":"Nothing was synced yet."}}`
const program = `case "$1" in status) echo '${status}' ;; sync) exec sleep 30 ;; *) echo '{"schema":"x","exitCode":0,"data":{}}' ;; esac`

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
  ..."job,start,stop,schedule/resume,run,settings,setup,setup/check,locations,fleet,fleet/act,query,password"
    .split(",")
    .map((name) => `POST /api/${name}`)
]
const acting = "start,stop,schedule/resume,settings,setup,setup/check,locations,fleet/act".split(",")

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
    const { text } = await page.send("POST", "/login", { body: "password=%3Cscript%3E" })
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
  it("is refused a body that is too large before it is read", async () => {
    const sent = await new Promise<number>((resolve) => {
      let bytes = 0
      const outgoing = request({
        host: "127.0.0.1",
        port: page.site.port,
        method: "POST",
        path: "/api/settings",
        headers: { cookie: owner, origin: `http://${page.address}`, "content-length": 1_000_000_000 }
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
    for (const name of ["..%2Fsecret", "../secret", "%2e%2e/secret", "%00", "%E0%A4%A", "nothing.xlsx"]) {
      const answer = await page.send("GET", `/exports/${name}`, { cookie: owner })
      assert.notStrictEqual(answer.status, 200, name)
      assert.notInclude(answer.text, "secret\n")
    }
  })
  it("reads the dictionary, and that there is no report yet", async () => {
    assert.match((await page.send("GET", "/dictionary", { cookie: owner })).type ?? "", /^text\/html/)
    const { status, text } = await page.send("GET", "/report", { cookie: owner })
    assert.strictEqual(status, 404)
    assert.include(text, "no report yet")
  })
  it("leaves", async () => {
    const cookie = await page.enter("owner-password")
    assert.strictEqual((await page.send("POST", "/logout", { cookie, body: "{}" })).status, 303)
    assert.strictEqual((await page.send("GET", "/api/console", { cookie })).status, 401)
  })
})

describe("set-up", () => {
  const answers = {
    baseUrl: "https://crm.example.com",
    formats: ["duckdb"],
    locations: [{ id: "north", token: "pit-secret-token" }]
  }
  const post = (pathname: string, body: unknown) =>
    page.send("POST", pathname, { cookie: owner, body: JSON.stringify(body) })
  it("refuses what init would refuse, with the reason", async () => {
    const cases: ReadonlyArray<readonly [Readonly<Record<string, unknown>>, RegExp]> = [
      [{ baseUrl: "crm" }, /http or https address/],
      [{ formats: ["xml"] }, /expected a list/],
      [{ locations: [] }, /at least one/],
      [{ locations: [{ id: "a b", token: "x" }] }, /letters and digits/],
      [{ locations: [{ id: "<script>", token: "x" }] }, /letters and digits/],
      [{ locations: [{ id: "north", token: "" }] }, /missing/],
      [{ locations: [{ id: "north", token: "cmd:touch /tmp/x" }] }, /by hand/],
      [
        {
          locations: [
            { id: "n", token: "x" },
            { id: "n", token: "y" }
          ]
        },
        /twice/
      ]
    ]
    for (const [wrong, why] of cases) {
      const { status, text } = await post("/api/setup", { ...answers, ...wrong })
      assert.strictEqual(status, 400, JSON.stringify(wrong))
      assert.match(JSON.parse(text).error.message, why)
    }
    assert.isFalse(existsSync(page.config))
  })
  it("writes the settings with each token in a file of its own, and never shows a token", async () => {
    const locations = [...answers.locations, { id: "south", token: "pit-other-token" }]
    assert.strictEqual((await post("/api/setup", { ...answers, locations })).status, 200)
    const folder = join(page.config, "..")
    assert.deepStrictEqual(readdirSync(folder).toSorted(), ["sluice.toml", "token", "token-south"])
    const content = readFileSync(page.config, "utf8")
    assert.notInclude(content, "pit-")
    assert.strictEqual(readFileSync(join(folder, "token-south"), "utf8"), "pit-other-token\n")
    assert.strictEqual((await post("/api/setup", answers)).status, 409)
    const settings = (await page.send("GET", "/api/settings", { cookie: owner })).text
    assert.notInclude(settings, "pit-")
    const { lists } = JSON.parse(settings) as {
      lists: ReadonlyArray<{ list: string; items: ReadonlyArray<{ shown: string }> }>
    }
    assert.includeMembers(
      lists.find(({ list }) => list === "locations")!.items.map(({ shown }) => shown),
      ["north", "south"]
    )
    assert.strictEqual(JSON.parse((await page.send("GET", "/api/console", { cookie: owner })).text).needsSetup, false)
  })
  it("adds a location, and changes a setting only after its difference was shown", async () => {
    assert.strictEqual((await post("/api/locations", { id: "south", token: "x" })).status, 409)
    assert.strictEqual((await post("/api/locations", { id: "west", token: "env:WEST" })).status, 200)
    const before = readFileSync(page.config, "utf8")
    assert.include(before, '[[locations]]\nid = "west"\ntoken = "env:WEST"\n')
    const changes = { "schedule.times": ["03:30"] }
    const shown = JSON.parse((await post("/api/settings", { changes })).text)
    assert.deepInclude(shown.diff, { kind: "added", text: 'times = ["03:30"]' })
    assert.strictEqual(readFileSync(page.config, "utf8"), before)
    writeFileSync(page.config, `${before}# by hand\n`)
    assert.strictEqual((await post("/api/settings", { changes, apply: true, basis: shown.basis })).status, 409)
    const again = JSON.parse((await post("/api/settings", { changes })).text)
    assert.isTrue(JSON.parse((await post("/api/settings", { changes, apply: true, basis: again.basis })).text).written)
    assert.include(readFileSync(page.config, "utf8"), 'times = ["03:30"]')
    const { schedule } = JSON.parse((await page.send("GET", "/api/console", { cookie: owner })).text)
    assert.strictEqual(schedule.next.length, 3)
    // A mistake in the file ends no schedule.
    const right = readFileSync(page.config, "utf8")
    for (const wrong of [right.replace('["03:30"]', '["3:30"]'), `${right}[`]) {
      writeFileSync(page.config, wrong)
      const state = JSON.parse((await page.send("GET", "/api/console", { cookie: owner })).text)
      assert.deepStrictEqual(state.schedule.times, ["03:30"])
    }
    writeFileSync(page.config, right)
  })
  it("adds what of a table is never stored, and a silence, as lists and days", async () => {
    const exclude = { list: "tables", values: { table: "contacts", exclude: "email, phone", only: "" } }
    const silence = { list: "silence", values: { alarm: "freshness", reason: 'It is "closed"', until: "2030-01-31" } }
    for (const add of [exclude, silence])
      assert.isTrue(JSON.parse((await post("/api/settings", { add, apply: true })).text).written)
    const text = readFileSync(page.config, "utf8")
    assert.include(text, '[tables.contacts]\nexclude = ["email", "phone"]\n')
    assert.include(text, '[[silence]]\nalarm = "freshness"\nreason = "It is \\"closed\\""\nuntil = ')
    const again = JSON.parse((await post("/api/settings", { add: exclude, apply: true })).text)
    assert.deepStrictEqual(again.written, false)
    assert.match(again.problems[0], /is in the file already/)
  })
  it("changes nothing that could be a secret, a program or a path of the server", async () => {
    const wrong = [
      { changes: { "account.token": "env:X" } },
      { changes: { "signals.sendmail": "/bin/sh" } },
      { changes: { "signals.webhook_url": "https://example.com/secret" } },
      { changes: { "signals.webhook_url": "cmd:id" } },
      { changes: { "__proto__.x": 1 } },
      { add: { list: "locations", values: { id: "x" } } },
      { add: { list: "publish", values: { name: "x", postgres: "postgres://u:p@h/d" } } },
      { add: { list: "publish", values: { name: "x", s3_secret: "y" } } },
      { add: { list: "tables", values: { exclude: "email" } } },
      { add: { list: "tables", values: { table: "contacts", hash: "email" } } }
    ]
    for (const one of wrong) {
      const { diff, problems, written } = JSON.parse((await post("/api/settings", { ...one, apply: true })).text)
      assert.deepStrictEqual(
        { diff, written, count: problems.length },
        { diff: [], written: false, count: 1 },
        JSON.stringify(one)
      )
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
})

describe("an output folder", () => {
  it("has one console at a time", async () => {
    const holder = join(page.output, "console", "serve.json")
    writeFileSync(holder, JSON.stringify({ pid: process.ppid, started: processStart(process.ppid) }))
    const refused = await open(program, { output: page.output }).then(
      () => "started",
      (cause: Error) => cause.message
    )
    assert.match(refused, new RegExp(`Another ./sluice serve, process ${process.ppid}, has`))
    // A process that was killed has left the file, and another one has its id by now.
    writeFileSync(holder, JSON.stringify({ pid: process.ppid, started: "1" }))
    assert.isDefined(await open(program, { output: page.output }))
  })
})
