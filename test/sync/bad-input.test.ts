import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAccount } from "../support/account.ts"
import { hurriedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { type Ran, newFolder, sluice } from "../support/sluice.ts"

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
    const environment = { ...account.environment, SLUICE_OUTPUT: newFolder(), SLUICE_BASE_URL: "http://127.0.0.1:9" }
    const ran = await sluice(["sync", "--only", "locations"], environment, { overrides: hurriedClock() })
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

  it.each<[string, (vault: string) => void, isRefusedToRoot: boolean]>([
    ["a file stands where the vault belongs", (vault) => writeFileSync(vault, ""), true],
    ["the vault is a folder that nobody may write", unwritableVault, false]
  ])("%s: one paragraph names it", async (_, make, isRefusedToRoot) => {
    const output = newFolder()
    make(join(output, "vault"))
    const ran = await syncWith({ SLUICE_OUTPUT: output })
    // Permissions do not stop root.
    if (process.getuid?.() === 0 && !isRefusedToRoot) return assert.strictEqual(ran.code, 0, ran.stderr)
    assert.strictEqual(ran.code, 1, ran.stderr)
    says(ran, /vault/)
  })
})

const unwritableVault = (vault: string) => {
  mkdirSync(vault)
  writeFileSync(join(vault, "000001.ndjson"), "", { mode: 0o400 })
  chmodSync(vault, 0o500)
}
