/** The process around one command: its streams, its signals, and its exit. */
import { exitCodes } from "../values/failure.ts"
import { fetchThroughProxies } from "../network/proxy.ts"
import { runCommand } from "./command.ts"
import { withHelpFlag } from "./help.ts"

const fleetStopMs = 20_000

export const run = async (args: ReadonlyArray<string>): Promise<void> => {
  const { env, stdout, stderr } = process
  // A long result may still be on its way into a pipe.
  const written = () => Promise.all([stdout, stderr].map((stream) => new Promise((done) => stream.write("", done))))
  const [command, ...flags] = withHelpFlag(args)
  if (command === "sandbox") {
    // A program of its own, with flags of its own.
    const { runSandbox } = await import("../../sandbox/main.ts")
    const exitCode = await runSandbox(flags)
    await written()
    process.exit(exitCode)
  }
  // A reader that closes the pipe early, such as `| head`, does not make the command fail.
  let unwritten: NodeJS.ErrnoException | undefined
  for (const stream of [stdout, stderr])
    stream.on("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EPIPE") unwritten = cause
    })
  const heldUntil = env["SLUICE_FLEET_TETHER"]
  const { holdTether, runTethered } = heldUntil === undefined ? {} : await import("../features/fleet/tether.ts")
  const tether = holdTether?.(heldUntil!)
  const stopped = new AbortController()
  const stop = (exitCode: number) => () => {
    if (stopped.signal.aborted || tether?.isWaiting()) process.exit(exitCode)
    stopped.abort(exitCode)
    // By then a worker has stopped its runs. A statement to a database that was restarted may never end.
    if (command === "fleet") setTimeout(() => process.exit(exitCode), fleetStopMs).unref()
  }
  process.on("SIGINT", stop(130))
  process.on("SIGTERM", stop(143))

  await fetchThroughProxies()
  const { signal } = stopped
  const runOne = (args: ReadonlyArray<string>, environment: typeof env) =>
    runCommand(args, { environment, stdout, stderr, signal })
  const exitCode = await (tether && args.length === 0 ? runTethered!(tether, runOne) : runOne(args, env))
  if (signal.aborted) process.exit(exitCode)
  await written()
  // A command that failed has already written the reason.
  if (!unwritten || exitCode !== 0) process.exit(exitCode)
  stderr.write(`sluice: The result could not be printed: ${unwritten.message}\n`)
  process.exit(exitCodes.failed)
}
