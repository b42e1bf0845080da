/** The page of the explorer in Chromium, and its downloads in programs that we did not write. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { readFileSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import axe from "axe-core"
import type { Page } from "playwright-core"
import { type Pages, openPages } from "../explore/chromium.ts"
import { type Client, openExplorer } from "../explore/client.ts"
import { type Account, discard, openTables } from "../support/account.ts"
import { chromiumPath } from "../support/chromium.ts"
import { query } from "../support/compare.ts"
import { python } from "../support/python.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { start } from "../support/process.ts"

/** What a function that runs in the page finds there. */
interface InPage {
  readonly axe?: {
    readonly run: () => Promise<{ violations: Array<{ id: string; impact: string; nodes: Array<{ html: string }> }> }>
  }
  readonly document: {
    readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number }
    readonly querySelectorAll: (selector: string) => Iterable<{ readonly remove: () => void }>
    readonly createTreeWalker: (root: unknown, what: number) => { readonly nextNode: () => InText | null }
    readonly createRange: () => {
      readonly selectNodeContents: (node: InText) => void
      readonly getClientRects: () => ReadonlyArray<unknown>
    }
  }
}

interface InText {
  readonly data: string
  readonly parentElement: { readonly closest: (selector: string) => unknown }
}

describe.skipIf(chromiumPath === undefined)("the page", () => {
  let pages: Pages
  let account: Account
  let client: Client
  beforeAll(async () => {
    pages = await openPages()
    ;({ account, client } = pages)
  })
  afterAll(() => pages.close())
  const environment = () => ({ ...account.environment, SLUICE_FORMATS: "duckdb" })
  const runSql = async (page: Page, sql: string) => {
    await page.getByRole("link", { name: "SQL", exact: true }).click()
    await page.getByRole("textbox", { name: "SQL" }).click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insertText(sql)
    await page.keyboard.press("Control+Enter")
  }

  it("shows hostile values as text, and one row with all its values", async () => {
    const { page, close } = await pages.opened()
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
    await close()
  })

  it("completes tables and columns, and marks the place of an error", async () => {
    const { page, problems, close } = await pages.opened()
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
    assert.strictEqual(problems.splice(0).filter((text) => !text.includes("400 (Bad Request)")).length, 0)
    await close()
  })

  it("draws a chart, and saves a query and opens it again", async () => {
    const { page, close } = await pages.opened()
    await runSql(page, "SELECT status, count(*) AS deals FROM opportunities GROUP BY ALL")
    const { promise: continued, resolve: carryOn } = Promise.withResolvers<void>()
    await page.route(/\/api\/chart$|board\.js$/, (route) => continued.then(() => route.continue()))
    await page.getByRole("button", { name: "Chart" }).click()
    await page.getByText("Drawing…").waitFor()
    // What was shown does not stay while another part of the page is read.
    await page.getByRole("link", { name: "Board" }).click()
    await page.getByText("Reading…").waitFor()
    assert.strictEqual(await page.getByText("Drawing…").count(), 0)
    await page.goBack()
    carryOn()
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
    // The chart comes back with its query: from the file, from the address, and on the board.
    await page.getByRole("img", { name: /^Line chart of deals by status/ }).waitFor()
    const requested: Array<string> = []
    page.on("request", (request) => requested.push(request.url()))
    const { hash } = new URL(page.url())
    assert.include(decodeURIComponent(hash), '"kind":"line"')
    await page.goto("about:blank")
    await page.goto(`${client.origin}/${hash}`)
    await page.getByRole("img", { name: /^Line chart of deals by status/ }).waitFor()
    assert.isEmpty(requested.filter((url) => /SELECT|status/.test(url)))
    await page.getByRole("link", { name: "Board" }).click()
    await page.getByRole("img", { name: /^Line chart of deals by status/ }).waitFor()
    await page.getByRole("link", { name: "Deals by status" }).click()
    await page.getByRole("combobox", { name: "Chart" }).waitFor()
    assert.strictEqual(new URL(page.url()).hash, hash)
    await close()
  })

  it("has the ten questions of the models on an empty board, ready to be changed", async () => {
    rmSync(client.queries, { recursive: true, force: true })
    const { page, close } = await pages.opened()
    await page.getByRole("link", { name: "Board" }).click()
    await page.getByText("No chart is saved yet.").waitFor()
    const cards = page.locator(".charts li")
    await cards.nth(9).waitFor()
    assert.strictEqual(await cards.count(), 10)
    // This account has deals and contacts only.
    await cards.filter({ hasText: "What is overdue?" }).getByText("The query has no rows with numbers now.").waitFor()
    const name = "Bar chart of value by pipeline_stage_name and pipeline_name"
    await cards.filter({ hasText: "The value of open deals" }).getByRole("img", { name }).waitFor()
    await page.getByRole("link", { name: "The value of open deals by stage" }).click()
    await page.locator(".cm-content").getByText("FROM bi.fct_opportunity").waitFor()
    await page.getByRole("img", { name }).waitFor()
    await close()
  })

  it("draws two series, and series that are stacked, but adds no amounts of several currencies", async () => {
    const { page, problems, close } = await pages.opened()
    await runSql(
      page,
      "SELECT status, source, count(*) AS deals, sum(monetary_value) AS worth FROM opportunities GROUP BY ALL ORDER BY ALL"
    )
    await page.getByRole("button", { name: "Chart" }).click()
    await page.getByRole("combobox", { name: "Series by" }).selectOption("source")
    await page.getByRole("img", { name: /^Bar chart of worth by status and source/ }).waitFor()
    await page.getByRole("combobox", { name: "And" }).selectOption("deals")
    await page.getByRole("combobox", { name: "Chart" }).selectOption("grouped")
    await page.getByRole("img", { name: /^Grouped bar chart of worth and deals by status,/ }).waitFor()
    assert.strictEqual(await page.getByRole("combobox", { name: "Series by" }).inputValue(), "")
    await runSql(page, "SELECT * FROM (VALUES ('a', 'USD', 1.5), ('a', 'EUR', 2.5)) AS paid(place, currency, amount)")
    await page.getByRole("combobox", { name: "Series by" }).selectOption("currency")
    await page.getByRole("img", { name: /^Grouped bar chart of amount by place and currency/ }).waitFor()
    await page.getByRole("combobox", { name: "Chart" }).selectOption("bar")
    await page.getByText("The chart would add amounts of several currencies: choose lines").waitFor()
    assert.strictEqual(problems.splice(0).filter((text) => !text.includes("400 (Bad Request)")).length, 0)
    await close()
  })

  it.skipIf(python === undefined)("downloads CSV, Parquet and Excel that DuckDB and openpyxl read", async () => {
    const { page, close } = await pages.opened()
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
    await close()
  })

  it.each([
    [1280, ["light"]],
    [768, ["dark"]],
    [390, ["light", "dark"]]
  ] as const)("is usable and accessible at %i pixels: %s", async (width, schemes) => {
    const sql = "SELECT status, count(*) AS deals FROM opportunities GROUP BY ALL"
    const chart = { kind: "bar", x: "status", y: ["deals"] }
    for (const scheme of schemes) {
      await client.post("/api/queries", { name: "Deals", sql, chart, replace: true })
      const { page, close } = await pages.opened(width, scheme)
      const check = async (view: string) => {
        const [overflow, violations, broken] = await page.evaluate(async (source) => {
          const { axe: checker, document } = globalThis as unknown as InPage
          const { scrollWidth, clientWidth } = document.documentElement
          // Names are broken between their words only: each of these is a text of its own.
          const broken: Array<string> = []
          const texts = document.createTreeWalker(document.documentElement, 4)
          for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
            if (/\s/.test(text.data) || text.parentElement.closest("dd, td, pre, .hidden, .cm-editor")) continue
            const range = document.createRange()
            range.selectNodeContents(text)
            if (range.getClientRects().length > 1) broken.push(text.data)
          }
          // The others are like the first two: there are 100 rows of 77 cells, and 400 tables.
          for (const one of ["tbody tr", "nav li", ".cards li", "dl > div"])
            for (const element of document.querySelectorAll(`${one}:nth-child(n + 3)`)) element.remove()
          // oxlint-disable-next-line typescript/no-implied-eval, eslint/no-new-func -- Runs in the page.
          if (!checker) new Function(source)()
          const found = (await (globalThis as unknown as InPage).axe!.run()).violations
          return [scrollWidth - clientWidth, found.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`), broken] as const
        }, axe.source)
        assert.deepStrictEqual([view, overflow, violations, broken], [view, 0, [], []])
      }
      await check("overview")
      await page.goto(`${client.origin}/#/table/main/contacts`)
      await page.getByRole("link", { name: "Show row 1", exact: true }).waitFor()
      await page.getByRole("button", { name: "Add a filter" }).click()
      await page.getByText(/^\d+ columns/).click()
      await check("table")
      await page.getByRole("button", { name: "Profile of location_id", exact: true }).click()
      await page.locator(".top").waitFor()
      await check("profile")
      await page.keyboard.press("Escape")
      await page.getByRole("link", { name: "Show row 1", exact: true }).click()
      await page.locator(".lists h3").waitFor()
      await check("record")
      await runSql(page, sql)
      await page.getByRole("button", { name: "Chart" }).click()
      await page.locator(".picture img").waitFor()
      await check("sql")
      await page.getByRole("link", { name: "Board" }).click()
      await page.locator(".charts img").first().waitFor()
      await check("board")
      rmSync(client.queries, { recursive: true, force: true })
      await page.reload()
      await page.locator(".charts li:nth-child(10) img").waitFor()
      await check("questions")
      await close()
    }
  })

  it("follows to the next release, and says when the explorer has ended", async () => {
    const output = account.output
    const second = await openExplorer(output)
    const { page, problems, close } = await pages.opened()
    await page.goto(second.explorer.url)
    await page.getByRole("heading", { name: "What is in the account" }).waitFor()
    await account.service.post("change", { contacts: 0.2, seed: 7 })
    assert.strictEqual((await sluice(["sync", ...account.selection], environment())).code, 0)
    await page.getByText("There is new data: the page shows the new release.").waitFor()
    await second.explorer.close()
    await page.getByText("The explorer has ended.").waitFor()
    // Nobody answers any more.
    assert.isEmpty(problems.splice(0).filter((text) => !text.includes("ERR_CONNECTION_REFUSED")))
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
  const running = start(["explore", "--listen", String(port)], environment)
  const status = () => fetch(`http://127.0.0.1:${port}/`).then((response) => response.status)
  while ((await status().catch(() => 0)) !== 401) await new Promise((resolve) => setTimeout(resolve, 50))
  running.kill("SIGINT")
  const { code, stdout, stderr } = await running.ended
  assert.strictEqual(code, 130, stderr)
  assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\/\?token=/)
  assert.notInclude(stderr, "Stopping")
  discard(made)
})

it("has the same address each time unless it is in use, so that a browser finds what it has kept", async () => {
  const made = await openTables("contacts", "--contacts", "5")
  const environment = { ...made.environment, SLUICE_FORMATS: "duckdb" }
  assert.strictEqual((await sluice(["sync", ...made.selection], environment)).code, 0)
  const listening = async () => {
    const running = start(["explore"], environment)
    while (!running.stderr().includes("Press Ctrl-C")) await new Promise((resolve) => setTimeout(resolve, 20))
    return async () => {
      running.kill("SIGINT")
      return new URL((await running.ended).stdout.trim()).port
    }
  }
  const [first, second] = [await listening(), await listening()]
  const ports = [await second(), await first()]
  assert.notStrictEqual(ports[0], ports[1])
  assert.strictEqual(await (await listening())(), ports[1])
  discard(made)
})
