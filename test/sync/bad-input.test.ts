import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAccount } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"
import { type Ran, newFolder, sluice } from "../support/sluice.ts"

/** The error names the problem and the next step, without a stack trace. */
const assertExplains = ({ stderr }: Ran, problem: RegExp) => {
  assert.match(stderr, problem)
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

  it("a wrong token ends the run with 77 after a single request and is not printed", async () => {
    await account.service.post("stats/reset", {})
    const ran = await syncWith({ SLUICE_TOKEN: "pit-not-the-token" })
    assert.strictEqual(ran.code, 77)
    assertExplains(ran, /does not accept the token \(401 Invalid JWT\)/)
    assert.notInclude(ran.stdout + ran.stderr, "pit-not-the-token")
    assert.strictEqual((await account.service.stats()).requests, 1)
  })

  it("a location that the token does not belong to ends the run with 77 and is named", async () => {
    const ran = await syncWith({ SLUICE_LOCATION_ID: "nowhere" })
    assert.strictEqual(ran.code, 77)
    assertExplains(ran, /location nowhere/)
  })

  it("an address that refuses connections is wrong on the first run (78), and unavailable on later ones (75)", async () => {
    const environment = { ...account.environment, SLUICE_OUTPUT: newFolder() }
    const sync = (baseUrl: Record<string, string>) =>
      sluice(["sync", "--only", "locations"], { ...environment, ...baseUrl }, { overrides: acceleratedClock() })
    const first = await sync({ SLUICE_BASE_URL: "http://127.0.0.1:9" })
    assert.strictEqual(first.code, 78)
    assertExplains(first, /nothing answers there \(.*ECONNREFUSED.*account\.base_url/s)
    assert.strictEqual((await sync({})).code, 0)
    const later = await sync({ SLUICE_BASE_URL: "http://127.0.0.1:9" })
    assert.strictEqual(later.code, 75)
    assertExplains(later, /ECONNREFUSED/)
  })

  it.each([
    [{ SLUICE_BASE_URL: "", SLUICE_TOKEN: "" }, [], /SLUICE_BASE_URL.*SLUICE_TOKEN/s],
    [{ SLUICE_BASE_URL: "ftp://x" }, [], /base_url.*ftp:\/\/x/],
    [{ SLUICE_TOKEN: "" }, [], /SLUICE_TOKEN/],
    [{ SLUICE_LOCATION_ID: "" }, [], /SLUICE_LOCATION_ID/],
    [{ SLUICE_TOKEN: "env:NOT_SET_ANYWHERE" }, [], /env:NOT_SET_ANYWHERE cannot be read: the variable is not set/],
    [{}, ["--config", "/no/such/file.toml"], /no\/such\/file.toml/]
  ] as const)(
    "a missing or wrong setting ends the run with 78 and is named: %j",
    async (environment, flags, problem) => {
      const ran = await syncWith(environment, ...flags)
      assert.strictEqual(ran.code, 78)
      assertExplains(ran, problem)
    }
  )

  it.each([
    [
      "[account]\nbase_ulr = 'http://x'",
      /config\.toml:2: account\.base_ulr: there is no such setting; did you mean account\.base_url\?/
    ],
    ["[budget]\nreserve_per_day = 'many'", /reserve_per_day/],
    ["[output]\nformats = ['excel']", /formats/],
    ["[account\n", /config.toml/],
    ["[machine]\nmemory_mb = 95", /config\.toml:2: machine\.memory_mb is 95; expected a number that is 96 or more/]
  ])(
    "an invalid settings file ends the run with 78 and names the setting or the file: %j",
    async (content, problem) => {
      const config = join(newFolder(), "config.toml")
      writeFileSync(config, content)
      const ran = await syncWith({}, "--config", config)
      assert.strictEqual(ran.code, 78)
      assertExplains(ran, problem)
    }
  )

  it.each([
    [["sync", "--ful"], /--ful/],
    [["snyc"], /snyc/],
    [["sync", "--only", "contcats"], /contcats/],
    [["publish", "--stdout", "nothing"], /nothing/]
  ])("an unknown command, flag or table exits with 2 and is named: %j", async (args, problem) => {
    const ran = await sluice(args, { ...account.environment, SLUICE_OUTPUT: newFolder() })
    assert.strictEqual(ran.code, 2, ran.stderr)
    assert.match(ran.stderr, problem)
    assert.match(ran.stderr, /^Next: /m)
  })

  it(
    "a missing scope makes its resource unreadable and ends the run with 77, and other resources are read",
    { tags: ["slow"] },
    async () => {
      await account.service.post("token", { removeScope: "opportunities.readonly" })
      try {
        const output = await newOutput()
        const ran = await syncWith({ SLUICE_OUTPUT: output }, "--only", "contacts,opportunities,orders")
        assert.strictEqual(ran.code, 77)
        assertExplains(ran, /opportunities: not readable with this token/)
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
    }
  )

  it.each<[string, (vault: string) => void, isRefusedToRoot: boolean]>([
    ["the vault is a file", (vault) => writeFileSync(vault, ""), true],
    ["the vault is a read-only folder", unwritableVault, false]
  ])("%s: the error names the vault", async (_, make, isRefusedToRoot) => {
    const output = newFolder()
    make(join(output, "vault"))
    const ran = await syncWith({ SLUICE_OUTPUT: output }, "--only", "workflows")
    // Permissions do not stop root.
    if (process.getuid?.() === 0 && !isRefusedToRoot) return assert.strictEqual(ran.code, 0, ran.stderr)
    assert.strictEqual(ran.code, 1, ran.stderr)
    assertExplains(ran, /vault/)
  })
})

const unwritableVault = (vault: string) => {
  mkdirSync(vault)
  writeFileSync(join(vault, "000001.ndjson"), "", { mode: 0o400 })
  chmodSync(vault, 0o500)
}
