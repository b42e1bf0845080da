/** `--json` of every command. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { cpSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Account, discard, openTables } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const schemas = fileURLToPath(new URL("../../docs/schemas/", import.meta.url))

/** Compiled from the published files by a validator that is not ours. */
const validate = (name: string, result: unknown): void => {
  const check = new Ajv2020({ allErrors: true }).compile(
    // Programs must accept new fields; here, a field that the schema does not describe is an error.
    JSON.parse(
      readFileSync(`${schemas}${name}.schema.json`, "utf8").replaceAll('Properties": true', 'Properties": false')
    )
  )
  assert.isTrue(check(result), `${name}: ${JSON.stringify(check.errors)}`)
}

describe("--json", () => {
  let account: Account
  const resultOf = async (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
    const ran = sluice(
      [...args, "--json"],
      { ...account.environment, ...environment },
      { overrides: acceleratedClock() }
    )
    const { code, stdout, stderr } = await ran
    const lines = stdout.trim().split("\n")
    assert.lengthOf(lines, 1, `${stdout}\n${stderr}`)
    return { code, result: JSON.parse(lines[0]!) }
  }
  beforeAll(async () => {
    account = await openTables("contacts,contact_notes,invoices", "--contacts", "30")
  })
  afterAll(() => discard(account))

  it(
    "of a successful command is one object that its schema describes, with the exit code of the process",
    { tags: ["slow"] },
    async () => {
      const contact = String((await account.service.records("contacts"))[0]!["id"])
      const bundle = join(newFolder(), "bundle")
      const commands = [
        ["plan", ...account.selection],
        ["sync", ...account.selection],
        ["backfill", "--from", "2026-01-01", "--only", "contacts"],
        ["status"],
        ["status", "--check"],
        ["verify", "--sample", "3"],
        ["check"],
        ["schedule", "print", "--as", "cron"],
        ["publish"],
        ["contract", "check", fileURLToPath(new URL("../../docs/contract/1.0.0.odcs.json", import.meta.url))],
        ["export", "excel", join(newFolder(), "book.xlsx"), "--only", "contacts"],
        ["export", "bundle", bundle, "--only", "contacts"],
        ["export", "verify", bundle],
        ["ledger", "show"],
        ["ledger", "verify"],
        ["report"],
        ["subject", "export", "--contact", contact, "--to", join(newFolder(), "person")],
        ["subject", "erase", "--contact", contact],
        ["hold", "list"],
        ["rebuild"],
        ["doctor"],
        ["init", "--config", join(newFolder(), "s.toml"), "--token-ref", "env:SLUICE_TOKEN", "--format", "csv"].concat([
          "--base-url",
          account.service.url,
          "--location",
          account.service.locationId
        ]),
        ["config", "show"],
        ["config", "validate"],
        ["dictionary"],
        ["dictionary", "--coverage"]
      ]
      for (const args of commands) {
        const { code, result } = await resultOf(args, args[0] === "publish" ? { SLUICE_FORMATS: "duckdb" } : {})
        const name = args.includes("--coverage")
          ? "coverage"
          : args.slice(0, /^(config|contract|subject|export|ledger|schedule)$/.test(args[0]!) ? 2 : 1).join("-")
        assert.strictEqual(result.schema, `sluice/${name}/1`)
        assert.strictEqual(result.exitCode, code, args.join(" "))
        validate(name, result)
      }
      const environment = { SLUICE_LOCATION_ID: "another", SLUICE_OUTPUT: newFolder() }
      cpSync(account.output, environment.SLUICE_OUTPUT, { recursive: true, verbatimSymlinks: true })
      for (const apply of [[], ["--apply"]]) {
        const { code, result } = await resultOf(
          ["location", "remove", account.service.locationId, ...apply],
          environment
        )
        assert.deepStrictEqual([code, result.data?.applied], [0, apply.length > 0], JSON.stringify(result))
        validate("location-remove", result)
      }
    }
  )

  it.each([
    ["usage", 2, ["sync", "--ful"], {}],
    ["usage", 2, ["sync", "--only", "contcts"], {}],
    ["usage", 2, ["status", "--max-age", "soon"], {}],
    ["config", 78, ["sync"], { SLUICE_BASE_URL: "ftp://x" }],
    ["credentials", 77, ["sync"], { SLUICE_TOKEN: "wrong-token" }],
    ["failed", 1, ["status"], { SLUICE_OUTPUT: newFolder() }],
    ["failed", 1, ["publish"], { SLUICE_OUTPUT: newFolder() }],
    ["later", 75, ["verify", "--sample", "1"], { SLUICE_BASE_URL: "http://127.0.0.1:1" }]
  ] as const)(
    "of a command that fails is an object with the code %s and the exit code %i: %j",
    { tags: ["slow"] },
    async (error, exitCode, args, environment) => {
      const { code, result } = await resultOf(args, environment)
      assert.strictEqual(code, exitCode)
      assert.strictEqual(result.exitCode, exitCode)
      assert.strictEqual(result.error.code, error)
      assert.isAbove(result.error.message.length, 10)
      validate("error", result)
    }
  )

  it("repeats the given flags in the next command", async () => {
    const folder = newFolder()
    const { result } = await resultOf(["status", "--output", folder])
    assert.strictEqual(result.next, `./sluice sync --output ${folder}`)
    const spaced = await resultOf(["status", "--output", `${folder}/it's new`])
    assert.strictEqual(spaced.result.next, `./sluice sync --output '${folder}/it'\\''s new'`)
  })
})
