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
  /** `isWaiting`: the run has ended well, and the process waits for the next one. */
  onEnd: (exitCode: number | null, isWaiting?: true) => void
}

const finished = `${finishedLine}\n`
/** What is kept of the messages, for the one that explains a crash. */
const stderrMax = 2000
/** How long a process waits for the next run; then its memory goes back to the system. */
const idleMs = 10_000

/** A process that reads its orders from its standard input. */
const startProcess = (environment: Readonly<Record<string, string | undefined>>, since: number): Process => {
  const tethered = startTethered([], environment, since, "pipe")
  const started: Process = { ...tethered, stdout: "", stderr: "", onLine: () => {}, onEnd: () => {} }
  const { process } = tethered
  process.stdout!.on("data", (chunk) => {
    started.stdout += chunk
    if (!started.stdout.endsWith(finished)) return
    started.stdout = started.stdout.slice(0, -finished.length)
    started.onEnd(0, true)
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

/** Processes of runs. One that has ended well waits for the next run; a process is started only if none waits. */
export const tetheredProcesses = (own: Readonly<Record<string, string | undefined>>) => {
  /** Those that wait, each with the timer that ends it. */
  const waiting = new Map<Process, NodeJS.Timeout>()

  const wait = (process: Process) => {
    const end = () => {
      take(process)
      process.stop("SIGKILL")
    }
    waiting.set(process, setTimeout(end, idleMs).unref())
    process.onEnd = () => take(process)
  }

  const take = (process: Process) => {
    clearTimeout(waiting.get(process))
    waiting.delete(process)
  }

  const start = (
    args: Order["args"],
    environment: Order["environment"],
    since: number,
    onLine: Process["onLine"]
  ): TetheredRun => {
    const process = waiting.keys().next().value ?? startProcess(own, since)
    take(process)
    Object.assign(process, { stdout: "", stderr: "", onLine })
    let [hasEnded, isStopped] = [false, false]
    const ended = new Promise<EndedRun>((resolve) => {
      process.onEnd = (exitCode, isWaiting) => {
        hasEnded = true
        // A signal that came after the end of its run is for no other one.
        if (isWaiting && isStopped) process.stop("SIGKILL")
        else if (isWaiting) wait(process)
        resolve({ exitCode, stderr: process.stderr, stdout: process.stdout })
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
