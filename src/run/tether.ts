/**
 * Ends a process that a worker started when the worker no longer owns its location: the worker writes to stdin until when
 * it does. A worker that was killed closes stdin, one that is paused writes nothing, and another may own the location soon.
 * The process kills itself, because a stop in good order would send and write more.
 */
import { writeSync } from "node:fs"

/** The last words of the process, by which the worker knows that it has not crashed. */
export const tetherMessage = "sluice: the worker no longer says that it owns the location"

/** The variable of the processes that a worker starts: until when it owns the location at least, epoch milliseconds. */
export const tetherVariable = "SLUICE_FLEET_TETHER"

/** Shorter than pg-boss waits for a sign of the worker, so that the process has ended before another one begins. */
export const tetherMs = 5000
const checkMs = 200

export const holdTether = (until: string): void => {
  let heldUntil = Number(until)
  let heardAt = performance.now()
  const end = () => {
    try {
      writeSync(process.stderr.fd, `${tetherMessage}\n`)
    } catch {
      // A worker that was killed reads no message.
    }
    process.kill(process.pid, "SIGKILL")
  }
  process.stdin.setEncoding("utf8")
  process.stdin.on("data", (text: string) => {
    const [last] = text.trim().split("\n").slice(-1)
    heldUntil = Math.max(heldUntil, Number(last))
    heardAt = performance.now()
  })
  process.stdin.on("end", end)
  process.stdin.on("error", end)
  const isSilent = () => Date.now() > heldUntil || performance.now() - heardAt > tetherMs
  // The wall clock also passes while the machine sleeps; the other one also while the wall clock is set back.
  setInterval(() => {
    // After a long computation, what the worker has written meanwhile is read after this timer.
    if (isSilent()) setImmediate(() => isSilent() && end())
  }, checkMs).unref()
}
