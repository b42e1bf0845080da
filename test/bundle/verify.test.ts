/** The check of bundles: damage of every kind is found and named, and nothing outside the bundle is read. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { verifyBundle } from "../../src/features/export/bundle/verify/verify.ts"
import { discard } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type BundleAccount, openBundleAccount } from "./account.ts"
import { edit, reseal } from "./bags.ts"

interface Found {
  readonly code: number | null
  readonly isIntact: boolean
  readonly tables: number
  readonly findings: ReadonlyArray<string>
}

const verify = async (folder: string): Promise<Found> => {
  const { code, stdout, stderr } = await sluice(["export", "verify", folder, "--json"], {})
  if (stdout === "") throw new Error(stderr)
  const { data, exitCode } = JSON.parse(stdout)
  assert.strictEqual(exitCode, code)
  return {
    code,
    isIntact: data.isIntact,
    tables: data.tables,
    findings: data.findings.map(({ level, where, what }: Record<string, string>) => `${level} ${where}: ${what}`)
  }
}

describe("sluice export verify", () => {
  let bundled: BundleAccount
  let bag: string
  /** A copy of the good bag. */
  const copy = () => {
    const folder = join(newFolder(), "bag")
    cpSync(bag, folder, { recursive: true })
    return folder
  }
  beforeAll(async () => {
    bundled = await openBundleAccount()
    bag = join(bundled.folder, "good")
    assert.strictEqual((await bundled.export(bag, "--only", "invoices/*,contacts")).code, 0)
  })
  afterAll(() => {
    discard(bundled.account)
    rmSync(bundled.folder, { recursive: true })
  })

  it("accepts a bundle as it was written, also on a machine without an account", async () => {
    const found = await verify(bag)
    assert.deepStrictEqual(found.findings, [])
    assert.strictEqual(found.code, 0)
    assert.isTrue(found.isIntact)
    assert.isAbove(found.tables, 9)
    const { stdout } = await sluice(["export", "verify", bag], {})
    assert.match(stdout, /^ok: \d+ files, [\d,]+ bytes, the control totals of \d+ tables$/m)
  })

  it.each<[string, (folder: string) => void, RegExp]>([
    [
      "a changed table",
      (folder) => appendFileSync(join(folder, "data/csv/contacts.csv"), "x"),
      /^wrong data\/csv\/contacts\.csv: its SHA-256 differs from manifest-sha256\.txt$/
    ],
    [
      "a truncated table",
      (folder) => truncateSync(join(folder, "data/parquet/invoices/part-0.parquet"), 100),
      /^wrong data\/parquet\/invoices\/part-0\.parquet: its SHA-512 differs from manifest-sha512\.txt$/
    ],
    [
      "a missing file",
      (folder) => unlinkSync(join(folder, "data/csv/contacts.csv")),
      /^wrong data\/csv\/contacts\.csv: missing; manifest-sha256\.txt lists it$/
    ],
    [
      "an extra file",
      (folder) => writeFileSync(join(folder, "data/notes.txt"), "x"),
      /^wrong data\/notes\.txt: manifest-sha256\.txt does not list it$/
    ],
    [
      "an extra tag file",
      (folder) => writeFileSync(join(folder, "notes.txt"), "x"),
      /^notCompared notes\.txt: tagmanifest-sha256\.txt does not list it$/
    ],
    [
      "another size of the payload",
      (folder) => appendFileSync(join(folder, "data/csv/contacts.csv"), "x"),
      /^wrong data\/: it has \d+ bytes in \d+ files; Payload-Oxum names \d+ bytes in \d+ files$/
    ],
    [
      "a changed tag file",
      (folder) => edit(join(folder, "bag-info.txt"), (text) => text.replace(/^Bagging-Date: 2/m, "Bagging-Date: 1")),
      /^wrong bag-info\.txt: its SHA-256 differs from tagmanifest-sha256\.txt$/
    ],
    [
      "a declaration of another kind",
      (folder) => writeFileSync(join(folder, "bagit.txt"), "hello\n"),
      /^wrong bagit\.txt: it is not the declaration of a bag$/
    ],
    [
      "no declaration",
      (folder) => unlinkSync(join(folder, "bagit.txt")),
      /^wrong bagit\.txt: missing, so this is not a bag$/
    ],
    [
      "no manifest",
      (folder) => ["sha256", "sha512"].forEach((one) => unlinkSync(join(folder, `manifest-${one}.txt`))),
      /^wrong manifest-sha256\.txt: missing: no manifest lists the payload$/
    ],
    [
      "a file to fetch",
      (folder) => writeFileSync(join(folder, "fetch.txt"), "http://127.0.0.1/x 1 data/x\n"),
      /^notCompared fetch\.txt: the files that it names are not fetched$/
    ]
  ])("finds and names %s", async (_, damage, expected) => {
    const folder = copy()
    damage(folder)
    const { code, isIntact, findings } = await verify(folder)
    assert.strictEqual(code, 1)
    assert.isFalse(isIntact)
    assert.isTrue(
      findings.some((one) => expected.test(one)),
      findings.join("\n")
    )
  })

  it.each<[string, (folder: string) => void, RegExp]>([
    [
      "an amount in a CSV file",
      (folder) => edit(join(folder, "data/csv/invoices.csv"), addToFirstTotal),
      /^wrong data\/csv\/invoices\.csv: sum of total.*; control-totals\.json names /
    ],
    [
      "a removed row",
      (folder) => edit(join(folder, "data/csv/contacts.csv"), (text) => text.replace(/\r\n[^\r\n]*\r\n$/, "\r\n")),
      /^wrong data\/csv\/contacts\.csv: rows: \d+; control-totals\.json names \d+$/
    ],
    [
      "a total",
      (folder) =>
        edit(join(folder, "data/control-totals.json"), (text) => text.replace(/"rows": (\d+)/, '"rows": 1$1')),
      /^wrong data\/.*: rows: \d+; control-totals\.json names 1\d+$/
    ],
    [
      "a replaced Parquet file",
      (folder) =>
        cpSync(
          join(folder, "data/parquet/contacts/part-0.parquet"),
          join(folder, "data/parquet/invoices/part-0.parquet")
        ),
      /^wrong data\/parquet\/invoices\/part-0\.parquet: its control totals cannot be computed: /
    ],
    [
      "a table that the package does not describe",
      (folder) =>
        edit(join(folder, "data/datapackage.json"), (text) =>
          text.replace('"path": "csv/invoices.csv"', '"path": "csv/contacts.csv"')
        ),
      /^notCompared data\/csv\/invoices\.csv: data\/datapackage\.json does not describe it$/
    ]
  ])(
    "finds a hidden change of %s, by the description or the control totals",
    { tags: ["slow"] },
    async (_, damage, expected) => {
      const folder = copy()
      damage(folder)
      reseal(folder)
      const { code, findings } = await verify(folder)
      assert.strictEqual(code, 1)
      assert.isTrue(
        findings.some((one) => expected.test(one)),
        findings.join("\n")
      )
    }
  )

  const line = `${"0".repeat(64)}  `
  it.each<[string, string, RegExp]>([
    [
      "../../etc/passwd",
      `${line}data/../../../etc/passwd\n`,
      /line \d+: it names data\/\.\.\/\.\.\/\.\.\/etc\/passwd, which is outside the bag; it was not read$/
    ],
    ["/etc/passwd", `${line}/etc/passwd\n`, /it names \/etc\/passwd, which is outside the bag/],
    ["~/.ssh/id_rsa", `${line}~/.ssh/id_rsa\n`, /it names ~\/\.ssh\/id_rsa, which is outside the bag/],
    ["a Windows path", `${line}C:\\secret\n`, /which is outside the bag/],
    ["a path in percent codes", `${line}data/%2e%2e/%2E%2E/etc/passwd\n`, /which is outside the bag/],
    [
      "a path with a line break",
      `${line}data/a%0Ab.txt\n`,
      /^wrong data\/a\\nb\.txt: missing; manifest-sha256\.txt lists it$/
    ],
    ["a control character", `${line}data/\u001b[2Jx\n`, /^wrong data\/\\u001b\[2Jx: missing/],
    ["a line of 10 MB", `${line}data/${"x".repeat(10_000_000)}\n`, /line \d+: it has 1\d{7} characters$/],
    ["a path that is listed twice", `${line}data/README.md\n`, /it names data\/README\.md a second time$/],
    ["a tag file in the payload", `${line}bagit.txt\n`, /it names bagit\.txt, which is not below data\/$/],
    ["a line without a checksum", "hello\n", /it is not a checksum with 64 digits and a path$/]
  ])("reports %s in a manifest", { tags: ["slow"] }, async (_, text, expected) => {
    const folder = copy()
    appendFileSync(join(folder, "manifest-sha256.txt"), text)
    const { code, findings } = await verify(folder)
    assert.strictEqual(code, 1)
    assert.isTrue(
      findings.some((one) => expected.test(one)),
      findings.join("\n").slice(0, 2000)
    )
    assert.notInclude(findings.join("\n"), "root:")
  })

  it(
    "reads no line of a ledger that is longer than any record, and no ledger that a manifest disproves",
    { tags: ["slow"] },
    async () => {
      const folder = copy()
      // A sparse file: it takes no space.
      truncateSync(join(folder, "data/ledger.jsonl"), 50_000_000)
      const begun = Date.now()
      assert.match(
        (await verify(folder)).findings.join("\n"),
        /data\/ledger\.jsonl: it differs from a manifest, so its chain was not checked/
      )
      reseal(folder)
      assert.match(
        (await verify(folder)).findings.join("\n"),
        /wrong data\/ledger\.jsonl: line \d+: record \d+ was edited/
      )
      assert.isBelow(Date.now() - begun, 60_000)
    }
  )

  it("does not read a description that is far larger than those that sluice writes", async () => {
    const folder = copy()
    const resources = Array.from({ length: 700_000 }, (_, n) => ({ path: `${n}` }))
    writeFileSync(join(folder, "data/datapackage.json"), JSON.stringify({ resources }))
    reseal(folder)
    const { code, findings } = await verify(folder)
    assert.strictEqual(code, 1)
    assert.match(
      findings.join("\n"),
      /notCompared data\/datapackage\.json: it has \d+ bytes; more than 8388608 are not read/
    )
    assert.isBelow(findings.length, 100)
  })

  it(
    "reports every file that a large description names, without running out of stack",
    { tags: ["slow"] },
    async () => {
      const folder = copy()
      const resources = Array.from({ length: 300_000 }, (_, n) => ({ path: `${n}` }))
      writeFileSync(join(folder, "data/datapackage.json"), JSON.stringify({ resources }))
      reseal(folder)
      const { code, findings } = await verify(folder)
      assert.strictEqual(code, 1)
      assert.isAtLeast(findings.length, 300_000)
    }
  )

  it("names an empty folder, which no manifest can list", async () => {
    const folder = copy()
    mkdirSync(join(folder, "data/more"))
    assert.deepStrictEqual((await verify(folder)).findings, [
      "wrong data/more: it is an empty folder, which no manifest lists"
    ])
  })

  it("does not follow links, also to files with the right content", async () => {
    const folder = copy()
    const file = join(folder, "data/csv/contacts.csv")
    unlinkSync(file)
    symlinkSync(join(bag, "data/csv/contacts.csv"), file)
    symlinkSync("/etc", join(folder, "data/etc"))
    const { code, findings } = await verify(folder)
    assert.strictEqual(code, 1)
    assert.include(findings, "wrong data/csv/contacts.csv: it is a link; it was not followed")
    assert.include(findings, "wrong data/etc: it is a link; it was not followed")
    assert.isFalse(findings.some((one) => one.includes("passwd")))
  })

  it.each([
    ["/etc/passwd", "../../../../etc/passwd"],
    ["a pattern", "csv/*.csv"]
  ])("opens no file for a package or totals that name %s", async (_, path) => {
    const folder = copy()
    edit(join(folder, "data/datapackage.json"), (text) =>
      text.replace('"path": "csv/invoices.csv"', `"path": "${path}"`)
    )
    edit(join(folder, "data/control-totals.json"), (text) =>
      text.replace('"table": "invoices"', `"table": "../../../../etc/passwd"`)
    )
    reseal(folder)
    const { code, findings } = await verify(folder)
    assert.strictEqual(code, 1)
    assert.include(findings, `wrong data/${path}: missing; data/datapackage.json describes it`)
    assert.isTrue(
      findings.some((one) => /^wrong data\/csv\/.*etc\/passwd\.csv: missing/.test(one)),
      findings.join("\n")
    )
  })

  it("says of a bag by others what it could not compare", async () => {
    const folder = join(newFolder(), "foreign")
    mkdirSync(join(folder, "data"), { recursive: true })
    writeFileSync(join(folder, "bagit.txt"), "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    writeFileSync(join(folder, "bag-info.txt"), "Payload-Oxum: 0.0\n")
    writeFileSync(join(folder, "data/letter.txt"), "Dear Sir or Madam")
    reseal(folder)
    const { code, isIntact, findings } = await verify(folder)
    assert.strictEqual(code, 1)
    assert.isFalse(isIntact)
    assert.deepStrictEqual(findings, [
      "notCompared data/datapackage.json: missing, so the tables cannot be compared with it",
      "notCompared data/control-totals.json: missing, so the tables cannot be compared with it",
      "notCompared data/letter.txt: no document of the bundle describes its content"
    ])
  })

  it("compares each line of each manifest, whatever the others say", async () => {
    const folder = join(newFolder(), "foreign")
    mkdirSync(join(folder, "data"), { recursive: true })
    writeFileSync(join(folder, "bagit.txt"), "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    writeFileSync(join(folder, "bag-info.txt"), "Payload-Oxum: 0.0\n")
    for (const name of ["one", "two", "three"]) writeFileSync(join(folder, `data/${name}.txt`), name)
    reseal(folder)
    const differing = async () =>
      (await verifyBundle(folder, new AbortController().signal)).findings.flatMap(({ what, where }) =>
        /^its SHA-\d+ differs from/.test(what) ? [`${where}: ${what}`] : []
      )
    assert.deepStrictEqual(await differing(), [])
    for (const [algorithm, label] of [
      ["sha256", "SHA-256"],
      ["sha512", "SHA-512"]
    ])
      for (const manifest of [`manifest-${algorithm}.txt`, `tagmanifest-${algorithm}.txt`]) {
        const text = readFileSync(join(folder, manifest), "utf8")
        for (const [n, line] of text.trimEnd().split("\n").entries()) {
          const at = (n * 7) % line.indexOf(" ")
          const forged = line.slice(0, at) + (line[at] === "0" ? "1" : "0") + line.slice(at + 1)
          writeFileSync(join(folder, manifest), text.replace(line, forged))
          const [path] = line.split(/ +/).slice(1)
          assert.include(await differing(), `${path}: its ${label} differs from ${manifest}`)
        }
        writeFileSync(join(folder, manifest), text)
      }
  })

  it.each([
    ["nowhere", /There is no folder nowhere\.$/m],
    ["package.json", /package\.json is a file, and a bundle is checked as a folder\.\n.*tar -xf package\.json/m]
  ])("refuses %s with exit code 2", async (folder, message) => {
    const { code, stderr } = await sluice(["export", "verify", folder], {})
    assert.strictEqual(code, 2)
    assert.match(stderr, message)
  })
})

/** Adds one to the first amount in the column `total`. */
const addToFirstTotal = (text: string): string => {
  const index = text.split("\r\n")[0]!.split(",").indexOf("total")
  return text.replace(/\r\n([^"\r\n]*)/, (_, row: string) => {
    const cells = row.split(",")
    cells[index] = `9${cells[index]}`
    return `\r\n${cells.join(",")}`
  })
}
