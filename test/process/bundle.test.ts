/** Bundles, checked by programs that others wrote: coreutils, bagit, frictionless, DuckDB, jq, tar and unzip. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { verifyBundle } from "../../src/features/export/bundle/verify/verify.ts"
import { type BundleAccount, filesIn, modesIn, openBundleAccount } from "../bundle/account.ts"
import { edit } from "../bundle/bags.ts"
import { discard } from "../support/account.ts"
import { start } from "../support/process.ts"
import { python, runPython } from "../support/python.ts"
import { randomFrom } from "../support/random.ts"
import { unmount } from "../support/small-disk.ts"
import { newFolder } from "../support/sluice.ts"

const seed = Number(process.env["SLUICE_SEED"] ?? 1)

/** Prints the changes of one byte that bagit accepts. */
const acceptedChanges = `
import sys, json, logging, bagit
logging.disable(logging.CRITICAL)
folder, changes = sys.argv[1], json.loads(sys.argv[2])
def is_valid():
    try: return bagit.Bag(folder).is_valid()
    except Exception: return False
assert is_valid()
accepted = []
for path, offset, mask in changes:
    with open(folder + "/" + path, "r+b") as file:
        file.seek(offset); byte = file.read(1)
        file.seek(offset); file.write(bytes([byte[0] ^ mask])); file.flush()
        if is_valid(): accepted.append([path, offset, mask])
        file.seek(offset); file.write(byte)
assert is_valid()
print(json.dumps(accepted))
`

/** The command `duckdb -c SQL`. */
const duckdbProgram = `#!/bin/sh
exec "$(dirname "$0")/python" -c '
import sys, duckdb
for row in duckdb.sql(sys.argv[1]).fetchall(): print(" ".join(format(value, "f") if hasattr(value, "as_tuple") else str(value) for value in row))
' "$2"
`

describe.skipIf(python === undefined)("a bundle", () => {
  let bundled: BundleAccount
  let bag: string
  const copy = () => {
    const folder = join(newFolder(), "bag")
    cpSync(bag, folder, { recursive: true, preserveTimestamps: true })
    return folder
  }
  /** Runs the commands of its README. */
  const checkAsReadme = (folder: string) => {
    const [, commands] = /```sh\n(.*?)```/s.exec(readFileSync(join(bag, "data", "README.md"), "utf8"))!
    const path = `${dirname(python!)}:${process.env["PATH"]}`
    return spawnSync("bash", ["-e", "-o", "pipefail", "-c", commands!], {
      cwd: folder,
      env: { ...process.env, PATH: path },
      encoding: "utf8"
    })
  }
  beforeAll(async () => {
    bundled = await openBundleAccount()
    bag = join(bundled.folder, "audit")
    const { code, stderr } = await start(
      ["export", "bundle", bag, "--only", "invoices/*,transactions"],
      bundled.environment
    ).ended
    assert.strictEqual(code, 0, stderr)
    const duckdb = join(dirname(python!), "duckdb")
    writeFileSync(duckdb, duckdbProgram)
    chmodSync(duckdb, 0o755)
  })
  afterAll(() => discard(bundled.account))

  it("is accepted by the commands of its README, whose figures are the control totals", () => {
    const { status, stdout, stderr } = checkAsReadme(bag)
    assert.strictEqual(status, 0, `${stdout}\n${stderr}`)
    const { tables } = JSON.parse(readFileSync(join(bag, "data/control-totals.json"), "utf8"))
    const first = tables.find(
      ({ sums, currencyColumn }: { sums: ReadonlyArray<{ sum: string }>; currencyColumn: string | null }) =>
        currencyColumn !== null && sums.some(({ sum }) => /[1-9]/.test(sum))
    )
    const counts = `${first.rows} ${first.currentRows}`
    assert.strictEqual(stdout.split("\n").filter((line) => line === counts).length, 2, stdout)
    const example = first.sums.find(({ sum }: { sum: string }) => /[1-9]/.test(sum))
    const sums = first.sums
      .filter(({ column }: { column: string }) => column === example.column)
      .map(({ currency, sum }: Record<string, string>) => `${currency} ${sum}`)
    assert.strictEqual(stdout.split("\n").filter((line) => sums.includes(line)).length, 2 * sums.length, stdout)
  })

  it("is rejected by the commands of its README after a change of a table that keeps its length", () => {
    const folder = copy()
    edit(join(folder, "data/csv/invoices.csv"), (text) => text.replace("-", "~"))
    const { status, stdout, stderr } = checkAsReadme(folder)
    assert.notStrictEqual(status, 0)
    assert.match(`${stdout}${stderr}`, /data\/csv\/invoices\.csv: FAILED/)
  })

  it("has a table that frictionless rejects once it has a value of another type", () => {
    const folder = copy()
    const frictionless = (name: string) =>
      spawnSync(
        join(dirname(python!), "frictionless"),
        ["validate", "datapackage.json", "--resource-name", name, "--json"],
        {
          cwd: join(folder, "data"),
          encoding: "utf8"
        }
      )
    assert.strictEqual(frictionless("invoices-csv").status, 0)
    edit(join(folder, "data/csv/invoices.csv"), (text) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "yesterday"))
    const rejected = frictionless("invoices-csv")
    assert.notStrictEqual(rejected.status, 0)
    assert.include(rejected.stdout, "type-error")
  })

  it("has tables that csvkit reads, with the rows and keys of the Parquet files that DuckDB reads", () => {
    const csvkit = (program: string, ...args: ReadonlyArray<string>) =>
      execFileSync(join(dirname(python!), program), args, { cwd: bag, encoding: "utf8" })
    const { tables } = JSON.parse(readFileSync(join(bag, "data/control-totals.json"), "utf8"))
    for (const { table, rows } of tables)
      assert.strictEqual(csvkit("csvstat", "--count", `data/csv/${table}.csv`).trim(), String(rows), table)
    const ids = csvkit("csvcut", "-c", "id", "data/csv/invoices.csv").trim().split("\n").slice(1)
    const file = join(bag, "data/parquet/invoices/part-0.parquet")
    const program = "import sys, duckdb; print(*[r[0] for r in duckdb.sql(sys.argv[1]).fetchall()], sep='\\n')"
    const expected = runPython(python!, program, `SELECT id FROM '${file}'`).trim().split("\n")
    assert.deepStrictEqual(ids.toSorted(), expected.toSorted())
    assert.isAbove(ids.length, 3)
  })

  it(`is rejected by bagit and by sluice after each of 100 changes of one byte (seed ${seed})`, async () => {
    const folder = join(newFolder(), "small")
    assert.strictEqual((await bundled.export(folder, "--only", "transactions")).code, 0)
    const random = randomFrom(seed)
    const files = [...filesIn(folder)].filter(([path]) => !path.startsWith("tagmanifest-"))
    const changes = Array.from({ length: 100 }, () => {
      const [path, content] = files[Math.floor(random() * files.length)]!
      return [path, Math.floor(random() * content.length), 1 + Math.floor(random() * 255)] as const
    })
    assert.isAbove(new Set(changes.map(([path]) => path.startsWith("data/"))).size, 1)
    assert.deepStrictEqual(JSON.parse(runPython(python!, acceptedChanges, folder, JSON.stringify(changes))), [])
    for (const [path, offset, mask] of changes) {
      const before = readFileSync(join(folder, path))
      const changed = Buffer.from(before)
      changed[offset] = changed[offset]! ^ mask
      writeFileSync(join(folder, path), changed)
      const { findings } = await verifyBundle(folder, new AbortController().signal)
      assert.isTrue(
        findings.some(({ where }) => where.startsWith(path)),
        `${path} ${offset} ${mask}: ${JSON.stringify(findings)}`
      )
      writeFileSync(join(folder, path), before)
    }
  })

  it.each([
    ["tar", (file: string, folder: string) => execFileSync("tar", ["-xpf", file, "-C", folder])],
    ["zip", (file: string, folder: string) => execFileSync("unzip", ["-q", file, "-d", folder])]
  ] as const)("as a %s file has the files, modes and times of the folder", async (kind, unpack) => {
    const file = join(bundled.folder, `audit.${kind}`)
    const args = ["export", "bundle", file, "--only", "invoices/*,transactions"]
    assert.strictEqual((await start(args, bundled.environment).ended).code, 0)
    const folder = newFolder()
    unpack(file, folder)
    const [root] = readdirSync(folder)
    assert.match(root!, /^sluice-\d{8}T\d{9}Z$/)
    const unpacked = join(folder, root!)
    assert.deepStrictEqual(filesIn(unpacked), filesIn(bag))
    const modes = (one: string) => [...modesIn(one)].map(([path, text]) => `${path} ${text.split(" ")[0]}`)
    assert.deepStrictEqual(modes(unpacked), modes(bag))
    assert.strictEqual((await start(["export", "verify", unpacked], {}).ended).code, 0)
  })

  it("that is killed while it is made has no name, and the next export removes what is left", async () => {
    const folder = newFolder()
    const running = start(["export", "bundle", join(folder, "audit")], bundled.environment)
    while (readdirSync(folder).length === 0) await setTimeout(2)
    running.kill("SIGKILL")
    assert.strictEqual((await running.ended).code, null)
    const [left, ...others] = readdirSync(folder)
    assert.notStrictEqual(left, "audit")
    assert.deepStrictEqual(others, [])
    const { code, stderr } = await start(["export", "bundle", join(folder, "audit"), "--force"], bundled.environment)
      .ended
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(readdirSync(folder), ["audit"])
    assert.strictEqual((await start(["export", "verify", join(folder, "audit")], {}).ended).code, 0)
  })

  it("that does not fit on the disk leaves nothing", async (context) => {
    const disk = newFolder()
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], { stdio: "ignore" })
    } catch {
      return context.skip("needs the right to mount a small file system")
    }
    try {
      for (const name of ["audit", "audit.tar"]) {
        const { code, stderr } = await start(["export", "bundle", join(disk, name)], bundled.environment).ended
        assert.strictEqual(code, 1, stderr)
        assert.match(stderr, /could not be written: .*(ENOSPC|No space left)/i)
        assert.deepStrictEqual(readdirSync(disk), [])
      }
    } finally {
      unmount(disk)
    }
  })
})
