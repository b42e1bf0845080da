/** The page of a fleet in Chromium, with PostgreSQL behind it: what its buttons do is what the commands show. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { chromiumPath, launchChromium } from "../support/chromium.ts"
import { type Fleet, startFleet } from "../support/fleet.ts"
import { postgresPrograms } from "../support/postgres.ts"
import { type Running, start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

describe.skipIf(chromiumPath === undefined || postgresPrograms === undefined)("the console of a fleet", () => {
  let fleet: Fleet
  let server: Running
  let browser: Browser
  let page: Page
  let names: ReadonlyArray<string> = []
  beforeAll(async () => {
    fleet = await startFleet("--locations", "3", "--contacts", "3")
    names = (await fleet.counts()).map(({ locationId }) => locationId)
    for (const location of names) await fleet.run("locations", "add", location)
    const folder = newFolder()
    const flags = ["--config", join(folder, "none.toml"), "--output", join(folder, "output")]
    server = start(["serve", "--json", "--listen", "0", ...flags], fleet.environment, folder)
    while (!server.stdout().includes("\n")) await new Promise((resolve) => setTimeout(resolve, 20))
    browser = await launchChromium()
    page = await browser.newPage()
    await page.goto(JSON.parse(server.stdout()).data.url)
  })
  afterAll(async () => {
    await browser.close()
    server.kill("SIGTERM")
    await server.ended
    await fleet.stop()
  })

  const button = (verb: string, location: string) =>
    page.getByRole("button", { name: `${verb}: ${location}`, exact: true })
  const stateOf = async (location: string) =>
    (await fleet.status()).locations.find((one) => one.location === location) ?? assert.fail(location)

  it("lists its locations by state, and finds one", async () => {
    await page.getByRole("link", { name: "Locations", exact: true }).click()
    await page.getByRole("button", { name: "all 3", exact: true }).waitFor()
    for (const location of names) await button("Run now", location).waitFor()
    await page.getByLabel("Find a location").fill(names[1]!)
    await button("Run now", names[0]!).waitFor({ state: "detached" })
    await button("Run now", names[1]!).waitFor()
    await page.getByLabel("Find a location").fill("")
    await button("Run now", names[0]!).waitFor()
  })

  it("pauses one, resumes it, and queues its run", async () => {
    const [location] = names
    await button("Pause", location!).click()
    await button("Resume", location!).waitFor()
    assert.isTrue((await stateOf(location!))["paused"])
    await button("Resume", location!).click()
    await button("Pause", location!).waitFor()
    assert.isNotTrue((await stateOf(location!))["paused"])
    await button("Run now", location!).click()
    await page.getByRole("button", { name: "queued 1", exact: true }).waitFor()
    assert.strictEqual((await stateOf(location!))["state"], "queued")
    assert.notStrictEqual((await stateOf(names[1]!))["state"], "queued")
  })
})
