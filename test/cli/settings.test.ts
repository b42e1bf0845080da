/** How the commands report settings: test/settings has the sentences. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { allSettings } from "../../src/settings/sections.ts"
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
    ],
    ["[schema]\naccepted = ['contacts']", "schema.accepted: contacts does not name a table and one of its fields"],
    [
      "[tables.contacts]\nexclude = ['id']",
      "tables.contacts.exclude: id cannot be kept out: it identifies a row of contacts."
    ],
    [
      "[tables.contacts]\nexclude = ['snn']",
      "tables.contacts.exclude: the table has no column or child table snn; did you mean ssn?"
    ],
    ["\n[tables.contcts]\nhash = ['email']", "[tables.contcts]: there is no such table; did you mean contacts?"]
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

describe("a setting of 1.0.0 that has no effect any more", () => {
  it("is a warning with its line, said once, and the command goes on", async () => {
    const config = fileOf("[alarms]\nwarn_after = '20h'\ntoken_days = 30\nvolume_nights = 'x'\n")
    for (const command of ["config validate", "dictionary --coverage"]) {
      const ran = await sluice([...command.split(" "), "--config", config], complete)
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.strictEqual(
        ran.stderr.split("\nNext")[0]!.trimEnd(),
        [
          `${config}:3: alarms.token_days has no effect any more, and 2.0.0 refuses it: the warning comes 14 days before the token expires.`,
          `${config}:4: alarms.volume_nights has no effect any more, and 2.0.0 refuses it: a night is compared with the last 14.`
        ].join("\n")
      )
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

describe("config", () => {
  const content =
    "[account]\ntoken = 'secret-1'\nclient_secret = 'env:CRM_SECRET'\nrefresh_token = 'cmd:print secret-2'\n[budget]\nburst = 7\n"
  const run = async (command: string, text: string, environment: Readonly<Record<string, string>> = {}) => {
    const config = fileOf(text)
    const args = ["config", command, "--config", config]
    const [lines, json] = [await sluice(args, environment), await sluice([...args, "--json"], environment)]
    assert.strictEqual(json.code, lines.code)
    return { ...lines, config, data: JSON.parse(json.stdout).data, output: lines.stdout + lines.stderr + json.stdout }
  }

  it("show lists every setting with its value and source, without secrets, whether or not all are right", async () => {
    const ran = await run("show", content, { SLUICE_FORMATS: "csv", SLUICE_FILES_MAX_BYTES: "-1" })
    assert.strictEqual(ran.code, 0)
    const shown = (setting: string) => new RegExp(`^${setting} +(.*?) *$`, "m").exec(ran.stdout)?.[1]?.split(/ {2,}/)
    assert.deepStrictEqual(shown("account.token"), ["<redacted>", `${ran.config}:2`])
    assert.deepStrictEqual(shown("account.client_secret"), ["env:CRM_SECRET", `${ran.config}:3`])
    assert.deepStrictEqual(shown("account.refresh_token"), ["<redacted>", `${ran.config}:4`])
    assert.deepStrictEqual(shown("budget.burst"), ["7", `${ran.config}:6`])
    assert.deepStrictEqual(shown("output.formats"), ["csv", "SLUICE_FORMATS"])
    assert.deepStrictEqual(shown("files.max_bytes"), ["268435456", "default"])
    assert.deepStrictEqual(shown("account.base_url"), ["missing"])
    assert.deepStrictEqual(shown("account.client_id"), ["not set"])
    assert.deepStrictEqual(
      ran.data.settings.map(({ setting }: { setting: string }) => setting),
      allSettings.map(({ path }) => path)
    )
    assert.notInclude(ran.output, "secret-")
    assert.match(ran.stderr, /^3 problems in these settings\.\nNext: \.\/sluice config validate --config \S+$/m)
  })

  it("show lists the locations of the file", async () => {
    const ran = await run("show", "[[locations]]\nid = 'N'\ntoken = 'secret-1'\n[[locations]]\nid = 'S'\n")
    assert.match(ran.stdout, /^locations\[0\]\.id +N +\S+:2\nlocations\[0\]\.token +<redacted> +\S+:3$/m)
    assert.match(ran.stdout, /^locations\[1\]\.id +S +\S+:5$/m)
    assert.notInclude(ran.output, "secret-")
  })

  it("validate reports every problem at once, also in the schema policies and the tables of a target", async () => {
    const target = "[[publish]]\nname = 'desk'\nfolder = 'desk'\nprofile = 'raw'\ntables = ['contacts', 'invoicess']\n"
    const wrong = `${content}brst = 1\n[schema]\nresources.invoicess = 'freeze'\n${target}`
    const ran = await run("validate", wrong, { SLUICE_TOKEN: "file:/nowhere" })
    assert.strictEqual(ran.code, 78)
    assert.deepStrictEqual(ran.stdout.trim().split("\n"), ran.data.problems)
    for (const part of [
      `${ran.config}:7: budget.brst: there is no such setting; did you mean budget.burst?`,
      `${ran.config}:9: schema.resources.invoicess: there is no such resource; did you mean invoices?`,
      `${ran.config}:14: tables: there is no table or family invoicess; did you mean invoices?`,
      "account.base_url is missing",
      "account.location_id is missing",
      "account.token: file:/nowhere cannot be read"
    ])
      assert.include(ran.stdout, part)
    assert.lengthOf(ran.data.problems, 6)
    assert.notInclude(ran.output, "secret-")
  })

  it("validate accepts valid settings, with several locations too", async () => {
    const ran = await run("validate", "[[locations]]\nid = 'N'\n[[locations]]\nid = 'S'\n", {
      ...complete,
      SLUICE_LOCATION_ID: ""
    })
    assert.strictEqual(ran.code, 0, ran.output)
    assert.strictEqual(ran.stdout, "The settings are valid.\n")
    assert.match(ran.stderr, /^Next: \.\/sluice doctor --config /)
  })
})

describe("a selection", () => {
  const refused = async (...args: ReadonlyArray<string>): Promise<string> => {
    const ran = await sluice(args, { ...complete, SLUICE_OUTPUT: newFolder() })
    assert.strictEqual(ran.code, 2, ran.stderr)
    return ran.stderr.split("\n").find((line) => line.startsWith("sluice: ")) ?? assert.fail(ran.stderr)
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
