/** The console in Chromium, from an empty folder to an alarm that comes and goes: one server, one browser, one account. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import axe from "axe-core"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { launchChromium, chromiumPath } from "../support/chromium.ts"
import { type Running, knowingApart, start } from "../support/process.ts"
import { type Service, startService } from "../support/service.ts"
import { newFolder } from "../support/sluice.ts"

/** What a function that runs in the page finds there. */
interface InPage {
  readonly axe?: { readonly run: () => Promise<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }> }
  readonly document: { readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number } }
  readonly performance: { readonly getEntriesByName: (name: string) => ReadonlyArray<{ readonly startTime: number }> }
}

/** Where each view is kept as a picture, at each width and in both colour schemes. */
const pictures = process.env["SLUICE_PICTURES"]

const name = "<script>alert(1)</script>"
const readerPassword = "reader-password"
const tables = "locations,contacts,contact_notes,conversations,messages,opportunities,pipelines"

describe.skipIf(chromiumPath === undefined)("the console", () => {
  const folder = newFolder()
  let service: Service
  let environment: Readonly<Record<string, string>>
  let server: Running
  let browser: Browser
  let context: BrowserContext
  let page: Page
  /** Errors of the page that no test expects, and requests to other hosts. */
  const problems: Array<string> = []
  const port = { flag: "0" }

  /** Returns the link that opens the page once. */
  const serve = async (): Promise<string> => {
    server = start(["serve", "--json", "--listen", port.flag], environment, folder)
    while (!server.stdout().includes("\n")) await new Promise((resolve) => setTimeout(resolve, 20))
    const { data } = JSON.parse(server.stdout())
    port.flag = String(data.port)
    return data.url
  }
  const tab = (text: string) => page.getByRole("link", { name: text, exact: true }).click()
  const button = (text: string) => page.getByRole("button", { name: text, exact: true })
  const address = (hash: string) => page.goto(`http://127.0.0.1:${port.flag}/${hash}`)

  beforeAll(async () => {
    service = await startService("--contacts", "40", "--minimum-scale", "0.3", "--limits", "10/1000/200000")
    await service.post("edit", { collection: "locations", id: service.locationId, fields: { name } })
    const passwords = { SLUICE_CONSOLE_PASSWORD: "owner-password", SLUICE_CONSOLE_READONLY_PASSWORD: readerPassword }
    environment = { ...(await knowingApart(tables)), ...passwords, HOME: folder, TZ: "UTC" }
    browser = await launchChromium()
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    page = await context.newPage()
    page.on("pageerror", (error) => problems.push(error.message))
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url())
      if (protocol.startsWith("http") && hostname !== "127.0.0.1") problems.push(request.url())
    })
  })
  afterAll(async () => {
    await context.close()
    server.kill("SIGTERM")
    await server.ended
    service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it("sets an account up from an empty folder, and shows the token to nobody", async () => {
    await page.goto(await serve())
    await page.getByRole("heading", { name: "Set up sluice" }).waitFor()
    const paints: Array<number> = []
    for (let times = 0; times < 3; times++) {
      await page.reload()
      await page.getByRole("heading", { name: "Set up sluice" }).waitFor()
      const painted = () =>
        (globalThis as unknown as InPage).performance.getEntriesByName("first-contentful-paint")[0]!.startTime
      paints.push(await page.evaluate(painted))
    }
    assert.isBelow(Math.min(...paints), 500)
    await page.getByLabel("Address of the API").fill(service.url)
    await page.getByLabel("Location id").fill(service.locationId)
    await page.getByRole("textbox", { name: /^Token/ }).fill("pit-wrong")
    await button("Test").click()
    await page.getByRole("alert").getByText("does not accept the token").waitFor()
    assert.isFalse(existsSync(join(folder, "config")))
    await page.getByRole("textbox", { name: /^Token/ }).fill(service.token)
    await button("Test").click()
    await page.getByText(`Reached ${name}.`).waitFor()
    await button("Write the settings").click()
    await page.getByRole("heading", { name: "The settings are written" }).waitFor()
    const file = readFileSync(join(folder, "config", "sluice.toml"), "utf8")
    assert.notInclude(file, service.token)
    assert.strictEqual(statSync(join(folder, "config", "token")).mode & 0o777, 0o600)
    await tab("Settings")
    await page.getByText("Every setting").click()
    await page.getByText("account.token", { exact: true }).waitFor()
    assert.notInclude(await page.content(), service.token)
  })

  it("shows the first sync to its end, although the page is loaded again and the server killed", async () => {
    await tab("Overview")
    await button("Sync now").click()
    const progress = page.getByText(/of (about |at least )?[\d,]+( to [\d,]+)? requests/)
    await progress.waitFor()
    await page.reload()
    await progress.waitFor()
    server.kill("SIGKILL")
    await page.getByText("The connection to the console is lost.").waitFor()
    await tab("Overview")
    await page.getByText("The console does not answer.").waitFor()
    await page.goto(await serve())
    await page.getByRole("link", { name: "Sync", exact: true }).click()
    await page.getByText("Exit code 0.").waitFor({ timeout: 120_000 })
    assert.strictEqual((await service.stats()).refused429, 0)
    await tab("Overview")
    await page.getByRole("cell", { name }).waitFor()
    await tab("Tables")
    await page.getByRole("link", { name: "Contacts", exact: true }).click()
    await page.getByText("Rows 1 to 40 of 40").waitFor()
    await tab("Runs")
    // One row has what the run did, who started it, and the way to both.
    await page.getByRole("cell", { name: "from this page" }).waitFor()
    assert.strictEqual(await page.locator("main tbody tr").count(), 1)
    await page.locator("main tbody a").click()
    await page.getByRole("link", { name: "contacts", exact: true }).click()
    await page.getByText("Rows 1 to 40 of 40").waitFor()
  })

  it("shows what a command prints as text, and removes nothing", async () => {
    const markup = "<img src=x onerror=alert(1)>"
    await address("#/tasks/export-excel")
    await page.getByLabel("File", { exact: true }).fill("sales")
    await page.getByRole("group", { name: "Only" }).locator("summary").click()
    await page.getByRole("group", { name: "Only" }).getByLabel("contacts", { exact: true }).check()
    await page.getByText("--only contacts").waitFor()
    await button("Start").click()
    await page.getByText("Exit code 0.").waitFor()
    await page.getByRole("link", { name: "sales.xlsx" }).waitFor()
    await address("#/tasks/export-excel")
    await page.getByLabel("File", { exact: true }).fill("sales")
    await button("Start").click()
    await page.getByLabel("File", { exact: true }).and(page.locator("[aria-invalid]")).waitFor()
    await page.getByText("sales.xlsx exists already").waitFor()
    await address("#/tasks/backfill")
    await page.getByLabel("Deadline").fill(markup)
    await page.getByLabel(/^From/).fill("2026-01-01")
    await page.getByText(`--deadline '${markup}'`).waitFor()
    await button("Start").click()
    await page.getByText("Exit code 2.").waitFor()
    assert.strictEqual(await page.locator("img").count(), 0)
    assert.include(await page.locator("main").textContent(), markup)
    const [person] = await service.records("contacts")
    await address("#/tasks/subject-erase")
    await page.getByRole("textbox", { name: "Contact" }).fill(String(person!["id"]))
    await button("Show the plan").click()
    await page.getByText(/^\.\/sluice subject erase .*--apply$/).waitFor()
    assert.strictEqual(await page.locator("main button").count(), 0)
  })

  it("shows everything to a reader, and offers nothing that acts", async () => {
    const reader = await (await browser.newContext()).newPage()
    await reader.goto(`http://127.0.0.1:${port.flag}/`)
    for (const password of ["reader-passwort", readerPassword]) {
      await reader.getByLabel("Password").fill(password)
      await reader.getByRole("button", { name: "Open" }).click()
      if (password !== readerPassword) await reader.getByText("The password is wrong.").waitFor()
    }
    await reader.getByRole("cell", { name }).waitFor()
    for (const hash of ["#/", "#/tasks/sync", "#/settings", "#/settings/when"]) {
      await reader.goto(`http://127.0.0.1:${port.flag}/${hash}`)
      await reader.locator("section.console h2").first().waitFor()
      assert.deepStrictEqual([hash, await reader.locator("main button").allTextContents()], [hash, []])
    }
    await reader.context().close()
  })

  it("runs at the time of the schedule, says what stands in its way, and that it is mended", async () => {
    await service.post("token", { revoke: true })
    const soon = new Date(Date.now() + 75_000).toISOString().slice(11, 16)
    await address("#/settings/when")
    const when = page.locator("#thing-when")
    await when.getByLabel("Times", { exact: true }).fill("25:00")
    await when.getByLabel("Time zone", { exact: true }).fill("UTC")
    const show = when.getByRole("button", { name: "Show the change" })
    await show.click()
    await when.getByLabel("Times", { exact: true }).and(page.locator("[aria-invalid]")).waitFor()
    await when.getByText('is ["25:00"]').waitFor()
    assert.strictEqual(await page.getByRole("dialog").count(), 0)
    await when.getByLabel("Times", { exact: true }).fill(soon)
    await show.click()
    await page.getByRole("dialog").getByText(`+ times = ["${soon}"]`).waitFor()
    await button("Write the file").click()
    await page.getByText(`Every day at ${soon} (UTC).`).waitFor()
    for (const width of [1440, 768, 390])
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 900 })
        for (const hash of views) await check(hash)
      }
    await address("#/")
    await page.getByText("The schedule has stopped:").waitFor({ timeout: 120_000 })
    // The way out stands beside the alarm.
    const alarm = page.getByRole("listitem").filter({ hasText: "cannot be read" })
    await alarm.getByText("Set a new token").click({ timeout: 90_000 })
    await alarm.getByLabel(/^Token/).fill("pit-wrong")
    await alarm.getByRole("button", { name: "Set it, and sync" }).click()
    await alarm.getByText("does not accept the token").waitFor()
    const { token } = (await service.post("token", { rotate: true })) as { readonly token: string }
    await alarm.getByLabel(/^Token/).fill(token)
    await alarm.getByRole("button", { name: "Set it, and sync" }).click()
    await page.getByText("Exit code 0.").waitFor({ timeout: 60_000 })
    await tab("Overview")
    await page
      .getByText(`The location has today's data. Next run ${soon}.`)
      .or(page.getByText("The location has last night's data."))
      .waitFor()
    assert.strictEqual(await page.getByText("The schedule has stopped").count(), 0)
    assert.deepStrictEqual(problems, [])
  })

  const views = ["#/", "#/runs", "#/tasks", "#/tasks/backfill", "#/settings/when", "#/setup"]
  const check = async (hash: string) => {
    await address(hash)
    await page.locator("section.console h2").first().waitFor()
    const found = await page.evaluate(async (source) => {
      const { axe: checker, document } = globalThis as unknown as InPage
      const { scrollWidth, clientWidth } = document.documentElement
      // oxlint-disable-next-line typescript/no-implied-eval, eslint/no-new-func -- Runs in the page.
      if (!checker) new Function(source)()
      const { violations } = await (globalThis as unknown as InPage).axe!.run()
      return [scrollWidth - clientWidth, violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`)] as const
    }, axe.source)
    assert.deepStrictEqual([hash, ...found], [hash, 0, []])
    if (pictures === undefined) return
    const { width } = page.viewportSize()!
    const isDark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    const view = hash.replaceAll(/\W+/g, "-").slice(1) || "overview"
    await page.screenshot({ path: join(pictures, `${view}-${width}-${isDark ? "dark" : "light"}.png`), fullPage: true })
  }
})
