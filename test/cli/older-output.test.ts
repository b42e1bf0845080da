/** Output folders of other versions: what 1.0.0 wrote is read by every later version, and what came before is refused. */
import { assert, describe, it } from "@effect/vitest"
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { crc32, zstdDecompressSync } from "node:zlib"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"

/** Ten contacts with their notes and opportunities, synced twice with changes in between. */
const fixture = fileURLToPath(new URL("../fixtures/1.0.0", import.meta.url))
const copyFixture = (): string => {
  const folder = newFolder()
  cpSync(fixture, folder, { recursive: true })
  const warehouse = join(folder, "warehouse.duckdb")
  writeFileSync(warehouse, zstdDecompressSync(readFileSync(`${warehouse}.zst`)))
  return folder
}
const environmentFor = (folder: string) => ({
  SLUICE_BASE_URL: "http://127.0.0.1:1",
  SLUICE_TOKEN: "a-token",
  SLUICE_LOCATION_ID: "none",
  SLUICE_OUTPUT: folder,
  SLUICE_FORMATS: "csv"
})
const tables = ["contacts", "contact_tags", "contact_custom_values", "contact_notes", "opportunities"]

describe("the output folder of 1.0.0", { tags: ["slow"] }, () => {
  it("is shown, compared, and published", async () => {
    const folder = copyFixture()
    const wide = ["publish", "--stdout", "contacts_wide"]
    for (const args of [["status"], ["verify", "--all"], wide, ["publish"], ["verify", "--all"]]) {
      const ran = await sluice(args, environmentFor(folder))
      assert.strictEqual(ran.code, 0, `${args.join(" ")}: ${ran.stdout}${ran.stderr}`)
    }
  })

  it("has the same current and historical rows, runs and counts after a rebuild", async () => {
    const [before, folder] = [copyFixture(), copyFixture()]
    const ran = await sluice(["rebuild"], environmentFor(folder))
    assert.strictEqual(ran.code, 0, ran.stderr)
    const same = async (sql: string) => {
      const [old, now] = await Promise.all([before, folder].map((one) => query(join(one, "warehouse.duckdb"), sql)))
      // What had no column then may have one now.
      const columns = Object.keys(old![0]!)
      const known = now!.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))
      assert.deepStrictEqual(known, old, sql)
    }
    for (const table of tables) await same(`FROM crm.${table} ORDER BY ALL`)
    await same("FROM crm_history.contacts ORDER BY ALL")
    await same("SELECT run_id, command, exit_code, requests FROM meta.runs WHERE command <> 'rebuild' ORDER BY ALL")
    await same("SELECT * EXCLUDE (reading, finished_at) FROM meta.run_resources WHERE pages > 0 ORDER BY ALL")
    await same("SELECT resource, watermark, complete_at, full_complete_at FROM meta.watermarks ORDER BY ALL")
  })
})

describe("an output folder of another format", () => {
  it.each([
    [2, ["sync"], "./sluice rebuild"],
    [2, ["status"], "./sluice rebuild"],
    [2, ["publish"], "./sluice rebuild"],
    [2, ["verify"], "./sluice rebuild"],
    [1000, ["sync"], "Use the version of sluice that wrote it"]
  ])("%i is refused by %j, which says what to do and does not change the warehouse", async (format, args, next) => {
    const folder = copyFixture()
    const warehouse = join(folder, "warehouse.duckdb")
    await query(warehouse, `UPDATE meta.schema_version SET format = ${format}`, "READ_WRITE")
    const before = readFileSync(warehouse)
    const ran = await sluice(args, environmentFor(folder))
    assert.strictEqual(ran.code, 1, ran.stderr)
    assert.match(ran.stderr, new RegExp(`has format ${format}`))
    assert.include(ran.stderr, next)
    assert.isTrue(readFileSync(warehouse).equals(before))
  })
})

describe("a warehouse of another format", () => {
  it.each([
    ["a vault of before 1.0.0", "Sync into a new folder"],
    ["no vault", "from a backup, or move"],
    ["a vault that cannot be read", "from a backup, then ./sluice rebuild"]
  ])("beside %s is not to be rebuilt: a refusal names no command that refuses too", async (kind, next) => {
    const folder = copyFixture()
    const vault = join(folder, "vault")
    await query(join(folder, "warehouse.duckdb"), "UPDATE meta.schema_version SET format = 2", "READ_WRITE")
    rmSync(vault, { recursive: true })
    if (kind.endsWith("1.0.0"))
      cpSync(fileURLToPath(new URL("../fixtures/before-1.0.0/vault", import.meta.url)), vault, { recursive: true })
    if (kind.endsWith("read")) {
      mkdirSync(vault)
      writeFileSync(join(vault, "000001.ndjson.zst"), "no segment")
    }
    for (const args of [["sync"], ["status"], ["publish"]]) {
      const ran = await sluice(args, environmentFor(folder))
      assert.strictEqual(ran.code, 1, ran.stderr)
      const said = ran.stderr.replaceAll(/\s+/g, " ")
      assert.include(said, next)
      assert.notMatch(said, /Next: \.\/sluice rebuild/)
    }
  })
})

describe("the vault of a version before 1.0.0", () => {
  const before = fileURLToPath(new URL("../fixtures/before-1.0.0", import.meta.url))
  const contentOf = (folder: string) =>
    readdirSync(join(folder, "vault")).map((file) => [file, readFileSync(join(folder, "vault", file), "base64")])

  it.each([
    ["sealed", ["sync"]],
    ["sealed", ["rebuild"]],
    ["plain, without checksums of headers", ["sync"]],
    ["plain, without checksums of headers", ["rebuild"]]
  ])("%s is refused by %j, and every byte of it stays", async (kind, args) => {
    const folder = newFolder()
    if (kind === "sealed") cpSync(before, folder, { recursive: true })
    else {
      mkdirSync(join(folder, "vault"))
      const header = JSON.stringify({ kind: "page", run: "r", resource: "contacts", bytes: 2, crc32: crc32("{}") })
      writeFileSync(join(folder, "vault/000001.ndjson"), `${header}\n{}\n`)
    }
    const files = contentOf(folder)
    const ran = await sluice(args, environmentFor(folder))
    assert.strictEqual(ran.code, 1, ran.stderr)
    assert.match(ran.stderr, /before 1\.0\.0 wrote the vault/)
    assert.deepStrictEqual(contentOf(folder), files)
  })
})
