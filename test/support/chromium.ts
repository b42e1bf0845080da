/** Debian's Chromium. */
import { type Browser, chromium } from "playwright-core"
import { programOf } from "./programs.ts"

export const chromiumPath = programOf("chromium", "/usr/bin/chromium")

/** Without these, Chromium looks for updates in the network. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

export const launchChromium = (): Promise<Browser> => chromium.launch({ executablePath: chromiumPath!, args })
