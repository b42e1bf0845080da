/** Chromium on the page of an explorer that serves a synced account. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { type Account, discard, openSynced } from "../support/account.ts"
import { launchChromium } from "../support/chromium.ts"
import { type Client, openExplorer } from "./client.ts"

export interface Pages {
  readonly account: Account
  readonly client: Client
  readonly opened: (width?: number, colorScheme?: "light" | "dark") => Promise<Opened>
  readonly close: () => Promise<void>
}

interface Opened {
  readonly page: Page
  /** Errors and warnings of the page, and its requests to other hosts. */
  readonly problems: Array<string>
  /** Fails if there is a problem. */
  readonly close: () => Promise<void>
}

export const openPages = async (): Promise<Pages> => {
  const account = await openSynced({
    tables: "locations,contacts,opportunities,pipelines",
    flags: ["--contacts", "150", "--world", "nasty"],
    formats: "duckdb"
  })
  const client = await openExplorer(account.output)
  const browser = await launchChromium()
  const opened = async (width = 1280, colorScheme: "light" | "dark" = "light") => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
    const page = await context.newPage()
    const problems: Array<string> = []
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text())
    })
    page.on("pageerror", (error) => problems.push(error.message))
    page.on("request", (request) => {
      const url = new URL(request.url())
      if (url.protocol.startsWith("http") && url.hostname !== "127.0.0.1") problems.push(`requested ${request.url()}`)
    })
    await page.goto(client.explorer.url)
    await page.getByRole("heading", { name: "What is in the account" }).waitFor()
    const close = async () => {
      await context.close()
      assert.deepStrictEqual(problems, [])
    }
    return { page, problems, close }
  }
  const close = async () => {
    await browser.close()
    await client.explorer.close()
    discard(account)
  }
  return { account, client, opened, close }
}
