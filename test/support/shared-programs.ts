/**
 * Starts once for a run of the tests what many of them need: a PostgreSQL server, in which each file has databases of its own,
 * and Chromium, in which each has pages of its own. The quick tests need neither.
 */
import { chromium } from "playwright-core"
import type { TestProject } from "vitest/node"
import { args, chromiumPath, sharedBrowser } from "./chromium.ts"
import { postgresPrograms, sharedServer, startServer } from "./postgres.ts"
import { withoutSlow } from "./tiers.ts"

const stops: Array<() => Promise<unknown>> = []

export const setup = async ({ config }: TestProject): Promise<void> => {
  if (config.tagsFilter?.includes(withoutSlow)) return
  if (postgresPrograms !== undefined) {
    const server = await startServer()
    process.env[sharedServer] = server.url
    stops.push(server.stop)
  }
  if (chromiumPath !== undefined) {
    const browser = await chromium.launchServer({ executablePath: chromiumPath, args: [...args] })
    process.env[sharedBrowser] = browser.wsEndpoint()
    stops.push(() => browser.close())
  }
}

export const teardown = () => Promise.all(stops.map((stop) => stop()))
