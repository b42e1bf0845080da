/** The recipes of docs/bi-tools.md, as they stand there, in the tools that they are for. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Account, discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { programOf } from "../support/programs.ts"
import { pythonWith } from "../support/python.ts"
import { newFolder } from "../support/sluice.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = readFileSync(join(root, "docs/bi-tools.md"), "utf8")
const recipes = Array.from(page.matchAll(/^```(sh|sql|python)\n(.*?)^```$/gms), ([, language, code]) => ({
  language: language!,
  code: code!
}))
const python = pythonWith([
  "duckdb==2.0.0",
  "duckdb-cli==1.5.6",
  "duckdb-engine==0.17.0",
  "openpyxl==3.1.5",
  "pandas==3.1.1",
  "polars==2.1.0",
  "pyarrow==26.0.1",
  "pytz",
  "sqlalchemy==2.1.9"
])

describe.skipIf(python === undefined)("docs/bi-tools.md", () => {
  let account: Account
  const folder = newFolder()
  beforeAll(async () => {
    const tables = "locations,contacts,opportunities"
    account = await openSynced({ tables, flags: ["--contacts", "200"], formats: "duckdb,parquet,csv" })
    symlinkSync(account.output, join(folder, "output"))
    symlinkSync(join(root, "sluice"), join(folder, "sluice"))
  })
  afterAll(() => discard(account))

  const run = ({ language, code }: (typeof recipes)[number]): string => {
    const bin = dirname(python!)
    const [program, ...args] =
      language === "python"
        ? [python!, "-c", code]
        : language === "sql"
          ? [join(bin, "duckdb"), "-readonly", "output/published/crm.duckdb", "-c", code]
          : ["sh", "-ec", code]
    const { status, stdout, stderr } = spawnSync(program!, args, {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: folder },
      timeout: 120_000
    })
    assert.strictEqual(status, 0, `${code}\n${stderr}`)
    return stdout
  }
  const recipe = (text: string) => recipes.find(({ code }) => code.includes(text))!

  it("has recipes that run, and print something", () => {
    assert.isAbove(recipes.length, 11)
    const needsOffice = ({ code }: (typeof recipes)[number]) => code.includes("libreoffice")
    const hasOffice = programOf("libreoffice-calc-nogui", "/usr/bin/libreoffice") !== undefined
    for (const one of recipes) if (hasOffice || !needsOffice(one)) assert.isNotEmpty(run(one).trim(), one.code)
    if (hasOffice) assert.isTrue(existsSync(join(folder, "sales.ods")))
  })

  it("has recipes whose results are those of the warehouse", async () => {
    const deals = await query(
      account.warehouse,
      "SELECT status, count(*) AS deals, sum(monetary_value) AS value FROM crm.opportunities GROUP BY ALL ORDER BY 1"
    )
    assert.isAbove(deals.length, 2)
    assert.strictEqual(run(recipe("sqlalchemy")), deals.map((row) => `${row["status"]} ${row["deals"]}\n`).join(""))
    const sums = run(recipe("groupby"))
    for (const { status, value } of deals) assert.match(sums, new RegExp(`^${status} +${value ?? "<NA>"}$`, "m"))
    const [phone] = await query(
      account.warehouse,
      "SELECT phone FROM crm.contacts WHERE phone IS NOT NULL ORDER BY rowid"
    )
    assert.include(run(recipe("read_excel")), String(phone!["phone"]))
    assert.include(run(recipe("read_csv")), String(phone!["phone"]))
    const months = await query(
      account.warehouse,
      "SELECT strftime(date_added AT TIME ZONE 'UTC', '%Y-%m') AS month, count(*) AS n FROM crm.contacts GROUP BY ALL ORDER BY 1 DESC LIMIT 3"
    )
    const printed = run(recipe("scan_parquet"))
    for (const { month, n } of months) assert.match(printed, new RegExp(`${month} +┆ +${n} `))
  })
})
