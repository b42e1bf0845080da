/**
 * A new user with an account of three locations, who has read README and nothing else: set up, read, scheduled and watched,
 * once in a terminal and once on the page. SLUICE_WALK names a file that receives what was typed and shown.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { appendFileSync, chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"
import { chromiumPath, launchChromium } from "../support/chromium.ts"
import { start } from "../support/process.ts"
import { hasPython } from "../support/programs.ts"
import { type Service, startService } from "../support/service.ts"
import { newFolder } from "../support/sluice.ts"
import { openTerminal } from "../support/terminal.ts"

if (!hasPython) console.log("The walk in a terminal is not tested: python3, which opens it, is missing.")
if (chromiumPath === undefined) console.log("The walk on the page is not tested: Debian's chromium is missing.")

const commandsMax = 6
const minutesMax = 10

const readme = readFileSync(fileURLToPath(new URL("../../README.md", import.meta.url)), "utf8")
/** What README's section about an account and the tasks of every night tell to type. */
const advised = new Set(readme.match(/(?<=^|`)\.\/sluice [^#`\n]*[^#`\n ]/gm) ?? [])

const walkInTerminal = ["init", "plan", "sync", "schedule install --at 02:30 --apply", "status --max-age 26h", "check"]
const walkOnPage = ["serve"]

it("types at most six commands, which README names", () => {
  for (const commands of [walkInTerminal, walkOnPage]) {
    assert.isAtMost(commands.length, commandsMax)
    for (const command of commands) {
      const withoutApply = command.replace(" --apply", "")
      assert.isTrue(advised.has(`./sluice ${withoutApply}`), `README does not name ${withoutApply}`)
    }
  }
})

describe("three locations, from README alone", { tags: ["slow"] }, () => {
  let service: Service
  let places: ReadonlyArray<{ readonly id: string; readonly token: string; readonly name: string }>
  let home: string
  let environment: Readonly<Record<string, string>>

  beforeAll(async () => {
    service = await startService("--locations", "3", "--contacts", "20", "--minimum-scale", "0.2")
    const found = (await (await fetch(`${service.url}/__sandbox/locations`)).json()) as ReadonlyArray<{
      readonly locationId: string
      readonly token: string
    }>
    const nameOf = async (id: string) => {
      const answer = await fetch(`${service.url}/__sandbox/records/locations?location=${id}`)
      return String(JSON.parse((await answer.text()).split("\n")[0]!).name)
    }
    places = await Promise.all(found.map(async ({ locationId: id, token }) => ({ id, token, name: await nameOf(id) })))
  })
  afterAll(() => service.stop())

  const arrive = () => {
    home = newFolder()
    mkdirSync(join(home, "bin"))
    writeFileSync(join(home, "bin/systemctl"), "#!/bin/sh\n")
    chmodSync(join(home, "bin/systemctl"), 0o755)
    environment = { HOME: home, TZ: "UTC", PATH: `${home}/bin:${process.env["PATH"]}` }
  }

  it.skipIf(!hasPython)("in a terminal", async () => {
    arrive()
    const began = Date.now()
    const type = async (command: string, answer?: (session: ReturnType<typeof openTerminal>) => Promise<void>) => {
      const session = openTerminal(command.split(" "), environment, { columns: 110, rows: 50 }, home)
      await answer?.(session)
      const { code, output } = await session.ended
      const text = withoutRedraws(output)
      note(`$ ./sluice ${command}\n${text}`)
      assert.strictEqual(code, 0, text)
      return text
    }
    const namesAll = (text: string) => {
      for (const { name } of places) assert.match(text, new RegExp(`^${name} +\\S`, "m"))
    }
    const [init, plan, sync, schedule, status, check] = walkInTerminal as [
      string,
      string,
      string,
      string,
      string,
      string
    ]
    const wrote = await type(init, async ({ press, shows }) => {
      const answer = async (question: RegExp, text: string) => {
        await shows(question)
        press(`${text}\r`)
      }
      const [first, ...others] = places
      await answer(/Address of the API/, service.url)
      await answer(/Token/, first!.token)
      await answer(/Location id/, first!.id)
      for (const [index, { id, token }] of others.entries()) {
        // The prompt for the next location follows the name of the one before.
        await shows(new RegExp(`Reached ${places[index]!.name} \\(`))
        await answer(/Another location id/, id)
        await answer(/Token/, token)
      }
      await shows(new RegExp(`Reached ${places.at(-1)!.name} \\(`))
      await answer(/Another location id/, "")
      await answer(/Time of the nightly sync/, "")
      await answer(/Mail address/, "")
    })
    assert.include(wrote, "Next: ./sluice plan")
    const planned = await type(plan)
    namesAll(planned)
    assert.include(planned, "Next: ./sluice sync")
    const read = await type(sync)
    namesAll(read)
    assert.match(read, /0 missing\n/)
    assert.include(read, "Next: ./sluice explore --open")
    assert.include(await type(schedule), "Written and started.")
    const state = await type(status)
    namesAll(state)
    assert.match(await type(check), /ok: no alarms/)
    assert.isBelow(Date.now() - began, minutesMax * 60_000)
    // Nobody wrote a file: what is here, the commands have written.
    assert.deepStrictEqual(readdirSync(home).toSorted(), [".cache", ".config", "bin", "config", "output"])
    for (const text of [planned, read, state]) assert.isBelow(text.split("\n").length, 40, text)
    assert.strictEqual((await service.stats()).refused429, 0)
  })

  it.skipIf(chromiumPath === undefined)("on the page", async () => {
    arrive()
    const began = Date.now()
    const serve = async (port: string) => {
      const started = start([...walkOnPage, "--listen", port, "--json"], environment, home)
      while (!started.stdout().includes("\n")) await new Promise((resolve) => setTimeout(resolve, 20))
      return { ...started, data: JSON.parse(started.stdout()).data as { readonly url: string; readonly port: number } }
    }
    let server = await serve("0")
    const browser = await launchChromium()
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    try {
      const page = await context.newPage()
      const press = (text: string) => page.getByRole("button", { name: text, exact: true }).click()
      await page.goto(server.data.url)
      await page.getByLabel("Address of the API").fill(service.url)
      for (const [index, { id, token }] of places.entries()) {
        if (index > 0) await press("Add another location")
        await page.getByLabel("Location id").nth(index).fill(id)
        await page
          .getByRole("textbox", { name: /^Token/ })
          .nth(index)
          .fill(token)
      }
      await press("Test")
      for (const { name } of places) await page.getByText(`Reached ${name}.`).waitFor({ timeout: 60_000 })
      await press("Write the settings")
      await press("Read everything now")
      await page.getByText("Exit code 0.").waitFor({ timeout: 120_000 })
      await page.getByRole("link", { name: "Overview", exact: true }).click()
      await page.getByRole("link", { name: "Set a schedule" }).click()
      const when = page.locator("#thing-when")
      await when.getByLabel("Times", { exact: true }).fill("02:30")
      await when.getByRole("button", { name: "Show the change" }).click()
      await press("Write the file")
      await page.getByText("Every day at 02:30 (UTC).").waitFor()
      await page.getByRole("link", { name: "Overview", exact: true }).click()
      for (const { name } of places) await page.getByRole("cell", { name }).first().waitFor()
      await page.getByText(/All 3 locations have .*data\. Next run .*02:30\./).waitFor()
      note(`$ ./sluice serve\n${await page.locator("main").innerText()}\n`)
      assert.isBelow(Date.now() - began, minutesMax * 60_000)

      // The owner of the second location replaces its token in the product.
      const overview = () => page.getByRole("link", { name: "Overview", exact: true }).click()
      const second = places[1]!
      const { token } = (await service.post(`token?location=${second.id}`, { rotate: true })) as { token: string }
      places = places.map((one) => (one === second ? { ...one, token } : one))
      await press("Sync now")
      await page.getByText("Exit code 3.").waitFor({ timeout: 120_000 })
      const status = start(["status", "--json"], environment, home)
      assert.strictEqual((await status.ended).code, 0)
      const { alarms, verdict } = JSON.parse(status.stdout()).data
      const [cause, ...others] = verdict.causes
      assert.deepStrictEqual([cause.kind, cause.location, others], ["unreadable", second.id, []])
      assert.include(cause.text, second.name)
      assert.include(cause.text, "the location cannot be read")
      assert.include(verdict.text, cause.text)
      const alarm = alarms.find((one: { readonly alarm: string }) => one.alarm === `sync:${second.id}`)
      assert.include(alarm?.message, "the location cannot be read")
      const report = readFileSync(join(home, "output", "published", "report", "index.html"), "utf8").replaceAll(
        "&#38;",
        "&"
      )
      assert.include(report, `${second.name}: the location cannot be read`)
      await overview()
      await page.getByRole("listitem").filter({ hasText: cause.text }).waitFor()
      await page.getByText(`Set a new token of ${second.name}`).click()
      await page.getByRole("textbox", { name: /^Token/ }).fill("pit-wrong")
      await press("Set it, and sync")
      await page.getByRole("alert").filter({ hasText: "does not accept the token" }).waitFor()
      assert.include(readFileSync(join(home, "config", `token-${second.id}`), "utf8"), second.token)
      await page.getByRole("textbox", { name: /^Token/ }).fill(token)
      await press("Set it, and sync")
      await page.getByText("Exit code 0.").waitFor({ timeout: 120_000 })
      await overview()
      await page.getByText(/All 3 locations have .*data\. Next run .*02:30\./).waitFor()

      // The next server knows this browser, so that a bookmark goes on.
      server.kill("SIGTERM")
      await server.ended
      server = await serve(String(server.data.port))
      await page.goto(`http://127.0.0.1:${server.data.port}/#/runs`)
      await page.getByRole("cell", { name: "from this page" }).first().waitFor()
    } finally {
      await context.close()
      server.kill("SIGTERM")
      await server.ended
      rmSync(home, { recursive: true, force: true })
    }
  })
})

const note = (text: string) => {
  const file = process.env["SLUICE_WALK"]
  if (file !== undefined) appendFileSync(file, `${text}\n`)
}

const escape = "\u001b["

/** What stays on the screen: the display of a sync erases its lines, and a prompt is drawn again at each key. */
const withoutRedraws = (output: string) => {
  const [first = "", ...redrawn] = output.replaceAll("\r\n", "\n").split(`\r${escape}`)
  const lines = first.split("\n")
  for (const part of redrawn) {
    const [, height, next] = /^(\d+)A[^J]*J([^]*)$/.exec(part) ?? assert.fail(part)
    const [beginning, ...others] = next!.split("\n")
    lines.splice(-1 - Number(height), Infinity, beginning!, ...others)
  }
  const last = (line: string) => line.split(`${escape}2K${escape}G`).at(-1)!
  return lines.map((line) => stripVTControlCharacters(last(line))).join("\n")
}
