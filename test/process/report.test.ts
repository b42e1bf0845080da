/** The report in a browser: Debian's Chromium, at the widths of a telephone, a tablet and a desk, in both colour schemes. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import axe from "axe-core"
import type { Browser, Page } from "playwright-core"
import { rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Account, discard, openTables } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { chromiumPath, launchChromium } from "../support/chromium.ts"
import { startService } from "../support/service.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe.skipIf(chromiumPath === undefined)("the report in a browser", () => {
  let account: Account
  let browser: Browser
  let url: string
  beforeAll(async () => {
    account = await openTables("contacts,contact_notes,calendars,appointments,opportunities,forms", "--contacts", "40")
    const environment = { ...account.environment, SLUICE_FORMATS: "duckdb" }
    assert.strictEqual((await sluice(["sync", ...account.selection], environment)).code, 0)
    // A month of nights, and one that lacked a scope, show every kind of chart and of state.
    await query(
      account.warehouse,
      `INSERT INTO meta.runs SELECT m.* REPLACE (run_id || i AS run_id, started_at - INTERVAL (i) DAY AS started_at, finished_at - INTERVAL (i) DAY AS finished_at, 90 AS planned_requests)
         FROM meta.runs AS m, range(1, 30) AS r (i);
       INSERT INTO meta.run_resources SELECT m.* REPLACE ('20200101T000000000Z' || i AS run_id, finished_at - INTERVAL (i) DAY AS finished_at, 1 AS new_rows)
         FROM meta.run_resources AS m, range(1, 30) AS r (i);
       INSERT INTO meta.rejected_values SELECT run_id, 'l', 'contacts', 'k', 'date_of_birth', '31/12/19', 'does not fit DATE', finished_at FROM meta.runs;
       INSERT INTO meta.schema_changes SELECT run_id, 'contacts', 'a <b>', 'new field', 'x', run_id, finished_at, 1, 'k' FROM meta.runs LIMIT 3`,
      "READ_WRITE"
    )
    await account.service.post("token", { removeScope: "calendars.readonly" })
    assert.strictEqual((await sluice(["sync", ...account.selection], environment)).code, 3)
    url = `file://${join(account.output, "published/report/index.html")}`
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser.close()
    discard(account)
  })

  it("has a page about a person that needs no network, fits, and passes axe at the same sizes", async () => {
    const to = join(newFolder(), "export")
    const [contact] = await query(account.warehouse, "SELECT contact_id FROM crm.contact_notes LIMIT 1")
    const flags = ["subject", "export", "--to", to, "--contact", String(contact!["contact_id"]), "--search-text"]
    // Most tables were never read, and the page says so.
    assert.strictEqual((await sluice(flags, account.environment)).code, 3)
    for (const [width, colorScheme] of sizes) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
      const requests: Array<string> = []
      page.on("request", (request) => requests.push(request.url()))
      const address = `file://${join(to, "index.html")}`
      await page.goto(address)
      await page.evaluate('document.querySelectorAll("details").forEach((folded) => (folded.open = true))')
      assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth")), width)
      assert.deepStrictEqual(await violationsOf(page), [])
      assert.deepStrictEqual(requests, [address])
      await page.close()
    }
  })

  const sizes = [
    [1280, "light"],
    [768, "dark"],
    [390, "light"],
    [390, "dark"]
  ] as const

  it.each(sizes)("at %d pixels in %s mode needs no network, fits, and passes axe", async (width, colorScheme) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    const heard: Array<string> = []
    page.on("console", (message) => heard.push(message.text()))
    page.on("pageerror", (error) => heard.push(error.message))
    page.on("request", (request) => {
      if (request.url() !== url && !request.url().startsWith("data:")) heard.push(request.url())
    })
    await page.goto(url)
    for (const folded of await page.locator("details").all())
      await folded.evaluate((element) => element.setAttribute("open", ""))
    assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth")), width)
    assert.isAbove(await page.locator("svg").count(), 10)
    const counts = page.locator("div.chart", { hasNotText: /Seconds|Minutes|Median/ })
    const levels = await counts.locator(".levels span").allTextContents()
    assert.isAbove(levels.length, 10)
    assert.deepStrictEqual(
      levels.filter((level) => !/^\d+$|[KMB]$/.test(level)),
      []
    )
    assert.strictEqual(await page.locator('rect[height="0"]').count(), 0)
    assert.deepStrictEqual(await violationsOf(page), [])
    if (width === 768) {
      await page.evaluate('document.querySelector(".lead").style.color = "#777"')
      assert.include((await violationsOf(page)).join(), "color-contrast", "the check can fail")
    }
    assert.deepStrictEqual(heard, [])
    await page.close()
  })

  it("can be read without scripts, and each chart has a name and a description", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(url)
    assert.strictEqual(await page.locator("#status").innerText(), "Incomplete")
    assert.isTrue(await page.locator("#business").isVisible())
    const charts = await page.locator("svg").count()
    assert.strictEqual(await page.locator("svg > title + desc").count(), charts)
    await context.close()
  })

  it("says each value of a chart to who points at it or moves along it, and shows the SQL of a number", async () => {
    const page = await browser.newPage()
    await page.goto(url)
    const hits = page.locator(".hits").first().locator("span")
    const said = await hits.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")))
    assert.isAbove(said.length, 12)
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')")
    await hits.last().focus()
    await page.keyboard.press("ArrowLeft")
    assert.strictEqual(await focused(), said.at(-2))
    await page.keyboard.press("Home")
    await page.keyboard.press("ArrowLeft")
    assert.strictEqual(await focused(), said[0])
    await hits.nth(3).hover()
    const shown = await page.evaluate(
      "getComputedStyle(document.querySelector('.hits span:nth-child(4)'), '::after').content"
    )
    assert.strictEqual(shown, JSON.stringify(said[3]))
    await page.locator("#business .tiles a").first().click()
    const dialog = page.getByRole("dialog", { name: "The rows of this number" })
    assert.match(await dialog.locator("pre").innerText(), /^FROM bi\.fct_opportunity\nWHERE is_open\n {2}AND /)
    await dialog.getByRole("button", { name: "Close" }).click()
    assert.isFalse(await dialog.isVisible())
    await page.setViewportSize({ width: 390, height: 800 })
    const meters = await page
      .locator("#stages .meter")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()))
    assert.isAbove(meters.length, 2)
    for (const { left, right } of meters) assert.isTrue(left >= 0 && right <= 390, `${left} to ${right}`)
    await page.close()
  })

  it("prints with the rows that are folded on screens", async () => {
    const page = await browser.newPage()
    await page.goto(url)
    const row = page.locator("#runs-table-more tbody tr").first()
    assert.isFalse(await row.isVisible())
    await page.emulateMedia({ media: "print" })
    assert.isTrue(await row.isVisible())
    // The width of A4 and of Letter, without margins.
    await page.setViewportSize({ width: 700, height: 1000 })
    const wide = "[...document.querySelectorAll('table')].filter((one) => one.getBoundingClientRect().right > 700.5)"
    assert.deepStrictEqual(await page.evaluate(`${wide}.map(({ id }) => id)`), [])
    await page.close()
  })
})

describe.skipIf(chromiumPath === undefined)("the report of two locations in a browser", () => {
  it("shows the business of each, with a selector that needs no script, and no name of a location wraps", async () => {
    const service = await startService("--locations", "2", "--contacts", "20", "--limits", "off")
    const [output, config] = [newFolder(), join(newFolder(), "sluice.toml")]
    const listed = await (await fetch(`${service.url}/__sandbox/locations`)).json()
    const locations = (listed as ReadonlyArray<Record<"locationId" | "token", string>>).map(
      ({ locationId, token }) => `[[locations]]\nid = "${locationId}"\ntoken = "${token}"`
    )
    writeFileSync(config, [`[account]\nbase_url = "${service.url}"`, ...locations].join("\n"))
    const environment = { SLUICE_OUTPUT: output, SLUICE_FORMATS: "duckdb" }
    const synced = await sluice(
      ["sync", "--config", config, "--only", "contacts,calendars,appointments,opportunities"],
      environment
    )
    assert.strictEqual(synced.code, 0, synced.stderr)
    service.stop()
    const browser = await launchChromium()
    for (const [width, colorScheme] of [
      [1280, "light"],
      [390, "dark"]
    ] as const) {
      const context = await browser.newContext({
        javaScriptEnabled: width > 1000,
        viewport: { width, height: 900 },
        colorScheme
      })
      const page = await context.newPage()
      await page.goto(`file://${join(output, "published/report/index.html")}`)
      const tile = () => page.locator("#business .tiles:visible dd").first().innerText()
      const names = await page.locator(".places option").allTextContents()
      assert.lengthOf(names, 3)
      const figures = [await tile()]
      const rows = (name: string) => page.locator(".group:visible th, #places tbody th").filter({ hasText: name })
      for (const name of names.slice(1)) assert.isAbove(await rows(name).count(), 1)
      const heights =
        "[...document.querySelectorAll('.group th, #places tbody th')].map((one) => one.getClientRects()[0]?.height ?? 0)"
      assert.isBelow(Math.max(...((await page.evaluate(heights)) as ReadonlyArray<number>)), 48)
      for (const name of names.slice(1)) {
        await page.getByLabel("Business of").selectOption(name)
        figures.push(await tile())
        assert.strictEqual(await page.locator(".headline:visible").count(), 1)
        assert.strictEqual(await page.locator("#business .group:visible").count(), 0)
        assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth")), width)
        if (width > 1000) assert.deepStrictEqual(await violationsOf(page), [])
      }
      assert.lengthOf(new Set(figures), 3)
      await context.close()
    }
    await browser.close()
    for (const folder of [output, dirname(config)]) rmSync(folder, { recursive: true })
  })
})

/** What axe finds. */
const violationsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  const found = await page.evaluate(
    "axe.run({ resultTypes: ['violations'] }).then((result) => JSON.stringify(result.violations))"
  )
  const violations: ReadonlyArray<Violation> = JSON.parse(String(found))
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`)
}

interface Violation {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string }>
}
