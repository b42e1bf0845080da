/** The log of a run: every line of stderr parses, and holds neither a secret nor personal data. */
import { assert, describe, it } from "@effect/vitest"
import { type Account, discard, openAccount, openCore, openTables } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { type Ran, type RunOptions, newFolder, sluice } from "../support/sluice.ts"

type Line = Readonly<Record<string, unknown>> & {
  readonly time: string
  readonly level: string
  readonly message: string
}

const linesOf = (text: string) => {
  assert.match(text, /\n$/)
  return text.slice(0, -1).split("\n")
}

const fromJson = ({ stderr }: Ran): ReadonlyArray<Line> => linesOf(stderr).map((line) => checked(JSON.parse(line)))

const fromLogfmt = ({ stderr }: Ran): ReadonlyArray<Line> =>
  linesOf(stderr).map((line) => {
    assert.match(line, /^([\w.]+=([^\s"=\\]+|"([^"\\]|\\.)*")( |$))+$/)
    const pairs = line.matchAll(/([\w.]+)=([^\s"]+|"(?:[^"\\]|\\.)*")/g)
    const entries = Array.from(pairs, ([, key, value]) => [key, value!.startsWith('"') ? JSON.parse(value!) : value])
    return checked(Object.fromEntries(entries))
  })

const checked = (parsed: unknown): Line => {
  const line = parsed as Line
  assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.include(["error", "warn", "info", "debug"], line.level)
  assert.isNotEmpty(line.message)
  return line
}

const sync = ({ selection, environment }: Account, flags: ReadonlyArray<string>, options?: RunOptions) =>
  sluice(["sync", ...selection, ...flags], environment, options)

const withMessage = (lines: ReadonlyArray<Line>, message: string) => lines.filter((line) => line.message === message)

describe("the log of a sync", () => {
  it(
    "has a line for the start, the plan, each resource that changed and the end, in JSON and in logfmt",
    { tags: ["slow"] },
    async () => {
      const account = await openTables("contacts,contact_notes,pipelines", "--contacts", "40")
      try {
        const first = await sync(account, ["--log-format", "json"])
        assert.strictEqual(first.code, 0, first.stderr)
        const lines = fromJson(first)
        const run = lines.at(-1)!["run"]
        assert.deepInclude(lines[0], { level: "info", message: "run started", command: "sync" })
        assert.deepInclude(withMessage(lines, "plan made")[0], { run, locations: 1 })
        const contacts = withMessage(lines, "resource changed").find(({ resource }) => resource === "contacts")!
        const location = account.service.locationId
        assert.deepInclude(contacts, { run, location, requests: 1, records: 40, new: 40, changed: 0 })
        assert.deepInclude(lines.at(-1), { message: "run ended", status: "complete", exit_code: 0 })
        assert.strictEqual(lines.at(-1)!["requests"], (await account.service.stats()).requests)
        assert.isNotEmpty(withMessage(lines, "Next: ./sluice explore --open"))

        const second = fromLogfmt(await sync(account, ["--log-format", "logfmt"]))
        assert.match(String(withMessage(second, "plan made")[0]!["planned_max"]), /^[1-9]/)
        assert.deepInclude(second.at(-1), { message: "run ended", status: "complete", exit_code: "0" })
        assert.isEmpty(withMessage(second, "resource changed"))
        assert.isBelow(second.length, 10)
        const third = fromJson(await sync(account, ["--log-format", "json", "--verbose"]))
        const ended = withMessage(third, "resource ended").find(({ resource }) => resource === "contacts")!
        assert.deepInclude(ended, { location, status: "complete", mode: "incremental" })
        assert.isNumber(ended["duration_ms"])
      } finally {
        discard(account)
      }
    }
  )

  it("has a line for each retry, and for a wait that the service requires", async () => {
    const account = await openTables("contacts,contact_notes", "--contacts", "60", "--limits", "100/10000/200000")
    try {
      const rules = [
        { kind: "500", count: 3, match: "/contacts/search" },
        { kind: "429", count: 1, match: "notes" }
      ]
      await account.service.post("faults", { rules })
      const ran = await sync(account, ["--log-format", "json"], { overrides: acceleratedClock() })
      assert.strictEqual(ran.code, 0, ran.stderr)
      const lines = fromJson(ran)
      const retries = withMessage(lines, "request is retried")
      const server = retries.filter(({ reason }) => reason === "500")
      assert.strictEqual(server.length, 3)
      for (const retry of server)
        assert.deepInclude(retry, { level: "info", resource: "contacts", path: "/contacts/search" })
      const [refused] = retries.filter(({ reason }) => reason === "429")
      assert.deepInclude(refused, { resource: "contact_notes", path: "/contacts/{contactId}/notes" })
      assert.isTrue(lines.some(({ level, wait_ms }) => level === "warn" && Number(wait_ms) > 5000))
    } finally {
      discard(account)
    }
  })

  it("ends with the status and the exit code of a run that failed or was stopped", async () => {
    const account = await openCore("--contacts", "60", "--latency", "50")
    try {
      const stop = new AbortController()
      const running = sync(account, ["--log-format", "json"], { signal: stop.signal })
      await account.service.requested(5)
      stop.abort(130)
      const stopped = await running
      assert.strictEqual(stopped.code, 130)
      const lines = fromJson(stopped)
      assert.isNotEmpty(lines.filter(({ level, message }) => level === "warn" && message.startsWith("Stopping;")))
      assert.deepInclude(lines.at(-1), { message: "run ended", status: "stopped", exit_code: 130 })

      const refused = await sluice(["sync", "--log-format", "logfmt"], {
        ...account.environment,
        SLUICE_TOKEN: "wrong"
      })
      assert.strictEqual(refused.code, 77)
      const failure = fromLogfmt(refused)
      assert.isNotEmpty(failure.filter(({ level, message }) => level === "error" && message.startsWith("sluice: ")))
      assert.deepInclude(failure.at(-1), { message: "run ended", status: "failed", exit_code: "77" })
    } finally {
      discard(account)
    }
  })

  it("holds no secret, e-mail address, name or phone number at any level", { tags: ["slow"] }, async () => {
    const account = await openAccount("--contacts", "60", "--faults", "500:0.02")
    try {
      const ran = await sluice(["sync", "-v", "--log-format", "json"], account.environment, {
        overrides: acceleratedClock()
      })
      const lines = fromJson(ran)
      const requests = withMessage(lines, "request")
      assert.isAtLeast(requests.length, (await account.service.stats()).requests - 20)
      for (const { path } of requests) assert.match(String(path), /^\/[\w/{}.-]+$/)
      assert.isNotEmpty(requests.filter(({ path }) => path === "/contacts/{contactId}/notes"))
      const contacts = await account.service.records("contacts")
      const personal = contacts.flatMap(({ id, email, phone, firstName, lastName }) =>
        [id, email, phone, firstName && lastName && `${firstName} ${lastName}`].filter((value) => value)
      )
      assert.isAbove(personal.length, 100)
      for (const text of [account.service.token, ...personal]) assert.notInclude(ran.stderr, String(text))
    } finally {
      discard(account)
    }
  })
})

describe("the level", () => {
  it("of --quiet leaves out everything about a good run, and nothing about a bad one", { tags: ["slow"] }, async () => {
    const account = await openTables("contacts,pipelines", "--contacts", "20")
    try {
      assert.deepStrictEqual(await sync(account, ["-q"]), { code: 0, stdout: "", stderr: "" })
      for (const command of ["publish", "rebuild"])
        assert.deepStrictEqual(await sluice([command, "--quiet"], account.environment), {
          code: 0,
          stdout: "",
          stderr: ""
        })
      await account.service.post("token", { removeScope: "contacts.readonly" })
      const bad = await sync(account, ["-q"])
      assert.strictEqual(bad.code, 3)
      assert.match(bad.stdout, /^contacts .*incomplete$/m)
      assert.match(bad.stderr, /^contacts: refused by the service/m)
      assert.match(bad.stderr, /^Next: /m)
      assert.notMatch(bad.stderr, /^pipelines|INFO/m)
    } finally {
      discard(account)
    }
  })

  it("is given once", async () => {
    const ran = await sluice(["sync", "-q", "-v"], { SLUICE_OUTPUT: newFolder() })
    assert.strictEqual(ran.code, 2)
    assert.match(ran.stderr, /exclude each other/)
  })
})

describe("the log of a rebuild and of publishing", () => {
  it("begins with the command and ends with the exit code", async () => {
    const account = await openTables("contacts", "--contacts", "20")
    try {
      assert.strictEqual((await account.sync()).code, 0)
      for (const command of ["rebuild", "publish"]) {
        const lines = fromLogfmt(await sluice([command, "--log-format", "logfmt"], account.environment))
        assert.deepInclude(lines[0], { message: "run started", command })
        assert.deepInclude(lines.at(-1), { message: "run ended", status: "complete", exit_code: "0" })
      }
    } finally {
      discard(account)
    }
  })
})
