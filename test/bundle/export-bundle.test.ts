/** The export of bundles; test/process/bundle.test.ts checks them with other programs. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { discard } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type BundleAccount, bundledTables, filesIn, modesIn, openBundleAccount } from "./account.ts"

describe("sluice export bundle", () => {
  let bundled: BundleAccount
  const inFolder = (name: string) => join(bundled.folder, name)
  beforeAll(async () => {
    bundled = await openBundleAccount()
    const { code, stdout, stderr } = await bundled.export(inFolder("one"), "--json")
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(JSON.parse(stdout).data.format, "folder")
  })
  afterAll(() => {
    discard(bundled.account)
    rmSync(bundled.folder, { recursive: true })
  })

  it(
    "gives the same bytes, modes and times for the same release, as a folder, a tar and a zip file",
    { tags: ["slow"] },
    async () => {
      for (const kind of ["", ".tar", ".zip"]) {
        const [one, other] = [inFolder(`one${kind}`), inFolder(`other${kind}`)]
        const selected = kind === "" ? [] : ["--only", "invoices/*"]
        // A publish without changes only confirms the release.
        if (kind !== "") assert.strictEqual((await bundled.export(one, ...selected)).code, 0)
        else assert.strictEqual((await sluice(["publish"], bundled.environment)).code, 0)
        assert.strictEqual((await bundled.export(other, ...selected)).code, 0)
        if (kind === "") {
          assert.deepStrictEqual(filesIn(one), filesIn(other))
          assert.deepStrictEqual(modesIn(one), modesIn(other))
          assert.deepStrictEqual(
            [...modesIn(one)].filter(([, text]) => !/^[67]00 /.test(text)),
            []
          )
        } else assert.isTrue(readFileSync(one).equals(readFileSync(other)), kind)
      }
      assert.deepStrictEqual(readdirSync(bundled.folder).sort(), [
        "one",
        "one.tar",
        "one.zip",
        "other",
        "other.tar",
        "other.zip"
      ])
    }
  )

  it("contains the published files as they are, and totals that agree with the warehouse", async () => {
    const published = filesIn(join(bundled.account.output, "published", "/"))
    const bag = filesIn(inFolder("one"))
    for (const table of bundledTables.split(","))
      for (const path of [`csv/${table}.csv`, `parquet/${table}/part-0.parquet`])
        assert.isTrue(bag.get(`data/${path}`)!.equals(published.get(path)!), path)
    const { tables } = JSON.parse(bag.get("data/control-totals.json")!.toString())
    const invoices = tables.find(({ table }: { table: string }) => table === "invoices")
    const expected = await query(
      bundled.account.warehouse,
      `SELECT currency, count(total)::INTEGER AS n, sum(total)::VARCHAR AS total FROM crm.invoices WHERE _deleted_at IS NULL GROUP BY ALL HAVING n > 0 ORDER BY currency NULLS FIRST`
    )
    assert.isAbove(expected.length, 0)
    assert.deepStrictEqual(
      invoices.sums
        .filter(({ column }: { column: string }) => column === "total")
        .map(({ currency, values, sum }: Record<string, unknown>) => ({ currency, n: values, total: sum })),
      expected
    )
    assert.strictEqual(invoices.time.column, "created_at")
    const contacts = tables.find(({ table }: { table: string }) => table === "contacts")
    assert.isAbove(contacts.apiTotals[0].total, 0)
    assert.match(contacts.apiTotals[0].readAt, /^\d{4}-\d\d-\d\dT/)
    const { runs, resources } = JSON.parse(bag.get("data/runs.json")!.toString())
    assert.lengthOf(runs, 1)
    assert.include(
      resources.map(({ resource }: { resource: string }) => resource),
      "invoices"
    )
    assert.match(
      bag.get("bag-info.txt")!.toString(),
      new RegExp(`^Source-Organization: ${bundled.environment["SLUICE_LOCATION_ID"]}$`, "m")
    )
  })

  it("contains the chosen tables only, and describes only these", async () => {
    const target = inFolder("chosen")
    const { code, stderr } = await bundled.export(target, "--only", "invoices/*,contacts", "--except", "invoice_items")
    assert.strictEqual(code, 0, stderr)
    const csv = [...filesIn(target).keys()].filter((path) => path.startsWith("data/csv/"))
    assert.include(csv, "data/csv/contacts.csv")
    assert.notInclude(csv, "data/csv/invoice_items.csv")
    assert.notInclude(csv, "data/csv/orders.csv")
    const { resources } = JSON.parse(readFileSync(join(target, "data/datapackage.json"), "utf8"))
    assert.deepStrictEqual(
      resources
        .map(({ path }: { path: string }) => `data/${path}`)
        .filter((path: string) => path.endsWith(".csv"))
        .sort(),
      csv.sort()
    )
  })

  it("does not replace what exists, unless it is a bundle and --force is given", async () => {
    const target = inFolder("chosen")
    const before = filesIn(target)
    const refused = await bundled.export(target)
    assert.strictEqual(refused.code, 2)
    assert.match(refused.stderr, /chosen: it exists; --force replaces it\.$/m)
    assert.deepStrictEqual(filesIn(target), before)
    assert.strictEqual((await bundled.export(target, "--only", "transactions", "--force")).code, 0)
    assert.isBelow(filesIn(target).size, before.size)
    const foreign = inFolder("foreign")
    mkdirSync(foreign)
    writeFileSync(join(foreign, "thesis.txt"), "years of work")
    const kept = await bundled.export(foreign, "--force")
    assert.strictEqual(kept.code, 2)
    assert.match(kept.stderr, /foreign: it is a folder without bagit\.txt, so not a bundle\.$/m)
    assert.strictEqual(readFileSync(join(foreign, "thesis.txt"), "utf8"), "years of work")
  })

  it("removes what a killed export left beside the target, and leaves nothing itself if it fails", async () => {
    const folder = newFolder()
    const leftover = join(folder, ".audit.4194304.building")
    mkdirSync(leftover)
    const other = join(folder, `.audit.${process.ppid}.building`)
    mkdirSync(other)
    assert.strictEqual((await bundled.export(join(folder, "audit"), "--only", "contacts")).code, 0)
    assert.isFalse(existsSync(leftover))
    assert.isTrue(existsSync(other), "the folder of a running process stays")
    const file = join(bundled.account.output, "published", "csv", "contacts.csv")
    const content = readFileSync(file)
    writeFileSync(file, `${content.toString()}x`)
    try {
      const { code, stderr } = await bundled.export(join(folder, "second"))
      assert.strictEqual(code, 1)
      assert.match(stderr, /csv\/contacts\.csv of the release was changed after it was published/)
      assert.match(stderr, /^Next: \.\/sluice publish --full/m)
    } finally {
      writeFileSync(file, content)
    }
    assert.deepStrictEqual(readdirSync(folder).sort(), [`.audit.${process.ppid}.building`, "audit"].sort())
  })

  it.each([
    [["/nowhere/audit"], 2, /there is no folder \/nowhere\.$/m],
    [["audit", "--only", "contcts"], 2, /--only contcts: there is no such table or family; did you mean contacts\?$/m],
    [["audit", "--only", "contacts_wide"], 2, /--only contacts_wide: there is no such table or family/m],
    [["audit", "--except", "contcts"], 2, /--except contcts: there is no such table or family/m]
  ])("refuses %j with exit code %i", async (args, expected, message) => {
    const { code, stderr } = await bundled.export(...args)
    assert.strictEqual(code, expected, stderr)
    assert.match(stderr, message)
    assert.isFalse(existsSync("audit"))
  })

  it("says what is missing if there is no release", async () => {
    const { code, stderr } = await sluice(["export", "bundle", inFolder("none")], {
      ...bundled.environment,
      SLUICE_OUTPUT: newFolder()
    })
    assert.strictEqual(code, 1)
    assert.match(stderr, /There is no release in .*\n.*Next: \.\/sluice publish/)
  })

  it(
    "writes the formats that the release lacks from its DuckDB file, and otherwise names the setting",
    { tags: ["slow"] },
    async () => {
      const environment = { ...bundled.environment, SLUICE_FORMATS: "duckdb" }
      assert.strictEqual((await sluice(["publish"], environment)).code, 0)
      const target = inFolder("lacking")
      assert.strictEqual((await bundled.export(target)).code, 0)
      const [made, published] = [filesIn(target), filesIn(inFolder("one"))]
      assert.deepStrictEqual([...made.keys()], [...published.keys()])
      for (const path of [...made.keys()].filter((one) => /\.(csv|parquet)$/.test(one)))
        assert.isTrue(made.get(path)!.equals(published.get(path)!), path)
      assert.strictEqual((await sluice(["publish"], { ...environment, SLUICE_FORMATS: "parquet" })).code, 0)
      const refused = await bundled.export(inFolder("missing"))
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stderr, /The release has no CSV files, and no DuckDB file/)
      assert.match(refused.stderr, /Next: Add "csv" to output\.formats/)
      assert.isFalse(existsSync(inFolder("missing")))
    }
  )
})
