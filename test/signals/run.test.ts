/** What a run reports: to servers of the test, to a program with the interface of sendmail, and into a file. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAlone } from "../support/account.ts"
import { programOf, hasPython } from "../support/programs.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const promtool = programOf("prometheus", "/usr/bin/promtool")

let account: Account
let receiver: Receiver
let folder: string
let settings: string
const secret = "s3cret-part-of-the-address"

beforeAll(async () => {
  account = await openAlone("contacts,users", "--contacts", "20")
  receiver = await startReceiver()
  folder = newFolder()
  const sendmail = join(folder, "sendmail")
  writeFileSync(sendmail, `#!/bin/sh\n{ echo "$@"; cat; } >> '${folder}/mails'\n`)
  chmodSync(sendmail, 0o755)
  settings = join(folder, "sluice.toml")
  writeFileSync(
    settings,
    `[signals]
heartbeat_url = "env:HEARTBEAT"
webhook_url = "env:WEBHOOK"
mail_to = "operations@example.com"
sendmail = "${sendmail}"
metrics_file = "${folder}/metrics/sluice.prom"
`
  )
})
afterAll(() => {
  receiver.stop()
  discard(account)
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = 200
  rmSync(join(folder, "mails"), { force: true })
})

const run = (command: string, environment: Readonly<Record<string, string>> = {}, ...flags: ReadonlyArray<string>) =>
  sluice([command, "--config", settings, ...(command === "sync" ? account.selection : []), ...flags], {
    ...account.environment,
    HEARTBEAT: `${receiver.url}/beat/${secret}`,
    WEBHOOK: `${receiver.url}/hook/${secret}`,
    ...environment
  })
const paths = () => receiver.received.map(({ path }) => path.replace(`/${secret}`, "")).sort()
const mails = () => (existsSync(join(folder, "mails")) ? readFileSync(join(folder, "mails"), "utf8") : "")

describe("a run", () => {
  it(
    "beats at its start and after success, with one id, and reports nothing else in a good night",
    { tags: ["slow"] },
    async () => {
      for (let night = 0; night < 2; night++) {
        receiver.received.length = 0
        const { code, stderr } = await run("sync")
        assert.strictEqual(code, 0, stderr)
        assert.deepStrictEqual(
          receiver.received.map(({ path }) => path.replace(`/${secret}`, "")),
          ["/beat/start", "/beat"]
        )
        const ids = new Set(receiver.received.map(({ search }) => search.get("rid")))
        assert.strictEqual(ids.size, 1)
        assert.match([...ids][0]!, /^[0-9a-f-]{36}$/)
        assert.strictEqual(mails(), "")
      }
    }
  )

  it(
    "reports a revoked token once, and its recovery once, to the webhook and by mail",
    { tags: ["slow"] },
    async () => {
      const bad = { SLUICE_TOKEN: "a-token-that-is-wrong" }
      assert.strictEqual((await run("sync", bad)).code, 77)
      assert.deepStrictEqual(paths(), ["/beat/77", "/beat/start", "/hook"])
      const { body, type } = receiver.received.find(({ path }) => path.startsWith("/hook"))!
      assert.strictEqual(type, "application/json")
      const alarm = JSON.parse(body.toString())
      assert.deepInclude(alarm, {
        schema: "sluice/alarms/1",
        state: "alarm",
        level: "error",
        title: "sluice error: sync"
      })
      assert.match(alarm.text, /does not accept the token/)
      assert.match(mails(), /^-i -t\nTo: operations@example\.com\nSubject: sluice error: sync\n/)

      receiver.received.length = 0
      assert.strictEqual((await run("sync", bad)).code, 77)
      assert.strictEqual((await run("check")).code, 4)
      assert.deepStrictEqual(paths(), ["/beat/77", "/beat/start"])

      receiver.received.length = 0
      assert.strictEqual((await run("sync")).code, 0)
      assert.strictEqual((await run("check")).code, 0)
      assert.deepStrictEqual(paths(), ["/beat", "/beat/start", "/hook"])
      const recovery = JSON.parse(receiver.received.find(({ path }) => path.startsWith("/hook"))!.body.toString())
      assert.deepInclude(recovery, { state: "recovery", level: "ok", title: "sluice recovered: sync" })
    }
  )

  it.skipIf(!hasPython)("sends a mail that Python reads as a mail program does", { tags: ["slow"] }, async () => {
    assert.strictEqual((await run("sync", { SLUICE_TOKEN: "a-token-that-is-wrong" })).code, 77)
    const program =
      "import email, email.policy, sys; m = email.message_from_file(sys.stdin, policy=email.policy.default); print(m['to'], m['date'].datetime.year, m.get_content_type())"
    const read = spawnSync("python3", ["-c", program], { input: mails().replace("-i -t\n", ""), encoding: "utf8" })
    assert.strictEqual(read.stdout, `operations@example.com ${new Date().getFullYear()} text/plain\n`)
    assert.strictEqual((await run("sync")).code, 0)
  })

  it("fills a template of the settings, as JSON and as text", { tags: ["slow"] }, async () => {
    const lines = readFileSync(settings, "utf8")
    const bodyWith = async (template: string) => {
      writeFileSync(settings, `${lines}webhook_body = '${template}'\n`)
      receiver.received.length = 0
      await run("sync", { SLUICE_TOKEN: "a-token-that-is-wrong" })
      await run("sync")
      const [body] = receiver.received.filter(({ path }) => path.startsWith("/hook")).map(({ body }) => body.toString())
      writeFileSync(settings, lines)
      return body!
    }
    const chat = JSON.parse(await bodyWith('{"text": "{text}", "color": "{level}"}'))
    assert.match(chat.text, /^sluice error: sync \(.*\)\nerror sync: The service/)
    assert.strictEqual(chat.color, "error")
    assert.strictEqual(await bodyWith("{state}: {title}"), "alarm: sluice error: sync")
  })

  it(
    "ends as without reports if their places fail, soon, and never prints their addresses",
    { tags: ["slow"] },
    async () => {
      for (const answer of [500, "hang", "refused"] as const) {
        if (answer !== "refused") receiver.answer = answer
        const nowhere = answer === "refused" ? { HEARTBEAT: `http://127.0.0.1:1/${secret}` } : {}
        const begun = performance.now()
        const { code, stdout, stderr } = await run("sync", nowhere)
        assert.strictEqual(code, 0)
        assert.include(stderr, "The heartbeat was not reached: it")
        assert.notInclude(stdout + stderr, secret)
        // Two tries of three seconds for the start, which the run does not wait for, and for the end.
        assert.isBelow(performance.now() - begun, 16_000)
      }
      const missing = await run("sync", { HEARTBEAT: "" })
      assert.strictEqual(missing.code, 0)
      assert.include(missing.stderr, "its address cannot be read: the variable is not set")
    }
  )

  it("writes metrics, also for a check, that the collector may read", async () => {
    assert.strictEqual((await run("sync")).code, 0)
    const file = join(folder, "metrics", "sluice.prom")
    assert.strictEqual(statSync(file).mode & 0o777, 0o644)
    const text = readFileSync(file, "utf8")
    assert.include(text, "\nsluice_last_run_exit_code 0\n")
    assert.include(text, '\nsluice_alarms{level="error"} 0\n')
    assert.match(text, /\nsluice_complete_timestamp_seconds\{location="\w+",resource="contacts"\} 1\d{9}/)
    await run("sync", { SLUICE_TOKEN: "a-token-that-is-wrong" })
    await run("check")
    const after = readFileSync(file, "utf8")
    assert.include(after, "\nsluice_last_run_exit_code 77\n")
    assert.match(after, /\nsluice_alarm_since_timestamp_seconds\{alarm="sync",level="error"\} 1\d{9}/)
  })

  it.skipIf(promtool === undefined)("writes metrics that promtool accepts", { tags: ["slow"] }, async () => {
    assert.strictEqual((await run("sync")).code, 0)
    const text = readFileSync(join(folder, "metrics", "sluice.prom"), "utf8")
    const checked = (input: string) => spawnSync(promtool!, ["check", "metrics"], { input, encoding: "utf8" })
    const { status, stdout, stderr } = checked(text)
    assert.deepStrictEqual([status, stdout, stderr], [0, "", ""])
    assert.notStrictEqual(checked(text.replaceAll("# HELP sluice_alarms", "# HLP")).status, 0, "the control")
  })
})
