/** One table on stdout, read by readers that are not ours. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"
import { Buffer } from "node:buffer"
import { PassThrough } from "node:stream"
import { runCommand } from "../../src/cli/command.ts"
import { type Account, discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

describe("publish --stdout", () => {
  let account: Account
  const run = (...args: ReadonlyArray<string>) => sluice(["publish", "--stdout", ...args], account.environment)
  beforeAll(async () => {
    account = await openSynced({
      tables: "contacts,opportunities",
      flags: ["--contacts", "150", "--world", "nasty"],
      formats: "duckdb"
    })
  })
  afterAll(() => discard(account))

  it("writes the chosen columns of the rows that meet a condition, in this order", async () => {
    const { code, stdout } = await run("contacts", "--columns", "email,id", "--where", "email IS NOT NULL")
    assert.strictEqual(code, 0)
    const rows: ReadonlyArray<Record<string, string>> = parse(stdout, { columns: true })
    assert.deepStrictEqual(Object.keys(rows[0]!), ["email", "id"])
    const expected = await query(account.warehouse, "SELECT email, id FROM crm.contacts WHERE email IS NOT NULL")
    assert.deepStrictEqual(rows.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort())
    assert.isAbove(expected.length, 10)
  })

  it("writes a model, by its name or with its schema", async () => {
    const { code, stdout } = await run("fct_opportunity", "--columns", "opportunity_id", "--where", "is_won")
    assert.strictEqual(code, 0)
    assert.strictEqual(
      (await run("bi.fct_opportunity", "--columns", "opportunity_id", "--where", "is_won")).stdout,
      stdout
    )
    const expected = await query(
      account.warehouse,
      "SELECT id FROM crm.opportunities WHERE status = 'won' AND _deleted_at IS NULL"
    )
    const rows: ReadonlyArray<Record<string, string>> = parse(stdout, { columns: true })
    assert.deepStrictEqual(rows.map((row) => row["opportunity_id"]).sort(), expected.map(({ id }) => id).sort())
    assert.isAbove(expected.length, 5)
    const masked = await run("fct_opportunity", "--profile", "masked")
    assert.strictEqual(masked.code, 2)
    assert.match(masked.stderr, /a model is made of tables that are masked already/)
  })

  it("writes NDJSON whose numbers, JSON columns and timestamps a parser reads as such", async () => {
    const { stdout } = await run("opportunities", "--format", "ndjson")
    const rows = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    const expected = await query(
      account.warehouse,
      "SELECT id, monetary_value::DOUBLE AS value, epoch_ms(created_at) AS created FROM crm.opportunities ORDER BY id"
    )
    assert.deepStrictEqual(
      rows
        .map((row) => ({
          id: row.id,
          value: row.monetary_value,
          created: row.created_at === null ? null : String(Date.parse(row.created_at))
        }))
        .sort((one, other) => (one.id < other.id ? -1 : 1)),
      expected.map(({ id, value, created }) => ({ id, value, created }))
    )
  })

  it("writes Parquet with the rows and values of the table", async () => {
    const stdout = new PassThrough()
    const chunks: Array<Buffer> = []
    stdout.on("data", (chunk) => chunks.push(chunk))
    const code = await runCommand(["publish", "--stdout", "contacts", "--format", "parquet"], {
      environment: account.environment,
      stdout,
      stderr: new PassThrough().resume()
    })
    assert.strictEqual(code, 0)
    const bytes = Buffer.concat(chunks)
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
    const rows = await parquetReadObjects({ file, compressors, columns: ["id", "email"] })
    const expected = await query(account.warehouse, "SELECT id, email FROM crm.contacts ORDER BY id")
    const sorted = rows.sort((one, other) => (String(one["id"]) < String(other["id"]) ? -1 : 1))
    assert.deepStrictEqual(
      sorted.map(({ id, email }) => ({ id, email: email ?? null })),
      expected
    )
  })

  it.each([
    ["crm.contacts", "SELECT count(*) AS n FROM crm.contacts"],
    ["crm_history.contacts", "SELECT count(*) AS n FROM crm_history.contacts"],
    ["meta.runs", "SELECT count(*) AS n FROM meta.runs"],
    ["contacts_wide", "SELECT count(*) AS n FROM crm.contacts"]
  ])("knows %s", async (table, count) => {
    const { code, stdout, stderr } = await run(table)
    assert.strictEqual(code, 0, stderr)
    const rows: ReadonlyArray<unknown> = parse(stdout, { columns: true })
    const [expected] = await query(account.warehouse, count)
    assert.strictEqual(rows.length, Number(expected!["n"]))
  })

  it.each([
    [["contcats"], /^sluice: --stdout contcats: there is no such table or model; did you mean contacts\?$/m],
    [["meta.vault_offset"], /no such table/],
    [["crm_history.contacts_wide"], /no such table/],
    [["contacts_wide_2"], /no such table/],
    [
      ["contacts", "--columns", "emial"],
      /^sluice: --columns emial: there is no such column in contacts; did you mean email\?$/m
    ],
    [["contacts", "--columns", ""], /^sluice: --columns "": /m],
    [["contacts", "--where", "emial = 'x'"], /^sluice: --where emial = 'x': .*emial/m],
    [
      ["contacts", "--where", "true; DROP TABLE contacts"],
      /^sluice: --where true; DROP TABLE contacts: .*syntax error/m
    ]
  ])("refuses %j with exit code 2 and names the closest", async (args, message) => {
    const { code, stdout, stderr } = await run(...args)
    assert.strictEqual(code, 2, stderr)
    assert.strictEqual(stdout, "")
    assert.match(stderr, message)
  })

  it("refuses --where without --stdout, instead of publishing everything", async () => {
    const { code, stderr } = await sluice(["publish", "--where", "true"], account.environment)
    assert.strictEqual(code, 2)
    assert.match(stderr, /--where needs --stdout/)
  })
})
