import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAccount } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Ran, newFolder, sluice, start } from "../support/sluice.ts"

/** One paragraph that names the trouble, then the next step, and no stack trace. */
const says = ({ stderr }: Ran, trouble: RegExp) => {
  assert.match(stderr, trouble)
  assert.match(stderr, /^Next: \S/m)
  assert.notMatch(stderr, /\n\s+at /)
}

describe("bad input", () => {
  let account: Account
  beforeAll(async () => {
    account = await openAccount("--contacts", "120")
  })
  afterAll(() => account.service.stop())
  const syncWith = (environment: Record<string, string>, ...flags: ReadonlyArray<string>) =>
    sluice(["sync", ...flags], { ...account.environment, SLUICE_OUTPUT: newFolder(), ...environment })

  it("a wrong token ends the run with 77 after a single request, and is printed nowhere", async () => {
    await account.service.post("stats/reset", {})
    const ran = await syncWith({ SLUICE_TOKEN: "pit-not-the-token" })
    assert.strictEqual(ran.code, 77)
    says(ran, /does not accept the token \(401 Invalid JWT\)/)
    assert.notInclude(ran.stdout + ran.stderr, "pit-not-the-token")
    assert.strictEqual((await account.service.stats()).requests, 1)
  })

  it("another location ends with 77 and its name", async () => {
    const ran = await syncWith({ SLUICE_LOCATION_ID: "nowhere" })
    assert.strictEqual(ran.code, 77)
    says(ran, /location nowhere/)
  })

  it("an address where nobody answers ends with 75: later", async () => {
    const ran = await syncWith({ SLUICE_BASE_URL: "http://127.0.0.1:9" }, "--only", "locations")
    assert.strictEqual(ran.code, 75)
    says(ran, /ECONNREFUSED/)
  })

  it.each([
    [{ SLUICE_BASE_URL: "", SLUICE_TOKEN: "" }, [], /SLUICE_BASE_URL.*SLUICE_TOKEN/s],
    [{ SLUICE_BASE_URL: "ftp://x" }, [], /base_url.*ftp:\/\/x/],
    [{ SLUICE_TOKEN: "" }, [], /SLUICE_TOKEN/],
    [{ SLUICE_LOCATION_ID: "" }, [], /SLUICE_LOCATION_ID/],
    [{ SLUICE_TOKEN: "env:NOT_SET_ANYWHERE" }, [], /env:NOT_SET_ANYWHERE cannot be read: the variable is not set/],
    [{}, ["--config", "/no/such/file.toml"], /no\/such\/file.toml/]
  ] as const)(
    "a setting that is missing or wrong ends with 78 and its name: %j",
    async (environment, flags, trouble) => {
      const ran = await syncWith(environment, ...flags)
      assert.strictEqual(ran.code, 78)
      says(ran, trouble)
    }
  )

  it.each([
    ["[account]\nbase_ulr = 'http://x'", /there is no setting account\.base_ulr; did you mean account\.base_url\?/],
    ["[budget]\nreserve_per_day = 'many'", /reserve_per_day/],
    ["[output]\nformats = ['excel']", /formats/],
    ["[account\n", /config.toml/],
    ["[machine]\nmemory_mb = 95", /machine\.memory_mb is 95 in \S*config\.toml; expected a number that is 96 or more/]
  ])("a broken settings file ends with 78 and the place: %j", async (content, trouble) => {
    const config = join(newFolder(), "config.toml")
    writeFileSync(config, content)
    const ran = await syncWith({}, "--config", config)
    assert.strictEqual(ran.code, 78)
    says(ran, trouble)
  })

  it.each([
    [["sync", "--ful"], /--ful/],
    [["snyc"], /snyc/],
    [["sync", "--only", "contcats"], /contcats/],
    [["publish", "--stdout", "nothing"], /nothing/]
  ])("a word that is no command, flag or table ends with 2: %j", async (args, trouble) => {
    const ran = await sluice(args, { ...account.environment, SLUICE_OUTPUT: newFolder() })
    assert.strictEqual(ran.code, 2, ran.stderr)
    assert.match(ran.stderr, trouble)
    assert.match(ran.stderr, /^Next: /m)
  })

  it("a missing scope stops that resource alone, says which, and the run ends with 77", async () => {
    await account.service.post("token", { removeScope: "opportunities.readonly" })
    try {
      const output = newFolder()
      const ran = await syncWith({ SLUICE_OUTPUT: output })
      assert.strictEqual(ran.code, 77)
      says(ran, /opportunities: not readable with this token/)
      const warehouse = join(output, "warehouse.duckdb")
      const [row] = await query(
        warehouse,
        "SELECT (SELECT count(*) FROM crm.contacts) AS contacts, (SELECT count(*) FROM crm.orders) AS orders"
      )
      assert.strictEqual(row!["contacts"], "120")
      assert.notStrictEqual(row!["orders"], "0")
    } finally {
      await account.service.post("token", { addScope: "opportunities.readonly" })
    }
  })

  it("a second run at the same time ends with 11 and the process to wait for; the first goes on", async () => {
    const slow = await openAccount("--latency", "300", "--contacts", "300")
    try {
      const first = start(["sync"], slow.environment)
      await slow.service.requested(20)
      for (const command of ["sync", "rebuild", "publish", "status"]) {
        const second = await sluice([command], slow.environment)
        assert.strictEqual(second.code, 11, `${command}: ${second.stderr}`)
        says(second, /Another run \(process \d+\)/)
      }
      const ran = await first.ended
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(await slow.differences(), [])
    } finally {
      slow.service.stop()
    }
  })

  it("Ctrl-C ends with 130 and keeps what was read; the next run goes on from there", async () => {
    const slow = await openAccount("--latency", "30", "--contacts", "200")
    try {
      const running = start(["sync"], slow.environment)
      await slow.service.requested(60)
      running.kill("SIGINT")
      const stopped = await running.ended
      assert.strictEqual(stopped.code, 130)
      says(stopped, /what was read is kept/)
      const { requests } = await slow.service.stats()
      assert.strictEqual((await slow.sync()).code, 0)
      assert.deepStrictEqual(await slow.differences(), [])
      const fetched = (await slow.service.stats()).requestsByOperation["GET /contacts/:contactId/notes"]!
      // What was in flight is asked for again: one request of each of the twelve side by side.
      assert.isAtMost(fetched, 200 + 12, `${requests} requests before Ctrl-C`)
    } finally {
      slow.service.stop()
    }
  })

  it("a folder that cannot be written ends with one paragraph", async () => {
    const output = newFolder()
    mkdirSync(join(output, "vault"))
    writeFileSync(join(output, "vault", "000001.ndjson"), "")
    chmodSync(join(output, "vault", "000001.ndjson"), 0o400)
    chmodSync(join(output, "vault"), 0o500)
    const ran = await syncWith({ SLUICE_OUTPUT: output })
    // Root may write everywhere; everyone else is refused.
    if (process.getuid?.() === 0) return
    assert.strictEqual(ran.code, 1)
    says(ran, /vault/)
  })
})

/** A file system of a few megabytes; only root can make one. */
const smallDisk = (): string | undefined => {
  const folder = newFolder()
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=9m", "tmpfs", folder], { stdio: "ignore" })
    return folder
  } catch {
    return undefined
  }
}

describe("a full disk", () => {
  it("ends the run with what to do, and the next run, with room, goes on from what was kept", async (context) => {
    const disk = smallDisk()
    if (!disk) return context.skip("needs the right to mount a small file system")
    const account = await openAccount("--contacts", "8000", "--messages", "200", "--notes-per-contact", "0")
    try {
      const environment = { ...account.environment, SLUICE_OUTPUT: disk }
      const ran = await sluice(["sync", "--only", "contacts"], environment)
      assert.strictEqual(ran.code, 1, ran.stderr)
      says(ran, /could not be written|could not be/)
      execFileSync("mount", ["-o", "remount,size=500m", disk])
      const before = (await account.service.stats()).requestsByOperation["POST /contacts/search"]!
      const again = await sluice(["sync", "--only", "contacts"], environment)
      assert.strictEqual(again.code, 0, again.stderr)
      const after = (await account.service.stats()).requestsByOperation["POST /contacts/search"]!
      assert.isAtMost(after, 17 + 2, `${before} before, ${after} after`)
      const [row] = await query(join(disk, "warehouse.duckdb"), "SELECT count(*) AS n FROM crm.contacts")
      assert.strictEqual(row!["n"], "8000")
    } finally {
      account.service.stop()
      execFileSync("umount", [disk])
    }
  })
})
