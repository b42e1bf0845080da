/** Runs sluice as users do: as a process, through the launcher. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { type Ran, withSentences } from "./sluice.ts"

export interface Running {
  readonly ended: Promise<Ran>
  readonly pid: number
  /** What it has written to stderr until now. */
  readonly stderr: () => string
  readonly kill: (signal: NodeJS.Signals) => void
}

const launcher = fileURLToPath(new URL("../../sluice", import.meta.url))

export const start = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  cwd?: string
): Running => {
  // The modes of files must not depend on the umask of the caller.
  const child = spawn("sh", ["-c", 'umask 000 && exec "$0" "$@"', launcher, ...withSentences(args)], {
    cwd,
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // Shorter than the time limit of a test, so that a process that hangs is killed and the test fails with its output.
    timeout: 350_000,
    killSignal: "SIGKILL"
  })
  let [stdout, stderr] = ["", ""]
  child.stdout.on("data", (chunk) => (stdout += chunk))
  child.stderr.on("data", (chunk) => (stderr += chunk))
  return {
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr }))),
    pid: child.pid!,
    stderr: () => stderr,
    kill: (signal) => child.kill(signal)
  }
}
