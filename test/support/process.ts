/** Runs sluice as people do: a process of its own, through the launcher. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Ran } from "./sluice.ts"

export interface Running {
  readonly ended: Promise<Ran>
  readonly pid: number
  readonly kill: (signal: NodeJS.Signals) => void
}

const launcher = fileURLToPath(new URL("../../sluice", import.meta.url))

export const start = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>): Running => {
  // Whatever the umask of the person or the scheduler that starts it.
  const child = spawn("sh", ["-c", 'umask 000 && exec "$0" "$@"', launcher, ...args], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // Shorter than a test may take: one that hangs fails with what it had printed, and stops nothing behind it.
    timeout: 350_000,
    killSignal: "SIGKILL"
  })
  let [stdout, stderr] = ["", ""]
  child.stdout.on("data", (chunk) => (stdout += chunk))
  child.stderr.on("data", (chunk) => (stderr += chunk))
  return {
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr }))),
    pid: child.pid!,
    kill: (signal) => child.kill(signal)
  }
}
