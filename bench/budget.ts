/**
 * The share of the rate limit that a full sync uses, as the service counts it: refused requests, the most requests in a
 * window, and the time from the first to the last request, compared with the minimum under the limits. The minimum is a
 * whole number of windows, so a run that ends within a window seems slower than it is. The last column avoids that: it
 * measures up to the first request of the last window.
 *
 *     node_modules/.bin/node bench/budget.ts [case…]
 */
import { writeFileSync } from "node:fs"
import { createServer, request as forward } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type Sandbox, newFolder, run, startSandbox } from "./measure.ts"

interface Case {
  readonly sandbox: string
  readonly sync: string
  /** Requests per window that are left to sluice. */
  readonly share: number
  readonly locations: number
}

const whole = { sandbox: "--contacts 135", sync: "", share: 100, locations: 1 }
const cases: Readonly<Record<string, Case>> = {
  documented: whole,
  fixed: { ...whole, sandbox: "--contacts 135 --window-kind fixed" },
  otherClient: { ...whole, sandbox: "--contacts 135 --foreign 40", share: 60 },
  // A quarter of the rate: takes four minutes.
  lower: {
    ...whole,
    sandbox: "--contacts 600 --limits 25/10000/200000",
    sync: "--only contacts,contact_notes",
    share: 25
  },
  locations: { ...whole, locations: 2 }
}

/** One address for several locations, distinguished by their tokens. */
const oneAddress = async (sandboxes: ReadonlyArray<Sandbox>) => {
  const server = createServer((request, response) => {
    const of = sandboxes.find(({ environment }) =>
      request.headers.authorization?.endsWith(environment["SLUICE_TOKEN"]!)
    )
    const { method, headers, url } = request
    const onward = forward(`${of!.url}${url!}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

const measure = async (name: string, { sandbox, sync, share, locations }: Case) => {
  const sandboxes = await Promise.all(
    Array.from({ length: locations }, (_, n) =>
      startSandbox("--seed", String(n + 1), "--latency", "0-300", ...words(sandbox))
    )
  )
  const address = await oneAddress(sandboxes)
  try {
    await run(["sync", ...words(sync), "--config", settingsOf(address.url, sandboxes)], { SLUICE_OUTPUT: newFolder() })
    for (const sandbox of sandboxes) {
      const { requests, refused429, fullestWindow, arrivals } = await sandbox.stats()
      const after = (request: number) => (arrivals[request]! - arrivals[0]!) / 1000
      // The minimum: a full share at once, and the next one when the window of the first is over.
      const windows = Math.floor((requests - 1) / share)
      const actual = after(requests - 1)
      const quantity = (seconds: number) => ((windows * 10) / seconds).toFixed(3)
      const counts = [requests, refused429, fullestWindow, windows * 10]
      const cells = [...counts, actual.toFixed(1), quantity(actual), quantity(after(windows * share))]
      console.log([name.padEnd(12), ...cells.map((cell) => String(cell).padStart(8))].join(" "))
    }
  } finally {
    address.close()
    for (const sandbox of sandboxes) sandbox.stop()
  }
}

/** A settings file that lists every location with its token. */
const settingsOf = (url: string, sandboxes: ReadonlyArray<Sandbox>): string => {
  const locations = sandboxes.map(
    ({ environment: { SLUICE_LOCATION_ID, SLUICE_TOKEN } }) =>
      `[[locations]]\nid = "${SLUICE_LOCATION_ID}"\ntoken = "${SLUICE_TOKEN}"\n`
  )
  const path = join(newFolder(), "sluice.toml")
  writeFileSync(path, `[account]\nbase_url = "${url}"\n${locations.join("")}`)
  return path
}

const words = (flags: string) => flags.split(" ").filter((word) => word !== "")

const selected = process.argv.slice(2)
console.log("case         requests      429  fullest  ideal s actual s    ratio  windows")
for (const name of selected.length > 0 ? selected : Object.keys(cases)) await measure(name, cases[name]!)
