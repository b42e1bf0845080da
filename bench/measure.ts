/** Runs sluice against a sandbox, each a process of its own, and says what it took. */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

export interface Sandbox {
  readonly url: string
  readonly environment: Readonly<Record<string, string>>
  readonly stats: () => Promise<{
    readonly requests: number
    readonly fullestWindow: number
    readonly refused429: number
  }>
  readonly stop: () => void
}

export const startSandbox = async (...flags: ReadonlyArray<string>): Promise<Sandbox> => {
  const child = spawn(process.execPath, [at("src/sandbox/main.ts"), ...flags], { stdio: ["ignore", "pipe", "ignore"] })
  const line = await new Promise<string>((resolve) => createInterface(child.stdout).once("line", resolve))
  const { url, token, locationId } = JSON.parse(line)
  return {
    url,
    environment: { SLUICE_BASE_URL: url, SLUICE_TOKEN: token, SLUICE_LOCATION_ID: locationId },
    stats: async () => (await fetch(`${url}/__sandbox/stats`)).json() as ReturnType<Sandbox["stats"]>,
    stop: () => child.kill()
  }
}

export interface Measured {
  readonly seconds: number
  /** Highest resident memory, where the system tells. */
  readonly peakMb: number
  readonly cpuSeconds: number
  readonly stdout: string
}

export const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const run = async (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>
): Promise<Measured> => {
  const start = performance.now()
  const child = spawn(at("sluice"), args, {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let stdout = ""
  child.stdout.on("data", (chunk) => (stdout += chunk))
  let [peakMb, cpuSeconds] = [0, 0]
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8")
      peakMb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
      const [user, system] = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(" ").slice(13, 15)
      cpuSeconds = (Number(user) + Number(system)) / 100
    } catch {
      // Not Linux, or over.
    }
  }, 50)
  const code = await new Promise((resolve) => child.once("close", resolve))
  clearInterval(watch)
  if (code !== 0) throw new Error(`sluice ${args.join(" ")} ended with ${String(code)}`)
  return { seconds: (performance.now() - start) / 1000, peakMb, cpuSeconds, stdout }
}

export const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!
