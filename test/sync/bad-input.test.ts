/** What is wrong before anything is read is said with its name and the next step. test/settings has every wrong setting. */
import { assert, describe, it } from "@effect/vitest"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openAccount } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { beginForAll } from "../support/life.ts"

const life = beginForAll(() => openAccount("--contacts", "120"))

/** Runs a sync in a new folder; it ends with the code, names the problem and the next step, and shows no stack. */
const refused = async (
  code: number,
  problem: RegExp,
  environment: Readonly<Record<string, string>> = {},
  ...args: ReadonlyArray<string>
) => {
  const command = args[0]?.startsWith("--") || args.length === 0 ? ["sync", ...args] : args
  const ran = await sluice(
    command,
    { ...life.account.environment, SLUICE_OUTPUT: newFolder(), ...environment },
    { overrides: acceleratedClock() }
  )
  assert.strictEqual(ran.code, code, ran.stderr)
  assert.match(ran.stderr, problem)
  assert.match(ran.stderr, /^Next: \S/m)
  assert.notMatch(ran.stderr, /\n\s+at /)
  return ran
}
const fileOf = (content: string) => {
  const path = join(newFolder(), "config.toml")
  writeFileSync(path, content)
  return path
}

describe("a sync is refused", () => {
  it("with 77 for a wrong token, which is refused twice and for a control, and is not printed", async () => {
    await life.service.post("stats/reset", {})
    const { stderr, stdout } = await refused(77, /does not accept the token of location \S+ \(401 Invalid JWT\)/, {
      SLUICE_TOKEN: "pit-not-the-token"
    })
    assert.notInclude(stdout + stderr, "pit-not-the-token")
    assert.strictEqual((await life.service.stats()).requests, 3)
  })

  it("with 77 for a location that the token does not belong to", async () => {
    await refused(77, /location nowhere/, { SLUICE_LOCATION_ID: "nowhere" })
  })

  it("with 78 for an address that refuses connections on the first run, and with 75 on later ones", async () => {
    const output = { SLUICE_OUTPUT: newFolder() }
    const wrong = { ...output, SLUICE_BASE_URL: "http://127.0.0.1:9" }
    const only = ["--only", "locations"]
    await refused(78, /nothing answers there \(.*ECONNREFUSED.*account\.base_url/s, wrong, ...only)
    await life.sync("--only locations", 0, output)
    await refused(75, /ECONNREFUSED/, wrong, ...only)
  })

  it.each([
    ["missing settings", { SLUICE_BASE_URL: "", SLUICE_TOKEN: "" }, "", /SLUICE_BASE_URL.*SLUICE_TOKEN/s],
    ["no location", { SLUICE_LOCATION_ID: "" }, "", /SLUICE_LOCATION_ID/],
    ["a wrong address", { SLUICE_BASE_URL: "ftp://x" }, "", /base_url.*ftp:\/\/x/],
    ["a file that is not there", {}, "/no/such/file.toml", /no\/such\/file.toml/],
    ["a file that is none", {}, () => fileOf("[account\n"), /config.toml/],
    ["a misspelt setting", {}, () => fileOf("[account]\nbase_ulr = 'x'"), /config\.toml:2: account\.base_ulr:/]
  ] as const)("with 78 for %s", async (_, environment, file, problem) => {
    const config = typeof file === "string" ? file : file()
    await refused(78, problem, environment, ...(config === "" ? [] : ["--config", config]))
  })

  it.each([
    ["sync --ful", /--ful/],
    ["snyc", /snyc/],
    ["sync --only contcats", /contcats/],
    ["publish --stdout nothing", /nothing/]
  ])("with 2 for an unknown command, flag or table: %s", async (args, problem) => {
    await refused(2, problem, {}, ...args.split(" "))
  })

  it.each([
    ["is a file", (vault: string) => writeFileSync(vault, "")],
    ["is a read-only folder", (vault: string) => mkdirSync(vault)]
  ])("with 1 if the vault %s, which it names", async (what, make) => {
    const output = newFolder()
    const vault = join(output, "vault")
    make(vault)
    if (what.endsWith("folder")) {
      writeFileSync(join(vault, "000001.ndjson"), "", { mode: 0o400 })
      chmodSync(vault, 0o500)
      // Permissions do not stop root.
      if (process.getuid?.() === 0) return void (await life.sync("--only workflows", 0, { SLUICE_OUTPUT: output }))
    }
    await refused(1, /vault/, { SLUICE_OUTPUT: output }, "--only", "workflows")
  })
})

it(
  "a resource that the service refuses, while it answers others, is incomplete; the others are read",
  { tags: ["slow"] },
  async () => {
    await life.service.post("token", { removeScope: "opportunities.readonly" })
    const { stderr } = await life.sync("--only contacts,opportunities,orders", 3)
    await life.service.post("token", { addScope: "opportunities.readonly" })
    assert.match(stderr, /opportunities: refused by the service, which answers other requests/)
    assert.match(stderr, /^Next: \.\/sluice doctor/m)
    assert.lengthOf(await life.ask("FROM crm.contacts"), 120)
    assert.isNotEmpty(await life.ask("FROM crm.orders"))
  }
)
