/**
 * Ends a process that a worker started when the worker no longer owns its location: the worker writes to stdin until when
 * it does. A worker that was killed closes stdin, one that is paused writes nothing, and another may own the location soon.
 * The process kills itself, because a stop in good order would send and write more.
 *
 * A process that was started without a command gets commands on stdin: one run after the other costs 40 % less than a
 * process for each, because its code is compiled. It ends with the first run that does not end well.
 */
import { writeSync } from "node:fs"
import { nodeReadline } from "../../values/node.ts"

/** The last words of the process, by which the worker knows that it has not crashed. */
export const tetherMessage = "sluice: the worker no longer says that it owns the location"

/** The variable of the processes that a worker starts: until when it owns the location at least, epoch milliseconds. */
export const tetherVariable = "SLUICE_FLEET_TETHER"

/** Shorter than pg-boss waits for a sign of the worker, so that the process has ended before another one begins. */
export const tetherMs = 5000
const checkMs = 200

/** A run, as the worker writes it to stdin. */
export interface Order {
  readonly args: ReadonlyArray<string>
  /** Beside those of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The worker owns the location at least until then, epoch milliseconds. */
  readonly until: number
}

export interface Tether {
  /** Waits for the next run; meanwhile nothing is owned, and nothing ends the process but the end of stdin. */
  readonly next: () => Promise<Order>
  readonly isWaiting: () => boolean
}

export const holdTether = (until: string): Tether => {
  let heldUntil = Number(until)
  let heardAt = performance.now()
  /** A run may come before the process is ready for it. */
  const runs: Array<Order> = []
  let begin: ((run: Order) => void) | undefined
  const end = () => {
    try {
      writeSync(process.stderr.fd, `${tetherMessage}\n`)
    } catch {
      // A worker that was killed reads no message.
    }
    process.kill(process.pid, "SIGKILL")
  }
  const hear = (line: string) => {
    const said: number | Order = JSON.parse(line)
    heardAt = performance.now()
    heldUntil = Math.max(heldUntil, typeof said === "number" ? said : said.until)
    if (typeof said === "number") return
    if (begin === undefined) runs.push(said)
    else begin(said)
    begin = undefined
  }
  process.stdin.on("error", end)
  nodeReadline().createInterface({ input: process.stdin }).on("line", hear).on("close", end)
  const isWaiting = () => begin !== undefined
  const isSilent = () => !isWaiting() && (Date.now() > heldUntil || performance.now() - heardAt > tetherMs)
  // The wall clock also passes while the machine sleeps; the other one also while the wall clock is set back.
  setInterval(() => {
    // After a long computation, what the worker has written meanwhile is read after this timer.
    if (isSilent()) setImmediate(() => isSilent() && end())
  }, checkMs).unref()
  const next = async () => runs.shift() ?? (await new Promise<Order>((resolve) => (begin = resolve)))
  return { next, isWaiting }
}

/** What a process prints after a run that ended well, when it waits for the next one. */
export const finishedLine = "finished"
/** A process that has grown above this ends, and its memory goes back to the system. */
const residentMax = 400e6

/** Runs what the worker asks for. Returns the exit code of the last run. */
export const runTethered = async (
  { next }: Tether,
  run: (args: ReadonlyArray<string>, environment: Order["environment"]) => Promise<number>
): Promise<number> => {
  for (;;) {
    const { args, environment } = await next()
    const exitCode = await run(args, { ...process.env, ...environment })
    if (exitCode !== 0 || process.memoryUsage.rss() > residentMax) return exitCode
    process.stdout.write(`${finishedLine}\n`)
  }
}
