/** How the commands report settings: test/settings has the sentences. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { newFolder, sluice } from "../support/sluice.ts"

const complete = { SLUICE_BASE_URL: "http://127.0.0.1:9", SLUICE_TOKEN: "token-1", SLUICE_LOCATION_ID: "L" }

const fileOf = (content: string): string => {
  const path = join(newFolder(), "sluice.toml")
  writeFileSync(path, content)
  return path
}

describe("wrong settings are refused in the same words by every command that reads them:", () => {
  const commands = ["sync", "plan", "backfill --from 2025-01-01", "status", "publish", "verify", "doctor"]
  it.each([
    ["[account]\nbase_urll = 'x'", "account.base_urll: there is no such setting; did you mean account.base_url?"],
    [
      "[schema]\nresources.invoicess = 'freeze'",
      "schema.resources.invoicess: there is no such resource; did you mean invoices?"
    ],
    [
      "[schema]\naccepted = ['contcts.loyaltyTier']",
      "schema.accepted: contcts.loyaltyTier does not name a table and one of its fields, as in contacts.loyaltyTier; did you mean contacts.loyaltyTier?"
    ]
  ])("%j", async (content, sentence) => {
    const config = fileOf(content)
    for (const command of commands) {
      const { code, stdout, stderr } = await sluice([...command.split(" "), "--config", config], {
        ...complete,
        // Without a token, doctor does not try to reach the service.
        ...(command === "doctor" && { SLUICE_TOKEN: "" }),
        SLUICE_OUTPUT: newFolder()
      })
      assert.strictEqual(code, 78, `${command}: ${stderr}`)
      assert.include(stdout + stderr, `${config}:2: ${sentence}`, command)
    }
  })
})

describe("an environment variable that is not a setting", () => {
  it("is reported once with the closest name and without its value, and does not stop the command", async () => {
    const ran = await sluice(["dictionary", "--coverage"], { SLUICE_TOKN: "secret-1", SLUICE_SEED: "1" })
    assert.strictEqual(ran.code, 0)
    assert.strictEqual(
      ran.stderr,
      "Warning: the environment variable SLUICE_TOKN is not a setting; did you mean SLUICE_TOKEN?\n"
    )
  })

  it("is not reported if another variable refers to it", async () => {
    const { stderr } = await sluice(["dictionary", "--coverage"], {
      SLUICE_CRM_SECRET: "secret-1",
      SLUICE_TOKEN: "env:SLUICE_CRM_SECRET"
    })
    assert.strictEqual(stderr, "")
  })
})

describe("a selection", () => {
  const refused = async (...args: ReadonlyArray<string>): Promise<string> => {
    const ran = await sluice(args, { ...complete, SLUICE_OUTPUT: newFolder() })
    assert.strictEqual(ran.code, 2, ran.stderr)
    return ran.stderr.split("\n")[0]!
  }

  it.each([
    ["--only", "contcts", "contacts"],
    ["--except", "paymnts", "payments"],
    ["--only", "contact_tag", "contact_tags"]
  ])("with a misspelt table or family names the closest: %s %s", async (flag, name, expected) => {
    assert.strictEqual(
      await refused("status", flag, name),
      `sluice: ${flag} ${name}: there is no such table or family; did you mean ${expected}?`
    )
  })

  it("may repeat its flags, and each value is checked", async () => {
    assert.match(await refused("status", "--only", "contacts", "--only", "kalendars,users"), /--only kalendars: /)
    assert.match(
      await refused("backfill", "--from", "2025-01-01", "--to", "2024-01-01", "--only", "contacts", "--only", "orders"),
      /is not before/
    )
  })

  it.each([
    ["--from 2025-13-01", "--from 2025-13-01"],
    ["--from 2025-01-01 --to tomorrow", "--to tomorrow"]
  ])("of a period shows how a date is written: %s", async (flags, flag) => {
    assert.strictEqual(
      await refused("backfill", ...flags.split(" ")),
      `sluice: ${flag} is not a date: write 2025-01-31 or 2025-01-31T12:00:00Z.`
    )
  })
})

it.each(["sync", "plan", "demo"])("%s refuses an output folder that cannot exist at once", async (command) => {
  const ran = await sluice([command, "--output", "/proc/nope"], complete)
  assert.strictEqual(ran.code, 78, ran.stderr)
  assert.match(ran.stderr, /^sluice: The output folder \/proc\/nope cannot be created: /m)
})

it("several locations where one is read: the next step names the first", async () => {
  const ran = await sluice(["verify", "--sample", "1"], { ...complete, SLUICE_LOCATION_ID: "N,S" })
  assert.strictEqual(ran.code, 78)
  assert.match(ran.stderr, /^Next: Run the same command with --location N\.$/m)
})
