/** Starts sluice again, as a process that ends itself when this one no longer says that it owns the location. */
import { spawn } from "node:child_process"
import { tetherMs, tetherVariable } from "./tether.ts"

export type Tethered = ReturnType<typeof startTethered>

/** `since`: when it was last certain that the location is owned, epoch milliseconds. */
export const startTethered = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>,
  since: number,
  output: "pipe" | "inherit"
) => {
  // The same Node with the same flags, and the same entry point, as this process.
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
    env: { ...environment, [tetherVariable]: String(since + tetherMs) },
    stdio: ["pipe", output, output],
    // A terminal sends its signals to this process alone, which passes them on.
    detached: output === "inherit"
  })
  child.stdin!.on("error", () => {})
  return {
    process: child,
    /** As `since`, later. */
    extend: (since: number) => void child.stdin!.write(`${since + tetherMs}\n`),
    stop: (signal: NodeJS.Signals) => void child.kill(signal)
  }
}
