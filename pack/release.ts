/**
 * Makes the files of a release in `release`: the packed program, its checksum, and the notes. Before, it checks what the
 * version promises: the same number everywhere, a contract of the definitions as they are, and that 1.0.0, built from its own
 * commit, and this version read what the other one wrote, the way back as well.
 *
 *     npm run release
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { hash } from "node:crypto"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { discover } from "../src/catalog/discover.ts"
import { type ReleasedTable, breakingChanges, contractOf } from "../src/stages/publish/contracts/contract.ts"
import { odcsTables } from "../src/stages/publish/contracts/odcs.ts"
import { sluiceVersion } from "../src/values/version.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()
const textOf = (path: string) => readFileSync(join(root, path), "utf8")
/** `found`: whether it is right, or the lines that say what is wrong. */
const check = (what: string, found: boolean | ReadonlyArray<string>) => {
  const lines = typeof found === "boolean" ? [] : found
  const isWrong = found === false || lines.length > 0
  console.log([`${isWrong ? "WRONG" : "ok   "} ${what}`, ...lines].join("\n      "))
  if (isWrong) process.exit(1)
}
const missingIn = (found: ReadonlyArray<string>, wanted: ReadonlyArray<string>) =>
  wanted.filter((line) => !found.includes(line))

check("everything is committed", git("status", "--porcelain") === "")
const sections = textOf("CHANGELOG.md").split(/^## /m)
check("package.json has the version", JSON.parse(textOf("package.json")).version === sluiceVersion)
check("CHANGELOG.md begins with the version", sections[1]?.startsWith(`${sluiceVersion}\n`) === true)
check("README.md names its package", textOf("README.md").includes(`sluice-${sluiceVersion}.tgz`))

const contracts = readdirSync(join(root, "docs/contract")).toSorted((one, other) =>
  one.localeCompare(other, "en", { numeric: true })
)
const schemaOf = (file: string): Array<ReleasedTable> => JSON.parse(textOf(`docs/contract/${file}`)).schema
const tables = odcsTables(contractOf(await discover()))
check("the contract of the version is stored", contracts.at(-1) === `${sluiceVersion}.odcs.json`)
check("and is that of the definitions", JSON.stringify(schemaOf(contracts.at(-1) ?? "")) === JSON.stringify(tables))
for (const earlier of contracts.slice(0, -1)) {
  const major = `${sluiceVersion.split(".")[0]}.`
  const lost = earlier.startsWith(major) ? breakingChanges(schemaOf(earlier), tables) : []
  check(`readers of ${earlier} lose nothing`, lost)
}

const work = mkdtempSync(join(tmpdir(), "sluice-release-"))
const old = join(work, "1.0.0")
const first = git("log", "--format=%H", "-S## 1.0.0", "--reverse", "--", "CHANGELOG.md").split("\n")[0] ?? ""
execFileSync("git", ["clone", "--quiet", root, old])
execFileSync("git", ["checkout", "--quiet", first], { cwd: old })
console.log(`      builds 1.0.0 from ${first.slice(0, 12)}`)
execFileSync("npm", ["ci", "--silent"], { cwd: old, stdio: "inherit" })

const sandbox = spawn(join(root, "sluice"), ["sandbox", "--limits", "off", "--contacts", "100"], {
  stdio: ["ignore", "pipe", "ignore"]
})
try {
  const listening = JSON.parse(
    await new Promise<string>((resolve) => sandbox.stdout.once("data", (text) => resolve(String(text))))
  )
  const run = (program: string, output: string, ...args: ReadonlyArray<string>) => {
    const env = {
      PATH: process.env["PATH"],
      SLUICE_BASE_URL: listening.url,
      SLUICE_TOKEN: listening.token,
      SLUICE_LOCATION_ID: listening.locationId,
      SLUICE_OUTPUT: output
    }
    const ended = spawnSync(join(program, "sluice"), args, { cwd: work, encoding: "utf8", env })
    check(
      `${program === old ? "1.0.0" : sluiceVersion}: ${args.join(" ")}`,
      ended.status === 0 || [ended.stdout, ended.stderr]
    )
    return ended.stdout
  }
  const change = (seed: number) =>
    fetch(`${listening.url}/__sandbox/change`, {
      method: "POST",
      body: JSON.stringify({ contacts: 0.1, orders: 0.1, seed })
    })
  /** The rows of each table, those that are deleted apart. */
  const rowsIn = async (output: string): Promise<ReadonlyArray<string>> => {
    const database = await DuckDBInstance.create(join(output, "warehouse.duckdb"), { access_mode: "READ_ONLY" })
    const connection = await database.connect()
    const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRows().map((row) => row.join(": "))
    try {
      const names = await rowsOf("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'crm' ORDER BY ALL")
      const counts = names.map((name) => `SELECT '${name}', count(*), count(_deleted_at) FROM crm."${name}"`)
      return await rowsOf(counts.join(" UNION ALL "))
    } finally {
      connection.closeSync()
      database.closeSync()
    }
  }

  const onward = join(work, "onward")
  run(old, onward, "sync")
  await change(1)
  run(old, onward, "sync")
  run(old, onward, "export", "bundle", join(work, "old-bundle"))
  const before = await rowsIn(onward)
  for (const args of [["status"], ["publish"], ["rebuild"], ["verify", "--all"]]) run(root, onward, ...args)
  const after = await rowsIn(onward)
  check("the tables of 1.0.0 have the same rows", missingIn(after, before))
  for (const args of [["sync"], ["verify"]]) run(root, onward, ...args)
  run(root, onward, "export", "verify", join(work, "old-bundle"))

  const back = join(work, "back")
  run(root, back, "sync")
  run(root, back, "sync")
  // What the rows name is in bundles since 1.1.0, and 1.0.0 says of each such file that it cannot compare it.
  run(root, back, "export", "bundle", join(work, "new-bundle"), "--except", "recordings,files")
  run(old, back, "export", "verify", join(work, "new-bundle"))
  const kept = await rowsIn(back)
  rmSync(join(back, "warehouse.duckdb"))
  for (const args of [["rebuild"], ["sync"]]) run(old, back, ...args)
  for (const args of [["rebuild"], ["verify"]]) run(root, back, ...args)
  check("the way back and onward again keeps every row", missingIn(await rowsIn(back), kept))
} finally {
  sandbox.kill()
  rmSync(work, { recursive: true, force: true })
}

const folder = join(root, "release")
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, stdio: "inherit" })
const [packed = ""] = readdirSync(folder)
writeFileSync(join(folder, "SHA256SUMS"), `${hash("sha256", readFileSync(join(folder, packed)))}  ${packed}\n`)
writeFileSync(join(folder, "notes.md"), `# sluice ${sections[1]}`)
console.log(`release/ has ${packed}, SHA256SUMS and notes.md`)
