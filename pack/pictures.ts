/**
 * Makes docs/pictures with Chromium, from the account of the demo with more contacts:
 *
 *     node_modules/.bin/node pack/pictures.ts
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"

const root = fileURLToPath(new URL("..", import.meta.url))
const sluice = join(root, "sluice")
const folder = mkdtempSync(join(tmpdir(), "pictures-"))
const pictures = join(root, "docs/pictures")
mkdirSync(pictures, { recursive: true })

/** The process, and the first line that it prints. */
const started = async (...args: ReadonlyArray<string>) => {
  const child = spawn(sluice, args, { stdio: ["ignore", "pipe", "ignore"] })
  const [line] = (await once(createInterface(child.stdout), "line")) as [string]
  return { child, line }
}

const output = join(folder, "output")
const sandbox = await started("sandbox", "--contacts", "800", "--limits", "off")
const { locationId, token, url: baseUrl } = JSON.parse(sandbox.line)
const settings = {
  SLUICE_BASE_URL: baseUrl,
  SLUICE_LOCATION_ID: locationId,
  SLUICE_TOKEN: token,
  SLUICE_OUTPUT: output
}
execFileSync(sluice, ["sync"], { stdio: "ignore", env: { ...process.env, ...settings } })
const dictionary = join(folder, "dictionary.html")
writeFileSync(dictionary, execFileSync(sluice, ["dictionary", "--as", "html"], { maxBuffer: 64e6 }))
const explorer = await started("explore", "--output", output)
const config = join(folder, "sluice.toml")
const schedule = 'times = ["03:30"]\ntime_zone = "Europe/Berlin"'
writeFileSync(config, `[account]\nbase_url = "${baseUrl}"\nlocation_id = "${locationId}"\n\n[schedule]\n${schedule}\n`)
const served = await started("serve", "--listen", "0", "--config", config, "--output", output)

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"]
})
try {
  for (const [name, url, height, last] of [
    ["report", `file://${output}/published/report/index.html`, 600, "h1"],
    ["dictionary", `file://${dictionary}`, 600, "h1"],
    ["explorer", explorer.line, 600, ".thing .count"],
    ["console", served.line, 760, ".next-runs li"]
  ] as const) {
    const page = await browser.newPage({ viewport: { width: 1240, height }, colorScheme: "light" })
    await page.goto(url)
    // What follows the server has no idle network.
    await page.locator(last).first().waitFor()
    await page.waitForTimeout(1000)
    await page.screenshot({ path: join(pictures, `${name}.png`) })
    await page.close()
  }
} finally {
  await browser.close()
  for (const { child } of [served, explorer, sandbox]) {
    child.kill("SIGINT")
    await once(child, "exit")
  }
  rmSync(folder, { recursive: true })
}
