/** The dictionary in a browser: Debian's Chromium, without a network. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import axe from "axe-core"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { chromiumPath, launchChromium } from "../support/chromium.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe.skipIf(chromiumPath === undefined)("the dictionary in a browser", () => {
  let browser: Browser
  let url: string
  beforeAll(async () => {
    const file = join(newFolder(), "dictionary.html")
    writeFileSync(file, (await sluice(["dictionary", "contacts", "transactions", "bi", "--html"], {})).stdout)
    url = `file://${file}`
    browser = await launchChromium()
  })
  afterAll(() => browser.close())

  const opened = async (width: number, colorScheme: "light" | "dark") => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    const heard: Array<string> = []
    page.on("pageerror", (error) => heard.push(error.message))
    page.on("request", (request) => heard.push(request.url()))
    await page.goto(url)
    return { page, heard }
  }

  it.each([
    [1280, "light"],
    [768, "dark"],
    [390, "light"]
  ] as const)("at %d pixels in %s mode needs no network, fits, and passes axe", async (width, colorScheme) => {
    const { page, heard } = await opened(width, colorScheme)
    for (const folded of await page.locator("details").all())
      await folded.evaluate((element) => element.setAttribute("open", ""))
    assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth")), width)
    assert.deepStrictEqual(heard, [url])
    await page.evaluate(axe.source)
    const found = (await page.evaluate("axe.run()")) as {
      violations: ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string }> }>
    }
    assert.deepStrictEqual(
      found.violations.map(({ id, nodes }) => `${id} ${nodes[0]!.html.slice(0, 100)}`),
      []
    )
    await page.close()
  })

  it("finds a model by the column of the table from which it is made, and leads there", async () => {
    const { page } = await opened(1280, "light")
    await page.fill("#search", "transactions.amount_refunded")
    const shown = page.locator("section.table:visible h3")
    assert.deepStrictEqual(await shown.allTextContents(), ["bi.fct_payment"])
    const rows = page.locator("section.table:visible tbody tr:visible th code")
    assert.deepStrictEqual(await rows.allTextContents(), ["refunded_amount", "net_amount"])
    assert.strictEqual(await page.locator("#found").textContent(), "1 table or model found.")
    await page.fill("#search", "")
    await page.locator('a[href="#transactions.amount_refunded"]').first().click()
    assert.isTrue(await page.locator('[id="transactions.amount_refunded"]').isVisible())
    await page.close()
  })
})
