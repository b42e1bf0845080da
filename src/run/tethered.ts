/** Starts sluice again, as a process that ends itself when this one no longer says that it owns the location. */
import { spawn } from "node:child_process"
import { type Order, finishedLine, tetherMs, tetherVariable } from "./tether.ts"

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

export interface EndedRun {
  /** Null if a signal ended the process. */
  readonly exitCode: number | null
  readonly stdout: string
  /** The end of it. */
  readonly stderr: string
}

export interface TetheredRun extends Pick<Tethered, "extend" | "stop"> {
  readonly ended: Promise<EndedRun>
}

export type TetheredProcesses = ReturnType<typeof tetheredProcesses>

/** A process, and what it has printed in its current run. */
interface Process extends Tethered {
  stdout: string
  stderr: string
  onLine: (line: string) => void
  onEnd: (exitCode: number | null) => void
}

/** What is kept of the messages, for the one that explains a crash. */
const stderrMax = 2000
/** How long a process waits for the next run; then its memory goes back to the system. */
const idleMs = 10_000

/** Processes of runs. One that has ended well waits for the next run; a process is started only if none waits. */
export const tetheredProcesses = (environment: Readonly<Record<string, string | undefined>>) => {
  const waiting = new Set<Process>()

  const started = (since: number): Process => {
    const tethered = startTethered([], environment, since, "pipe")
    const started: Process = { ...tethered, stdout: "", stderr: "", onLine: () => {}, onEnd: () => {} }
    const { process } = tethered
    process.stdout!.on("data", (chunk) => {
      started.stdout += chunk
      if (started.stdout.endsWith(`${finishedLine}\n`)) started.onEnd(0)
    })
    process.stderr!.on("data", (chunk) => {
      const text = String(chunk)
      started.stderr = (started.stderr + text).slice(-stderrMax)
      for (const line of text.split("\n")) if (line.trim() !== "") started.onLine(line)
    })
    process.once("error", (cause) => {
      started.stderr = cause.message
      started.onEnd(null)
    })
    process.once("close", (exitCode) => started.onEnd(exitCode))
    return started
  }

  const wait = (process: Process) => {
    waiting.add(process)
    process.onEnd = () => waiting.delete(process)
    setTimeout(() => waiting.delete(process) && process.stop("SIGKILL"), idleMs).unref()
  }

  const start = (
    args: Order["args"],
    environment: Order["environment"],
    since: number,
    onLine: Process["onLine"]
  ): TetheredRun => {
    const process = waiting.values().next().value ?? started(since)
    waiting.delete(process)
    Object.assign(process, { stdout: "", stderr: "", onLine })
    let [hasEnded, isStopped] = [false, false]
    const ended = new Promise<EndedRun>((resolve) => {
      process.onEnd = (exitCode) => {
        hasEnded = true
        const { stderr, stdout } = process
        const hasFinished = stdout.endsWith(`${finishedLine}\n`)
        // A signal that came after the end of its run is for no other one.
        if (hasFinished && isStopped) process.stop("SIGKILL")
        else if (hasFinished) wait(process)
        resolve({ exitCode, stderr, stdout: hasFinished ? stdout.slice(0, -finishedLine.length - 1) : stdout })
      }
    })
    const order: Order = { args, environment, until: since + tetherMs }
    process.process.stdin!.write(`${JSON.stringify(order)}\n`)
    return {
      ended,
      extend: (since) => (hasEnded ? undefined : process.extend(since)),
      stop: (signal) => {
        isStopped = true
        if (!hasEnded) process.stop(signal)
      }
    }
  }

  return { start }
}
