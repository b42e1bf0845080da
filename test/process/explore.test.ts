/** The page of the explorer in Chromium, and its downloads in programs that we did not write. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import axe from "axe-core"
import { type Browser, type Page, chromium } from "playwright-core"
import { type Client, openExplorer } from "../explore/client.ts"
import { type Account, discard, openSynced, openTables } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { programOf } from "../support/programs.ts"
import { pythonWith } from "../support/python.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { start } from "../support/process.ts"

const chromiumPath = programOf("chromium", "/usr/bin/chromium")
const python = pythonWith(["duckdb==1.5.4", "pytz", "openpyxl==3.1.5"])

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

describe.skipIf(chromiumPath === undefined)("the page", () => {
  let account: Account
  let client: Client
  let browser: Browser
  const environment = () => ({ ...account.environment, SLUICE_FORMATS: "duckdb" })
  beforeAll(async () => {
    account = await openSynced({
      tables: "contacts,opportunities",
      flags: ["--contacts", "150", "--world", "nasty"],
      formats: "duckdb"
    })
    client = await openExplorer(account.output)
    browser = await chromium.launch({ executablePath: chromiumPath!, args: flags })
  })
  afterAll(async () => {
    await browser.close()
    await client.explorer.close()
    discard(account)
  })

  /** A page that must report no error, and send no request to another host. */
  const opened = async (width = 1280, colorScheme: "light" | "dark" = "light") => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
    const page = await context.newPage()
    const problems: Array<string> = []
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text())
    })
    page.on("pageerror", (error) => problems.push(error.message))
    page.on("request", (request) => {
      const url = new URL(request.url())
      if (url.protocol.startsWith("http") && url.hostname !== "127.0.0.1") problems.push(`requested ${request.url()}`)
    })
    await page.goto(client.explorer.url)
    await page.getByRole("heading", { name: "Choose a table" }).waitFor()
    return { page, problems, close: () => context.close() }
  }
  const runSql = async (page: Page, sql: string) => {
    await page.getByRole("link", { name: "SQL", exact: true }).click()
    await page.getByRole("textbox", { name: "SQL" }).click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insertText(sql)
    await page.keyboard.press("Control+Enter")
  }
  const column = (page: Page, index: number) => page.locator(`tbody td:nth-child(${index})`).allTextContents()

  it("shows a table, sorts it, filters it, and opens it as SQL", async () => {
    const { page, problems, close } = await opened()
    await page.getByRole("searchbox").fill("contacts")
    await page
      .getByRole("navigation", { name: "Tables" })
      .getByRole("link", { name: /^contacts ?\d/ })
      .first()
      .click()
    const status = page.locator(".pager")
    const count = async (where: string) =>
      Number((await query(account.warehouse, `SELECT count(*) AS n FROM crm.contacts WHERE ${where}`))[0]!["n"])
    await status.getByText(`Rows 1 to 100 of ${await count("_deleted_at IS NULL")}`).waitFor()
    await page.getByRole("button", { name: "Next" }).click()
    await status.getByText("Rows 101 to").waitFor()
    await page.getByRole("columnheader", { name: "id", exact: true }).getByRole("button").click()
    await page.locator('th[aria-sort="ascending"]').waitFor()
    const ids = await query(account.warehouse, "SELECT id FROM crm.contacts ORDER BY id LIMIT 100")
    assert.deepStrictEqual(
      await column(page, 3),
      ids.map(({ id }) => id)
    )
    await page.getByRole("button", { name: "Add a filter" }).click()
    await page.getByRole("combobox", { name: "Column" }).selectOption("email")
    await page.getByRole("textbox", { name: "Value for email" }).fill("EXAMPLE.NET")
    await page.keyboard.press("Enter")
    await status.getByText(`of ${await count("email ILIKE '%example.net%'")}`).waitFor()
    await page.getByRole("button", { name: "Open as SQL" }).click()
    await page.locator(".cm-content").getByText("contains(lower(email::VARCHAR), lower('EXAMPLE.NET'))").waitFor()
    assert.deepStrictEqual(problems, [])
    await close()
  })

  it("shows hostile values as text, and one row with all its values", async () => {
    const { page, problems, close } = await opened()
    await runSql(
      page,
      "SELECT '<script>alert(1)</script><img src=x onerror=alert(2)>' AS \"<b>name</b>\", NULL AS nothing"
    )
    await page.getByRole("cell", { name: "<script>alert(1)</script>" }).waitFor()
    await page.getByRole("columnheader", { name: "<b>name</b>" }).waitFor()
    await page.getByRole("button", { name: "Show row 1" }).click()
    await page.getByRole("dialog").getByText("<b>name</b>").waitFor()
    await page.keyboard.press("Escape")
    assert.strictEqual(await page.getByRole("dialog").count(), 0)
    assert.deepStrictEqual(problems, [])
    await close()
  })

  it("completes tables and columns, and marks the place of an error", async () => {
    const { page, problems, close } = await opened()
    await runSql(page, "SELECT emial\nFROM contacts")
    await page.getByRole("alert").getByText('Candidate bindings: "email"').waitFor()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("SELECT count(*) AS n FROM opportuni")
    await page.locator(".cm-tooltip-autocomplete").getByText("opportunities", { exact: true }).waitFor()
    await page.waitForTimeout(200)
    await page.keyboard.press("Tab")
    await page.keyboard.type(" WHERE monetary_va")
    await page.locator(".cm-tooltip-autocomplete").getByText("monetary_value").first().waitFor()
    await page.waitForTimeout(200)
    await page.keyboard.press("Tab")
    await page.keyboard.type(" >= 0")
    await page.keyboard.press("Control+Enter")
    const [row] = await query(
      account.warehouse,
      "SELECT count(*) AS n FROM crm.opportunities WHERE monetary_value >= 0"
    )
    await page.getByRole("cell", { name: String(row!["n"]), exact: true }).waitFor()
    assert.match((await page.locator(".cm-content").textContent())!, /FROM opportunities WHERE monetary_value >= 0$/)
    // 400 is the answer to a query that is wrong.
    assert.deepStrictEqual(
      problems.filter((text) => !text.includes("400 (Bad Request)")),
      []
    )
    await close()
  })

  it("draws a chart, and saves a query and opens it again", async () => {
    const { page, problems, close } = await opened()
    await runSql(page, "SELECT status, count(*) AS deals FROM opportunities GROUP BY ALL")
    await page.getByRole("button", { name: "Chart" }).click()
    const image = page.getByRole("img", { name: /^Bar chart of deals by status/ })
    await image.waitFor()
    assert.isAbove((await image.boundingBox())!.height, 200)
    await page.getByRole("combobox", { name: "Chart" }).selectOption("line")
    await page.getByRole("img", { name: /^Line chart/ }).waitFor()
    await page.getByRole("button", { name: "Save…" }).click()
    await page.getByRole("textbox", { name: "Name" }).fill("Deals by status")
    await page.keyboard.press("Enter")
    await page.locator("option", { hasText: "Deals by status" }).waitFor({ state: "attached" })
    assert.match(readFileSync(join(client.queries, "Deals by status.sql"), "utf8"), /^SELECT status/)
    await page.getByRole("textbox", { name: "SQL" }).fill("")
    await page.getByRole("combobox", { name: "Saved queries" }).selectOption("Deals by status")
    await page.locator(".cm-content").getByText("SELECT status, count(*)").waitFor()
    assert.deepStrictEqual(problems, [])
    await close()
  })

  it.skipIf(python === undefined)("downloads CSV, Parquet and Excel that DuckDB and openpyxl read", async () => {
    const { page, problems, close } = await opened()
    await runSql(page, "SELECT id, name, phone, date_added FROM contacts ORDER BY id")
    const folder = newFolder()
    for (const name of ["CSV", "Parquet", "Excel"]) {
      const saved = page.waitForEvent("download")
      await page.getByRole("button", { name: `Download as ${name}` }).click()
      await (await saved).saveAs(join(folder, (await saved).suggestedFilename()))
    }
    const script = `
import duckdb, json, openpyxl, sys
print(json.dumps({
  "csv": duckdb.sql("SELECT id FROM read_csv('result.csv', all_varchar=true)").fetchall(),
  "parquet": duckdb.sql("SELECT id FROM 'result.parquet'").fetchall(),
  "xlsx": [[row[0].value] for row in list(openpyxl.load_workbook("result.xlsx")["Result"].rows)[1:]],
  "types": [type(cell.value).__name__ for cell in openpyxl.load_workbook("result.xlsx")["Result"][2]]
}))`
    const read = JSON.parse(execFileSync(python!, ["-c", script], { cwd: folder, encoding: "utf8" }))
    const ids = (await query(account.warehouse, "SELECT id FROM crm.contacts ORDER BY id")).map(({ id }) => [id])
    assert.deepStrictEqual(read.csv, ids)
    assert.deepStrictEqual(read.parquet, ids)
    assert.deepStrictEqual(read.xlsx, ids)
    assert.strictEqual(read.types[3], "datetime")
    assert.deepStrictEqual(problems, [])
    await close()
  })

  it.each([
    [1280, ["light"]],
    [768, ["dark"]],
    [390, ["light", "dark"]]
  ] as const)("is usable and accessible at %i pixels: %s", async (width, schemes) => {
    for (const scheme of schemes) {
      const { page, problems, close } = await opened(width, scheme)
      const check = async (view: string) => {
        const [overflow, violations] = await page.evaluate(async (source) => {
          // oxlint-disable-next-line typescript/no-implied-eval, eslint/no-new-func -- Runs in the page.
          new Function(source)()
          const { axe: checker } = globalThis as unknown as {
            axe: {
              run: (
                context: object
              ) => Promise<{ violations: Array<{ id: string; impact: string; nodes: Array<{ html: string }> }> }>
            }
          }
          // The rows are alike, and there are 100 of 77 cells.
          const found = (await checker.run({ exclude: ["tbody tr:nth-child(n + 3)"] })).violations
          const { documentElement } = (
            globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }
          ).document
          return [
            documentElement.scrollWidth - documentElement.clientWidth,
            found
              .filter(({ impact }) => impact === "serious" || impact === "critical")
              .map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`)
          ] as const
        }, axe.source)
        assert.deepStrictEqual([view, overflow, violations], [view, 0, []])
      }
      await check("overview")
      await page.goto(`${client.origin}/#/table/main/contacts`)
      await page.getByRole("button", { name: "Show row 1", exact: true }).waitFor()
      await page.getByRole("button", { name: "Add a filter" }).click()
      await check("table")
      await runSql(page, "SELECT status, count(*) AS deals FROM opportunities GROUP BY ALL")
      await page.getByRole("button", { name: "Chart" }).click()
      await page.locator(".picture img").waitFor()
      await check("sql")
      assert.deepStrictEqual(problems, [])
      await close()
    }
  })

  it("follows to the next release, and says when the explorer has ended", async () => {
    const output = account.output
    const second = await openExplorer(output)
    const { page, close } = await opened()
    await page.goto(second.explorer.url)
    await page.getByRole("heading", { name: "Choose a table" }).waitFor()
    await account.service.post("change", { contacts: 0.2, seed: 7 })
    assert.strictEqual((await sluice(["sync", ...account.selection], environment())).code, 0)
    await page.getByText("There is new data: the page shows the new release.").waitFor()
    await second.explorer.close()
    await page.getByText("The explorer has ended.").waitFor()
    await close()
  })
})

it("Ctrl-C ends the command and its processes, with code 130", async () => {
  const made = await openTables("contacts", "--contacts", "5")
  const environment = { ...made.environment, SLUICE_FORMATS: "duckdb" }
  assert.strictEqual((await sluice(["sync", ...made.selection], environment)).code, 0)
  const free = createServer().listen(0, "127.0.0.1")
  await new Promise((resolve) => free.once("listening", resolve))
  const { port } = free.address() as AddressInfo
  await new Promise((resolve) => free.close(resolve))
  const running = start(["explore", "--port", String(port)], environment)
  const status = () => fetch(`http://127.0.0.1:${port}/`).then((response) => response.status)
  while ((await status().catch(() => 0)) !== 401) await new Promise((resolve) => setTimeout(resolve, 50))
  running.kill("SIGINT")
  const { code, stdout, stderr } = await running.ended
  assert.strictEqual(code, 130, stderr)
  assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\/\?token=/)
  assert.notInclude(stderr, "Stopping")
  discard(made)
})
