/** The package that `npm pack` makes, installed outside of the repository by the npm and Node of the system. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { query } from "../support/compare.ts"
import { python } from "../support/python.ts"
import { type Service, startService } from "../support/service.ts"
import { newFolder } from "../support/sluice.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const packed = [
  "src",
  "sandbox",
  "pipelines",
  "models",
  "config",
  "deploy",
  "docs",
  "pack",
  "package.json",
  "tsconfig.json",
  "sluice"
]
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** The path without the pinned Node, which the tests run on. */
const path = process.env["PATH"]!.split(":")
  .filter((folder) => !folder.includes("node_modules"))
  .join(":")
const own = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|SLUICE_|NODE_OPTIONS|VITEST)/.test(name))
)

/** Packs a copy, so that no `dist` appears in the repository. */
const pack = (): string => {
  const copy = newFolder()
  for (const name of packed) cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  execFileSync("npm", ["pack", "--silent"], { cwd: copy, env: { ...own, PATH: path } })
  return join(copy, `sluice-${version}.tgz`)
}

/** hadolint, from PyPI. */
describe.skipIf(python === undefined)("the Dockerfile", () => {
  it("is accepted by hadolint", () => {
    const hadolint = join(dirname(python!), "hadolint")
    const accepted = spawnSync(hadolint, [join(root, "Dockerfile")], { encoding: "utf8" })
    assert.strictEqual(accepted.stdout + accepted.stderr, "")
    const rejected = spawnSync(hadolint, ["-"], { encoding: "utf8", input: "FROM debian\nRUN cd /tmp && sudo ls\n" })
    assert.match(rejected.stdout, /DL3006/)
  })
})

const registry = spawnSync("npm", ["ping"], { env: { ...own, PATH: path }, timeout: 60_000 })
if (registry.status !== 0) process.stderr.write("Skipped: the package; npm cannot reach its registry.\n")

describe.skipIf(registry.status !== 0)("the installed package", () => {
  const [prefix, home] = [newFolder(), newFolder()]
  const installed = join(prefix, "lib/node_modules/sluice")
  let service: Service
  let environment: Readonly<Record<string, string | undefined>>
  let before: ReadonlyArray<string>
  let packedFile: string

  // The service runs in this process, so this must not block.
  const run = (program: string, args: ReadonlyArray<string>, cwd = home, more = {}) =>
    new Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resolve) => {
      const child = spawn(program, args, { cwd, env: { ...environment, ...more }, timeout: 120_000 })
      let [stdout, stderr] = ["", ""]
      child.stdout.on("data", (chunk) => (stdout += chunk))
      child.stderr.on("data", (chunk) => (stderr += chunk))
      child.once("close", (code) => resolve({ code, stdout, stderr }))
    })
  const files = () => readdirSync(installed, { recursive: true, encoding: "utf8" }).sort()

  beforeAll(async () => {
    service = await startService("--limits", "off", "--contacts", "60")
    environment = { ...own, PATH: `${prefix}/bin:${path}`, CRM_TOKEN: service.token }
    packedFile = pack()
    const flags = ["install", "--loglevel=warn", "--global", "--prefix", prefix]
    const npm = spawnSync("npm", [...flags, packedFile], { env: { ...own, PATH: path }, encoding: "utf8" })
    assert.strictEqual(npm.status, 0, npm.stderr)
    assert.strictEqual(npm.stderr, "", "npm has nothing to say, for example of versions of Node")
    before = files()
  }, 600_000)
  afterAll(() => service.stop())

  it("runs without the scripts of other packages, on the Node that it pins", async () => {
    const { stdout, stderr } = await run("sluice", ["--version"])
    assert.strictEqual(stdout, `sluice ${version}\n`, stderr)
    const pinned = execFileSync(join(installed, "node_modules/.bin/node"), ["--version"], { encoding: "utf8" })
    assert.strictEqual(pinned.trim(), process.version)
    assert.isFalse(existsSync(join(installed, "node_modules/vitest")))
  })

  it("has at most 300 MB, most of them Node and DuckDB, and nothing that it also contains", () => {
    const megabytes = (...of: ReadonlyArray<string>) =>
      Number(execFileSync("du", ["-sm", join(installed, ...of)], { encoding: "utf8" }).split("\t")[0])
    assert.isAtMost(megabytes(), 300)
    assert.isAtMost(megabytes("dist"), 20)
    const licences = readFileSync(join(installed, "dist/LICENSES"), "utf8")
    for (const name of ["effect", "undici", "yaml", "pg-boss"]) {
      assert.isFalse(existsSync(join(installed, "node_modules", name)), name)
      assert.match(licences, new RegExp(`^# ${name} \\d.*\n\n\\S`, "m"))
    }
  })

  it("loads a command and its libraries from a few files", async () => {
    const list = join(home, "modules")
    const hook = `import { registerHooks } from "node:module"; import { appendFileSync } from "node:fs"; registerHooks({ load: (url, context, next) => { appendFileSync(${JSON.stringify(list)}, url + "\\n"); return next(url, context) } })`
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(hook)}`
    const { code, stderr } = await run("sluice", ["--help"], home, { NODE_OPTIONS })
    assert.strictEqual(code, 0, stderr)
    const loaded = readFileSync(list, "utf8").split("\n")
    rmSync(list)
    const files = loaded.filter((url) => url.startsWith("file:"))
    assert.isAtLeast(files.length, 2)
    assert.isAtMost(files.length, 60, files.join("\n"))
    assert.notInclude(files.join("\n"), "/effect/")
  })

  it("is set up, syncs and answers where the user stands, and suggests commands that can be typed", async () => {
    const location = [
      "--base-url",
      service.url,
      "--location",
      service.locationId,
      "--token-ref",
      "env:CRM_TOKEN",
      "--format",
      "duckdb,parquet,csv"
    ]
    const init = await run("sluice", ["init", ...location])
    assert.strictEqual(init.code, 0, init.stderr)
    assert.isTrue(existsSync(join(home, "config/sluice.toml")))
    const sync = await run("sluice", ["sync", "--log-format", "pretty"])
    assert.strictEqual(sync.code, 0, sync.stderr)
    assert.match(sync.stderr, /Next: sluice explore --open\n/)
    assert.notMatch(init.stderr + sync.stderr + sync.stdout, /\.\/sluice/)
    const [row] = await query(
      join(home, "output/warehouse.duckdb"),
      "SELECT count(*)::INTEGER AS count FROM crm.contacts"
    )
    assert.strictEqual(row!["count"], (await service.records("contacts")).length)
    assert.isTrue(existsSync(join(home, "output/published/crm.duckdb")))
    const status = await run("sluice", ["status", "--json"])
    assert.strictEqual(JSON.parse(status.stdout).schema, "sluice/status/1")
    const printed = await run("sluice", ["schedule", "print", "--as", "systemd", "--at", "02:30"])
    assert.match(printed.stdout, new RegExp(`^ExecStart=${installed}/sluice sync`, "m"), printed.stderr)
    const check = await run("sluice", ["check"])
    assert.strictEqual(check.code, 0, check.stdout)
    const doctor = await run("sluice", ["doctor"])
    assert.match(doctor.stdout, /ok +versions/)
    assert.deepStrictEqual(files(), before)
  }, 180_000)

  it("is a library with strict types, as promises and as Effects", async () => {
    const folder = newFolder()
    cpSync(join(root, "examples"), folder, { recursive: true })
    // As the page of the example says.
    execFileSync("npm", ["install", "--silent", "--prefix", folder, packedFile, "effect@4.1.0"], {
      env: { ...own, PATH: path }
    })
    mkdirSync(join(folder, "node_modules/@types"), { recursive: true })
    symlinkSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"))
    const project = join(folder, "library")
    const compile = (cwd = project) =>
      run(join(root, "node_modules/.bin/tsc"), ["-p", "."], cwd, { PATH: process.env["PATH"] })
    const definitions = await compile(join(folder, "pipelines"))
    assert.strictEqual(definitions.code, 0, definitions.stdout)
    const listed = await run("sluice", ["pipelines", "check", "my-pipelines"], join(folder, "pipelines"))
    assert.match(listed.stdout, /contact_tasks/, listed.stderr)
    const compiled = await compile()
    assert.strictEqual(compiled.code, 0, compiled.stdout)
    writeFileSync(
      join(project, "wrong.ts"),
      'import { sync } from "sluice"\nexport const run = sync({ outptu: "x" })\nexport const wrong: string = (await run).data.requests\n'
    )
    const refused = (await compile()).stdout
    assert.match(refused, /wrong\.ts\(2,\d+\): error TS2561.*'outptu'/)
    assert.match(refused, /wrong\.ts\(3,\d+\): error TS2322.*'number'/)

    const settings = {
      SLUICE_BASE_URL: service.url,
      SLUICE_TOKEN: service.token,
      SLUICE_LOCATION_ID: service.locationId
    }
    const node = join(installed, "node_modules/.bin/node")
    const bySource = await run(node, ["contacts-by-source.ts"], project, settings)
    assert.strictEqual(bySource.code, 0, bySource.stderr)
    assert.match(bySource.stdout, /^The sync needs at least \d+ requests\.\n/)
    const counts: Record<string, number> = {}
    for (const { source } of await service.records("contacts")) {
      const name = typeof source === "string" ? source : "unknown"
      counts[name] = (counts[name] ?? 0) + 1
    }
    for (const { contacts, source } of JSON.parse(bySource.stdout.split("\n")[1]!))
      assert.strictEqual(contacts, counts[source], source)
    const freshness = await run(node, ["freshness.ts"], project, settings)
    assert.match(freshness.stdout, /^contacts: complete, complete at \d{4}-/m, freshness.stderr)

    const failed = await run(node, ["contacts-by-source.ts"], project, { ...settings, SLUICE_TOKEN: "wrong" })
    assert.strictEqual(failed.code, 77, failed.stdout + failed.stderr)
    assert.match(failed.stderr, /\nNext: /)
  }, 180_000)

  it.skipIf(process.getuid!() !== 0)("works for a user who cannot write the package, without a home", async () => {
    const data = newFolder()
    chmodSync(prefix, 0o755)
    chownSync(data, 10001, 10001)
    const user = ["--reuid=10001", "--regid=10001", "--clear-groups", join(prefix, "bin/sluice")]
    const settings = {
      SLUICE_BASE_URL: service.url,
      SLUICE_LOCATION_ID: service.locationId,
      SLUICE_TOKEN: service.token
    }
    const synced = await run("setpriv", [...user, "sync", "--only", "contacts"], data, { ...settings, HOME: undefined })
    assert.strictEqual(synced.code, 0, synced.stderr)
    assert.isTrue(existsSync(join(data, "output/published/crm.duckdb")))
    assert.deepStrictEqual(files(), before)
  })

  it("recognises a run of its own", async () => {
    const slow = await startService("--limits", "off", "--contacts", "60", "--latency", "40")
    const data = newFolder()
    const settings = {
      SLUICE_BASE_URL: slow.url,
      SLUICE_LOCATION_ID: slow.locationId,
      SLUICE_TOKEN: slow.token
    }
    const syncing = run("sluice", ["sync"], data, settings)
    await slow.requested(20)
    const status = await run("sluice", ["status"], data, settings)
    assert.match(status.stderr, /^sluice sync \(process \d+\) has been running/m)
    const second = await run("sluice", ["sync"], data, settings)
    assert.strictEqual(second.code, 11, second.stderr)
    assert.match(second.stderr, /sluice sync \(process \d+\) is working in /)
    assert.strictEqual((await syncing).code, 0)
    slow.stop()
  }, 180_000)

  it("explores the published tables", async () => {
    const explored = await run("sh", [
      "-c",
      "timeout --signal=INT 20 sluice explore --json & sleep 5; kill -INT $!; wait"
    ])
    assert.match(explored.stdout, /"url":\s*"http:\/\/127\.0\.0\.1:\d+/, explored.stderr)
  }, 60_000)
})
