/** The dictionary in a browser: Debian's Chromium, without a network. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import axe from "axe-core"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { chromiumPath, launchChromium } from "../support/chromium.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe.skipIf(chromiumPath === undefined)("the dictionary in a browser", () => {
  let browser: Browser
  /** The whole dictionary, and a part of it, which axe has read in a second. */
  let [url, some] = ["", ""]
  beforeAll(async () => {
    const written = async (...names: ReadonlyArray<string>) => {
      const file = join(newFolder(), "dictionary.html")
      writeFileSync(file, (await sluice(["dictionary", ...names, "--as", "html"], {})).stdout)
      return `file://${file}`
    }
    url = await written()
    some = await written("contacts", "transactions", "bi")
    browser = await launchChromium()
  })
  afterAll(() => browser.close())

  const opened = async (width: number, colorScheme: "light" | "dark", address = url, javaScriptEnabled = true) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled })
    const heard: Array<string> = []
    page.on("pageerror", (error) => heard.push(error.message))
    page.on("request", (request) => heard.push(request.url()))
    await page.goto(address)
    return { page, heard }
  }
  const heightOf = async (page: Page) => Number(await page.evaluate("document.documentElement.scrollHeight"))
  const shownIn = (page: Page) => page.locator("section.table:visible h3").allTextContents()
  const rowsIn = (page: Page) => page.locator("section.table:visible tbody tr:visible").count()

  it.each([
    [1280, "light", ""],
    [768, "dark", "#bi.fct_payment"],
    [390, "light", "#contacts.email"],
    [390, "dark", ""]
  ] as const)(
    "at %d pixels in %s mode needs no network, fits, and passes axe: %s",
    async (width, colorScheme, hash) => {
      const { page, heard } = await opened(width, colorScheme, `${some}${hash}`)
      await page.evaluate('document.querySelectorAll("details").forEach((folded) => (folded.open = true))')
      assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth")), width)
      assert.deepStrictEqual(heard, [some])
      await page.evaluate(axe.source)
      const found = (await page.evaluate("axe.run()")) as {
        violations: ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string }> }>
      }
      assert.deepStrictEqual(
        found.violations.map(({ id, nodes }) => `${id} ${nodes[0]!.html.slice(0, 100)}`),
        []
      )
      await page.close()
    }
  )

  it("finds a model by the column of the table from which it is made, and leads there", async () => {
    const { page } = await opened(1280, "light")
    await page.fill("#search", "transactions.amount_refunded")
    assert.deepStrictEqual(await shownIn(page), ["bi.fct_payment", "bi.fct_revenue"])
    const rows = page.locator("section.table:visible tbody tr:visible th code")
    assert.deepStrictEqual(await rows.allTextContents(), ["refunded_amount", "net_amount", "value"])
    assert.strictEqual(await page.locator("#found").textContent(), "2 tables and models found.")
    await page.locator('a[href="#transactions.amount_refunded"]:visible').first().click()
    assert.isTrue(await page.locator('[id="transactions.amount_refunded"]').isVisible())
    assert.deepStrictEqual(await shownIn(page), ["transactions"])
    assert.strictEqual(await page.locator("#found").textContent(), "")
    await page.fill("#search", "id")
    assert.include(await page.locator("#found").textContent(), " The first 25 are shown; the list has all.")
    assert.lengthOf(await shownIn(page), 25)
    await page.close()
  })

  it.each([true, false])(
    "opens one table at a time, by its address and by that of a column; with scripts: %s",
    async (scripts) => {
      const { page } = await opened(1280, "light", url, scripts)
      const all = await page.locator("section.table").count()
      assert.isAbove(all, 100)
      assert.lengthOf(await shownIn(page), all)
      assert.strictEqual(await rowsIn(page), 0, "only cards")
      assert.isBelow(await heightOf(page), 10_000)
      await page.locator('nav a[href="#contacts"]').click()
      assert.deepStrictEqual(await shownIn(page), ["contacts"])
      assert.isAbove(await rowsIn(page), 20)
      assert.isBelow(await heightOf(page), 6000)
      if (scripts) assert.strictEqual(await page.locator("nav [aria-current]").textContent(), "contacts")
      await page.goto(`${url}#bi.fct_payment.net_amount`)
      assert.deepStrictEqual(await shownIn(page), ["bi.fct_payment"])
      await page.locator('a[href="#top"]').click()
      assert.lengthOf(await shownIn(page), all)
      await page.close()
    }
  )
})
