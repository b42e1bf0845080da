import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAccount } from "../support/account.ts"
import { sql } from "../support/broken.ts"
import { acceleratedClock } from "../support/clock.ts"
import { type Ran, newFolder, sluice } from "../support/sluice.ts"

interface Line {
  readonly state: "ok" | "warning" | "problem"
  readonly check: string
  readonly what: string
  readonly todo?: string
}
interface Report {
  readonly exitCode: number
  readonly lines: ReadonlyArray<Line>
  readonly settings: ReadonlyArray<{ readonly key: string; readonly value: string; readonly from: string }>
}

let account: Account
beforeAll(async () => {
  account = await openAccount("--contacts", "60", "--limits", "100/200/5000")
  const ran = await account.sync("--only", "contacts,calendars,blogs")
  assert.strictEqual(ran.code, 0, ran.stderr)
})
afterEach(() => account.service.post("token", { restore: true }))
afterAll(() => discard(account))

const doctor = (changed: Readonly<Record<string, string>> = {}, ...flags: ReadonlyArray<string>) =>
  reported(sluice(["doctor", "--json", ...flags], { ...account.environment, ...changed }))
const reported = async (running: Promise<Ran>): Promise<Report> => {
  const ran = await running
  const { data, exitCode } = JSON.parse(ran.stdout || assert.fail(ran.stderr))
  const report: Report = { ...data, exitCode }
  assert.strictEqual(ran.code, report.exitCode)
  return report
}
/** The warnings and problems, as `state check: what`. */
const faults = ({ lines }: Report): ReadonlyArray<string> =>
  lines.filter(({ state }) => state !== "ok").map(({ state, check, what }) => `${state} ${check}: ${what}`)
const lineOf = ({ lines }: Report, check: string): string =>
  lines.find((line) => line.check === check)?.what ?? assert.fail(`nothing of ${check}`)
const assertOnly = (report: Report, pattern: RegExp, exitCode: number): void => {
  assert.strictEqual(faults(report).length, 1, faults(report).join("\n"))
  assert.match(faults(report)[0]!, pattern)
  assert.strictEqual(report.exitCode, exitCode)
}

describe("a valid account", () => {
  it("has no warning or problem, which takes at most 37 requests", async () => {
    await account.service.post("stats/reset", {})
    const ran = await sluice(["doctor"], account.environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    const { requests } = await account.service.stats()
    assert.isAtMost(requests, 37)
    assert.match(
      ran.stdout,
      new RegExp(`^ok +scopes +(\\d+) of \\1 checked scopes are granted, ${requests} requests`, "m")
    )
    for (const check of [
      "settings",
      "versions",
      "folder",
      "space",
      "modes",
      "lock",
      "last run",
      "token",
      "clock",
      "budget"
    ])
      assert.match(ran.stdout, new RegExp(`^ok +${check} `, "m"))
    assert.notMatch(ran.stdout, /^(warning|problem)/m)
    assert.strictEqual(ran.stderr.trim().split("\n").at(-1), "Next: ./sluice sync")
    assert.notInclude(ran.stdout + ran.stderr, account.service.token)
  })

  it("is described by the service's name, budget and last run", async () => {
    const report = await doctor()
    assert.match(lineOf(report, "token"), new RegExp(`^accepted for location ${account.service.locationId}, \\w+`))
    assert.match(
      lineOf(report, "budget"),
      /^100 requests in 0\.2 s, 4,\d\d\d left today, 1,000 reserved for other programs$/
    )
    assert.match(lineOf(report, "last run"), /^sync \w+: complete$/)
    assert.match(lineOf(report, "versions"), /\bnode 24\.\d+\.\d+\b/)
  })

  it("needs no output folder, and none is created", async () => {
    const output = join(newFolder(), "not", "yet")
    const report = await doctor({ SLUICE_OUTPUT: output })
    assert.deepStrictEqual(faults(report), [])
    assert.strictEqual(lineOf(report, "folder"), `${output} will be created`)
    assert.strictEqual(lineOf(report, "last run"), "none yet")
    assert.isFalse(existsSync(output))
  })
})

describe("settings", () => {
  const file = join(newFolder(), "sluice.toml")

  it("are listed with their source: a flag, the environment, the file or the default, in this order", async () => {
    writeFileSync(
      file,
      `[account]\nbase_url = "http://file.example"\ncompany_id = "company"\n[budget]\nreserve_per_day = 7\n`
    )
    const { settings } = await doctor({}, "--config", file, "--location", account.service.locationId)
    const from = Object.fromEntries(settings.map((one) => [one.key, `${one.value} from ${one.from}`]))
    assert.strictEqual(from["account.base_url"], `${account.service.url} from environment SLUICE_BASE_URL`)
    assert.strictEqual(from["account.company_id"], `company from file ${file}:3`)
    assert.strictEqual(from["account.location_id"], `${account.service.locationId} from flag --location`)
    assert.strictEqual(from["account.token"], "<redacted> from environment SLUICE_TOKEN")
    assert.strictEqual(from["budget.reserve_per_day"], `7 from file ${file}:5`)
    assert.strictEqual(from["budget.burst"], "100 from default")
    assert.strictEqual(from["output.formats"], "none from environment SLUICE_FORMATS")
    assert.strictEqual(from["files.max_bytes"], "268435456 from default")
    assert.strictEqual(from["machine.memory_mb"], "128 from default")
  })

  it("that are missing are a problem, and the machine is still checked", async () => {
    const report = await doctor({ SLUICE_TOKEN: "" })
    assertOnly(report, /^problem settings: There are no credentials: account\.token \(SLUICE_TOKEN\) is missing/, 78)
    assert.strictEqual(lineOf(report, "lock"), "no other run is working here")
    assert.isUndefined(report.lines.find(({ check }) => check === "token"))
  })

  it("that contain a token and that other users can read are a warning", async () => {
    const warned = async (content: string, mode: number) => {
      writeFileSync(file, content)
      chmodSync(file, mode)
      const { lines } = await doctor({}, "--config", file)
      return lines.filter(({ state }) => state !== "ok").map(({ what, todo }) => `${what}: ${todo}`)
    }
    const plain = "[account]\ntoken = 'plain-token'\n"
    const warning = `${file} contains a secret, and other users of this machine can read it (644): chmod 600 '${file}'`
    assert.deepStrictEqual(await warned(plain, 0o644), [warning])
    assert.deepStrictEqual(await warned("[[locations]]\nid = 'L'\ntoken = 'plain-token'\n", 0o644), [warning])
    assert.deepStrictEqual(await warned(plain, 0o600), [])
    assert.deepStrictEqual(await warned("[account]\ntoken = 'env:CRM_TOKEN'\n", 0o644), [])
  })

  it("that are unknown are a problem", async () => {
    writeFileSync(file, "[output]\nfoldr = 'x'\n")
    assertOnly(
      await doctor({}, "--config", file),
      /^problem settings: .*output\.foldr: there is no such setting; did you mean output\.folder\?/,
      78
    )
  })
})

describe("a problem that would stop a sync is reported with its exit code", () => {
  it("a token that the service refuses", async () => {
    const report = await doctor({ SLUICE_TOKEN: "nonsense-nonsense" })
    assertOnly(report, /^problem token: The service does not accept the token/, 77)
    assert.match(report.lines.find(({ state }) => state === "problem")!.todo!, /Set SLUICE_TOKEN/)
    assert.isUndefined(report.lines.find(({ check }) => check === "scopes"))
  })

  it("is printed first, with its remedy below it", async () => {
    const { stdout, stderr } = await sluice(["doctor"], { ...account.environment, SLUICE_TOKEN: "nonsense-nonsense" })
    const lines = stdout.split("\n")
    assert.match(lines[1]!, /^problem +token +The service does not accept the token/)
    assert.match(lines[2]!, /^ {10}Set SLUICE_TOKEN to a valid token/)
    assert.match(lines[3]!, /^ok /)
    assert.notMatch(stderr, /SLUICE_TOKEN/)
  })

  it("a location that the token does not belong to", async () =>
    assertOnly(
      await doctor({ SLUICE_LOCATION_ID: "somewhereElse" }),
      /^problem token: The token may not read location somewhereElse/,
      77
    ))

  it.each([
    ["contacts.readonly", /contacts\.readonly is missing, so these cannot be read: contact_notes, contacts /],
    ["calendars/events.readonly", /calendars\/events\.readonly is missing, so these cannot be read: appointments /],
    ["users.readonly", /users\.readonly is missing, so these cannot be read: users /],
    ["socialplanner/post.readonly", /socialplanner\/post\.readonly is missing, so these cannot be read: social_posts /]
  ])("a missing scope: %s", async (scope, pattern) => {
    await account.service.post("token", { removeScope: scope })
    assertOnly(await doctor(), pattern, 77)
  })

  it("the scopes are checked except for one", async () => {
    assert.match(lineOf(await doctor(), "scopes"), /^3\d of 3\d .*; not checked: recurring-tasks\.readonly$/)
  })

  it("a missing scope for the location", async () => {
    await account.service.post("token", { removeScope: "locations.readonly" })
    assertOnly(await doctor(), /^problem token: location \w+ cannot be read: 403/, 77)
  })

  it("an address that refuses connections", async () => {
    const environment = { ...account.environment, SLUICE_BASE_URL: "http://127.0.0.1:9" }
    // Only back-off waits.
    const report = await reported(sluice(["doctor", "--json"], environment, { overrides: acceleratedClock() }))
    assertOnly(report, /^problem token: The service gave no usable answer: .*ECONNREFUSED/, 75)
  }, 90_000)

  it("a daily budget that is used up", async () => {
    const file = join(newFolder(), "sluice.toml")
    writeFileSync(file, "[budget]\nreserve_per_day = 4999\n")
    const report = await doctor({}, "--config", file)
    assert.strictEqual(report.exitCode, 75)
    assert.match(faults(report).join("\n"), /^problem budget: .* left today, 4,999 reserved for other programs$/m)
  })

  it("a folder that cannot be written", async () => {
    const file = join(newFolder(), "file")
    writeFileSync(file, "")
    assertOnly(await doctor({ SLUICE_OUTPUT: join(file, "output") }), /^problem folder: .* cannot be written/, 1)
  })
})

describe("a fault that stops no sync is a warning", () => {
  it("a folder that other users can read", async () => {
    chmodSync(account.output, 0o755)
    mkdirSync(join(account.output, "mine"), { mode: 0o777 })
    const report = await doctor()
    chmodSync(account.output, 0o700)
    rmSync(join(account.output, "mine"), { recursive: true })
    assertOnly(report, /^warning modes: other users of this machine can read \S+\/? \(755\), \S+\/mine \(7\d\d\)$/, 0)
    assert.match(report.lines.find(({ state }) => state === "warning")!.todo!, /^chmod -R go-rwx '/)
  })

  it("an incomplete last run", async () => {
    await sql(
      account.output,
      "INSERT INTO meta.runs (run_id, command, status, exit_code) VALUES ('2099', 'sync', 'incomplete', 3)"
    )
    const report = await doctor()
    await sql(account.output, "DELETE FROM meta.runs WHERE run_id = '2099'")
    assertOnly(report, /^warning last run: sync 2099: incomplete, exit code 3$/, 0)
  })

  it("a clock that is two minutes behind", async () => {
    await account.service.post("clock", { advanceMs: 120_000 })
    assertOnly(await doctor(), /^warning clock: this machine is 1(19|20|21) s behind the service$/, 0)
  })
})
