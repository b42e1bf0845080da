/** Debian's Chromium. */
import { type Browser, chromium } from "playwright-core"
import { programOf } from "./programs.ts"

export const chromiumPath = programOf("chromium", "/usr/bin/chromium")

/** Without these, Chromium looks for updates in the network. */
export const args: ReadonlyArray<string> = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** The address of the browser of a run of the tests, which shared-programs.ts starts. */
export const sharedBrowser = "SLUICE_TEST_CHROMIUM"

/** The browser that all tests share; its contexts are those of the caller, and are closed with it. */
export const launchChromium = (): Promise<Browser> => chromium.connect(process.env[sharedBrowser]!)
