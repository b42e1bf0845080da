/** Starts sluice again, as a process that ends itself when the one that started it no longer says that it owns the location. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process"
import { tetherMs, tetherVariable } from "./tether.ts"

export interface Tethered {
  readonly process: ChildProcess
  /** As `since`, later. */
  readonly extend: (since: number) => void
  readonly stop: (signal: NodeJS.Signals) => void
}

/** `since`: when it was last certain that the location is owned, epoch milliseconds. */
export const startTethered = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>,
  since: number,
  output: "pipe" | "inherit"
): Tethered => {
  const stdio: StdioOptions = ["pipe", output, output]
  // The same Node with the same flags, and the same entry point, as this process.
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
    env: { ...environment, [tetherVariable]: String(since + tetherMs) },
    stdio,
    // A terminal sends its signals to this process alone, which passes them on.
    detached: output === "inherit"
  })
  child.stdin!.on("error", () => {})
  return {
    process: child,
    extend: (since) => void child.stdin!.write(`${since + tetherMs}\n`),
    stop: (signal) => void child.kill(signal)
  }
}
