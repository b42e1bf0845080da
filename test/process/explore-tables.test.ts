/** Tables, records and columns on the page of the explorer, in Chromium; the figures are compared with the warehouse. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { type Pages, openPages } from "../explore/chromium.ts"
import type { Client } from "../explore/client.ts"
import type { Account } from "../support/account.ts"
import { chromiumPath } from "../support/chromium.ts"
import { query } from "../support/compare.ts"

describe.skipIf(chromiumPath === undefined)("the tables of the page", () => {
  let pages: Pages
  let account: Account
  let client: Client
  beforeAll(async () => {
    pages = await openPages()
    ;({ account, client } = pages)
  })
  afterAll(() => pages.close())
  const column = (page: Page, index: number) => page.locator(`tbody td:nth-child(${index})`).allTextContents()

  it("shows a table, sorts it, filters it, and opens it as SQL", async () => {
    const { page, close } = await pages.opened()
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
    // The name is the first column, the key the second.
    assert.deepStrictEqual(
      await column(page, 3),
      ids.map(({ id }) => id)
    )
    await page.getByRole("button", { name: "Add a filter" }).click()
    await page.getByRole("combobox", { name: "Column" }).selectOption("email")
    await page.getByRole("textbox", { name: "Value for email" }).fill("EXAMPLE.NET")
    await page.keyboard.press("Enter")
    await status.getByText(`of ${await count("email ILIKE '%example.net%'")}`).waitFor()
    // A day is picked, and ends when it ends.
    const some = "email ILIKE '%example.net%' AND date_added IS NOT NULL"
    const [third] = await query(
      account.warehouse,
      `SELECT date_added::DATE::VARCHAR AS day FROM crm.contacts WHERE ${some} ORDER BY date_added LIMIT 1 OFFSET 2`
    )
    await page.getByRole("button", { name: "Add a filter" }).click()
    const chosen = page.getByRole("combobox", { name: "Column" }).last()
    await chosen.selectOption("date_added")
    await page.getByRole("combobox", { name: "Condition" }).last().selectOption("atMost")
    const picker = page.locator('input[type="date"]')
    assert.strictEqual(await picker.getAttribute("aria-label"), "Value for date_added")
    for (const [condition, comparison] of [
      ["atMost", "<="],
      ["atLeast", ">="],
      ["equals", "="]
    ] as const) {
      await page.getByRole("combobox", { name: "Condition" }).last().selectOption(condition)
      await picker.fill(String(third!["day"]))
      await status
        .getByText(`of ${await count(`${some} AND date_added::DATE ${comparison} '${third!["day"]}'`)}`)
        .waitFor()
    }
    await page.getByRole("button", { name: "Remove the filter on date_added" }).click()
    await page.getByRole("button", { name: "Open as SQL" }).click()
    await page.locator(".cm-content").getByText("contains(lower(email::VARCHAR), lower('EXAMPLE.NET'))").waitFor()
    await page.goBack()
    // The address has the filter and the order.
    await status.getByText(`of ${await count("email ILIKE '%example.net%'")}`).waitFor()
    await page.locator('th[aria-sort="ascending"]').waitFor()
    await close()
  })

  it("lists first what people know, and folds away what stands behind it", async () => {
    const { page, close } = await pages.opened()
    const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name))
    // The editor would be the larger part of it.
    assert.isEmpty(loaded.filter((name) => /\/packages\/|sql-view|board/.test(name)))
    const groups = page.getByRole("navigation", { name: "Tables" }).locator("nav > div > .tables, div > .tables")
    const titles = await groups.locator("> summary").allTextContents()
    assert.deepStrictEqual(
      titles.slice(0, 7).map((title) => title.replace(/[\d,]+$/, "")),
      ["Start here", "Facts", "Dimensions", "Models", "Tables", "Wide tables", "Behind them"]
    )
    const facts = await groups.nth(1).locator("li").allTextContents()
    assert.deepStrictEqual(
      facts
        .slice(facts.indexOf("crm"))
        .slice(0, 4)
        .map((text) => text.replace(/\d+$/, "")),
      ["crm", "fct_contact_acquisition", "fct_opportunity", "fct_opportunity_stage_change"]
    )
    const first = await groups.first().locator("li span:first-child").allTextContents()
    assert.deepStrictEqual(first.slice(0, 4), ["contacts", "opportunities", "conversations", "messages"])
    const staging = page.getByRole("link", { name: /^stg_contacts/ })
    assert.isFalse(await staging.isVisible())
    await page.getByText("Behind them").click()
    await page.getByText("Staging views").click()
    const [row] = await query(account.warehouse, "SELECT count(*) AS n FROM crm.contacts WHERE _deleted_at IS NULL")
    await page.getByRole("link", { name: `stg_contacts ${row!["n"]}`, exact: true }).waitFor()
    assert.match((await staging.getAttribute("title"))!, /^Rows that exist of contacts\. /)
    await close()
  })

  it("begins with what people know, and with looks that show as many rows as they say", async () => {
    const { page, close } = await pages.opened()
    const counts: ReadonlyArray<readonly [card: string, look: string, sql: string]> = [
      ["Contacts", "Contacts", "contacts WHERE true"],
      ["Contacts", "Without an e-mail", "contacts WHERE coalesce(email, '') = ''"],
      [
        "Contacts",
        "This week",
        "contacts WHERE date_added::DATE BETWEEN date_trunc('week', now()) AND date_trunc('week', now()) + INTERVAL 6 DAY"
      ],
      ["Deals", "Open", "opportunities WHERE status = 'open'"]
    ]
    for (const [title, look, sql] of counts) {
      const [row] = await query(account.warehouse, `SELECT count(*) AS n FROM crm.${sql} AND _deleted_at IS NULL`)
      const card = page.locator(".cards li").filter({ has: page.getByRole("link", { name: title, exact: true }) })
      const n = Number(row!["n"]).toLocaleString("en-US")
      await card.getByText(`${look}${n}`, { exact: true }).waitFor()
      // The list beside it counts the same rows.
      if (look === title)
        await page
          .locator(".side")
          .getByRole("link", { name: new RegExp(`^contacts ?${n}$`) })
          .waitFor()
      await card.getByRole("link", { name: look, exact: true }).click()
      await page
        .locator(".pager")
        .getByText(n === "0" ? "No rows" : `of ${n}`)
        .waitFor()
      await page.goBack()
    }
    await page.getByRole("link", { name: "Newest" }).first().click()
    await page.locator('th[aria-sort="descending"]', { hasText: "date_added" }).waitFor()
    await page.goBack()
    await page.getByRole("link", { name: "The value of open deals by stage" }).click()
    await page.locator(".cm-content").getByText("FROM bi.fct_opportunity").waitFor()
    // What the other pages of the account are is one step away.
    await page.getByRole("link", { name: "Runs", exact: true }).click()
    await page.getByRole("cell", { name: "sync", exact: true }).first().waitFor()
    await page.getByRole("link", { name: "Report", exact: true }).click()
    // A number of the report leads to its rows.
    const tile = page.locator("#business .tiles div", { hasText: "Open pipeline" })
    const deals = /^\d+/.exec((await tile.locator("span").last().textContent())!)![0]
    await tile.getByRole("link").click()
    await page
      .getByRole("status")
      .getByText(new RegExp(`^${deals} rows, `))
      .waitFor()
    await page.goto(`${client.origin}/dictionary`)
    await page.getByRole("heading", { name: "Dictionary" }).waitFor()
    await close()
  })

  it("has the values of columns with few, stages in their order, and filters by them", async () => {
    const { page, close } = await pages.opened()
    await page.goto(`${client.origin}/#/table/main/opportunities`)
    const facet = (name: string) =>
      page.locator(".facets section", { has: page.getByRole("heading", { name, exact: true }) })
    await facet("Status").waitFor()
    const own = "FROM crm.opportunities AS o WHERE o._deleted_at IS NULL"
    const statuses = await query(
      account.warehouse,
      `SELECT coalesce(status, 'none') AS text, count(*) AS n ${own} GROUP BY ALL`
    )
    assert.sameMembers(
      await facet("Status").locator("li").allTextContents(),
      statuses.map(({ text, n }) => `${text}${n}`)
    )
    const stages = await query(
      account.warehouse,
      `SELECT s.name || count(*) AS text FROM crm.opportunities AS o JOIN crm.pipeline_stages AS s ON s.id = o.pipeline_stage_id
       WHERE o._deleted_at IS NULL GROUP BY s.id, s.name, s.pipeline_id, s.position ORDER BY s.pipeline_id, s.position`
    )
    const shown = await facet("Pipeline stage").locator("li").allTextContents()
    assert.deepStrictEqual(
      shown.filter((text) => stages.some((one) => one["text"] === text)),
      stages.map(({ text }) => text)
    )
    await facet("Status").getByRole("button", { name: "open", exact: true }).click()
    const open = statuses.find(({ text }) => text === "open")!["n"]
    await page.locator(".pager").getByText(`of ${open}`).waitFor()
    await facet("Status").locator('[aria-pressed="true"]').click()
    await page
      .locator(".pager")
      .getByText(`of ${statuses.reduce((sum, { n }) => sum + Number(n), 0)}`)
      .waitFor()
    assert.strictEqual(await page.locator(".filter").count(), 0)
    await close()
  })

  it("leads from an id to its record, and from a record to what belongs to it", async () => {
    const { page, close } = await pages.opened()
    const [deal] = await query(
      account.warehouse,
      `SELECT o.id, o.contact_id, c.name, o.pipeline_stage_id, s.name AS stage, count(t.tag) AS tags FROM crm.opportunities o
       JOIN crm.contacts c ON c.id = o.contact_id JOIN crm.contact_tags t ON t.contact_id = c.id
       JOIN crm.pipeline_stages s ON s.id = o.pipeline_stage_id
       WHERE c.name IS NOT NULL AND o._deleted_at IS NULL GROUP BY ALL ORDER BY tags DESC, o.id LIMIT 1`
    )
    const where = encodeURIComponent(JSON.stringify(["id", "equals", deal!["id"]]))
    await page.goto(`${client.origin}/#/table/main/opportunities?where=${where}`)
    // Before the ids in the rows stands what people know them by.
    for (const cell of [`${deal!["name"]} ${deal!["contact_id"]}`, `${deal!["stage"]} ${deal!["pipeline_stage_id"]}`])
      await page.getByRole("cell", { name: cell, exact: true }).waitFor()
    await page
      .getByRole("cell", { name: `${deal!["name"]} ${deal!["contact_id"]}`, exact: true })
      .getByRole("link")
      .click()
    await page.getByRole("heading", { name: String(deal!["name"]), exact: true }).waitFor()
    const lists = page.locator(".lists > details")
    await lists
      .filter({ hasText: "opportunities" })
      .getByRole("cell", { name: String(deal!["id"]) })
      .waitFor()
    const list = lists.filter({ hasText: `contact_tags${deal!["tags"]}` })
    if ((await list.getAttribute("open")) === null) await list.locator("summary").click()
    const tags = list.locator("tbody tr")
    await tags.first().waitFor()
    assert.strictEqual(await tags.count(), Number(deal!["tags"]))
    await page.getByRole("link", { name: "Open in contact_tags" }).click()
    await page.locator(".pager").getByText(`of ${deal!["tags"]}`).waitFor()
    await page.goBack()
    await page.goBack()
    await page.getByRole("link", { name: "Show row 1", exact: true }).click()
    // The name of the contact stands beside its id.
    await page.getByText(String(deal!["name"])).first().waitFor()
    await close()
  })

  it("shows chosen columns, keeps the key in sight, and names locations", async () => {
    const { page, close } = await pages.opened()
    await page.goto(`${client.origin}/#/table/main/opportunities?sort=-monetary_value`)
    const heads = () => page.locator(".grid thead th:not(.row)").allTextContents()
    const key = page.locator(".grid tbody tr:first-child td.frozen")
    await key.waitFor()
    const usual = (await heads()).map((text) => text.replace(/[↑↓]$/, ""))
    assert.deepStrictEqual(usual.slice(0, 2), ["name", "id"])
    assert.notInclude(usual.join(), "_synced_at")
    assert.notInclude(usual.join(), "location_id")
    const [richest] = await query(
      account.warehouse,
      "SELECT monetary_value::VARCHAR AS text FROM crm.opportunities WHERE _deleted_at IS NULL ORDER BY monetary_value DESC NULLS LAST LIMIT 1"
    )
    const [whole, fraction] = String(richest!["text"]).split(".")
    const worth = page.locator("tbody tr:first-child td").nth(usual.indexOf("monetary_value"))
    assert.strictEqual(
      await worth.textContent(),
      `${BigInt(whole!).toLocaleString("en-US")}.${fraction}`.replace(/\.?0+$/, "")
    )
    const before = (await key.boundingBox())!.x
    await page.locator(".grid").evaluate((grid) => grid.scrollTo({ left: 1500 }))
    assert.strictEqual((await key.boundingBox())!.x, before)
    await page.getByText(/^\d+ columns, \d+ hidden$/).click()
    await page.getByRole("checkbox", { name: /^status VARCHAR/ }).uncheck()
    await page.locator("th", { hasText: /^status$/ }).waitFor({ state: "detached" })
    await page.reload()
    await key.waitFor()
    assert.notInclude(await heads(), "status")
    await page.getByText(/^\d+ columns, \d+ hidden$/).click()
    await page.getByRole("button", { name: "Show all columns" }).click()
    await page.locator("th", { hasText: /^location_id$/ }).waitFor()
    const all = await heads()
    assert.isTrue(
      all.slice(-4).every((name) => name.startsWith("_")),
      all.join()
    )
    const [location] = await query(account.warehouse, "SELECT name FROM crm.locations")
    await page
      .getByRole("link", { name: String(location!["name"]), exact: true })
      .first()
      .waitFor()
    await close()
  })

  it("opens any address, and shows what it can of it", async () => {
    const { page, close } = await pages.opened()
    const open = (fragment: string) => page.goto(`${client.origin}/#${fragment}`)
    const total = "SELECT count(*) AS n FROM crm.contacts WHERE _deleted_at IS NULL"
    const [row] = await query(account.warehouse, total)
    for (const fragment of ["/%E0%A4%A", "//", "main", "/x?y", "/sql?chart={", "/sql?chart=[]"]) {
      await open(fragment)
      await page.locator("main h2").first().waitFor({ state: "attached" })
    }
    await open("/table/main/nothing")
    await page.getByText("There is no table main.nothing in this release.").waitFor()
    await open("/row/main/contacts/a/'; DROP TABLE contacts; --")
    await page.getByText("This release has no such row.").waitFor()
    for (const where of ["[", '["id"]', '["no","equals","x"]', '["id","constructor","x"]', '["id","toString"]']) {
      await open(`/table/main/contacts?where=${encodeURIComponent(where)}&sort=no&page=-7`)
      await page.locator(".pager").getByText(`Rows 1 to 100 of ${row!["n"]}`).waitFor()
    }
    await open(`/table/main/contacts?where=${encodeURIComponent(JSON.stringify(["name", "equals", "' OR '' = '"]))}`)
    await page.getByText("No rows match.").waitFor()
    await close()
  })

  it("profiles a column in one query", async () => {
    const { page, close } = await pages.opened()
    await page.goto(`${client.origin}/#/table/main/opportunities`)
    await page.getByText(/^\d+ columns/).click()
    const profile = async (name: string) => {
      await page.getByRole("button", { name: `Profile of ${name}`, exact: true }).click()
      const dialog = page.getByRole("dialog", { name: `Profile of ${name}` })
      await dialog.getByText("Distinct").waitFor()
      const tiles = await dialog.locator(".tiles dd").allTextContents()
      return { dialog, tiles }
    }
    const own = "FROM crm.opportunities WHERE _deleted_at IS NULL"
    const [amount] = await query(
      account.warehouse,
      `SELECT count(*) AS n, count(*) - count(monetary_value) AS missing, count(DISTINCT monetary_value) AS different ${own}`
    )
    // The head of each column says the most important of it already.
    const below = async (name: string) => {
      await page.locator(".facts").waitFor()
      const heads = await page.locator(".grid thead th:not(.row)").allTextContents()
      return page.locator(".facts td:not(.row)").nth(heads.indexOf(name))
    }
    const share = (Number(amount!["missing"]) / Number(amount!["n"])) * 100
    const isSome = `${amount!["different"]} distinct${share > 0 ? `, ${share.toFixed(1).replace(".0", "")} % NULL` : ""}`
    await (await below("monetary_value")).getByText(isSome, { exact: true }).waitFor()
    await (await below("lost_reason_id")).getByText(/^\d+ distinct, [\d.]+ % NULL$/).waitFor()
    const money = await profile("monetary_value")
    assert.strictEqual(money.tiles[0], String(amount!["n"]))
    assert.match(money.tiles[1]!, new RegExp(`^${amount!["missing"]} \\(\\d+(\\.\\d)? %\\)$`))
    assert.strictEqual(money.tiles[2], String(amount!["different"]))
    const bars = await money.dialog.locator(".histogram span").evaluateAll((all) => all.map(({ title }) => title))
    const inBars = bars.map((title) => Number(/: ([\d,]+)$/.exec(title)![1]!.replaceAll(",", "")))
    assert.strictEqual(
      inBars.reduce((sum, n) => sum + n, 0),
      Number(amount!["n"]) - Number(amount!["missing"])
    )
    await page.keyboard.press("Escape")
    const status = await profile("status")
    const top = await query(
      account.warehouse,
      `SELECT status, count(*) AS n ${own} GROUP BY ALL ORDER BY n DESC, status`
    )
    const rows = await status.dialog.locator(".top tbody tr").allTextContents()
    assert.isTrue(rows[0]!.startsWith(`${top[0]!["status"]}${top[0]!["n"]}`), rows[0])
    assert.strictEqual(rows.length, Math.min(top.length, 10))
    await status.dialog.getByRole("button", { name: String(top[0]!["status"]), exact: true }).click()
    await page.locator(".pager").getByText(`of ${top[0]!["n"]}`).waitFor()
    // Of the rows that the filters leave.
    await (await below("status")).getByText("1 distinct", { exact: true }).waitFor()
    await close()
  })
})
