/** Asks a command of sluice for something that the page shows, in a process of its own, and reads what it prints. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { spawn } from "node:child_process"
import type { Environment } from "../../values/environment.ts"
import { type Readers, readRows } from "../../values/rows.ts"
import type { Printed } from "./progress.ts"

export type Ask = ReturnType<typeof asking>

const askMs = 120_000
const bytesMax = 64_000_000
/** Each takes half a core for a second. */
const atOnce = 2

/** `program`: how a command is started. `flags`: those that name the settings file and the output folder. */
export const asking = (
  [command = "", ...before]: ReadonlyArray<string>,
  flags: () => ReadonlyArray<string>,
  environment: Environment["Service"]
) => {
  const turns = Semaphore.makeUnsafe(atOnce)
  const inTurn = <A>(run: () => Promise<A>): Promise<A> => Effect.runPromise(turns.withPermit(Effect.promise(run)))
  /** What the command writes to stdout, and the last line of stderr. */
  const text = (args: ReadonlyArray<string>, own: ReadonlyArray<string> = flags(), more: Environment["Service"] = {}) =>
    inTurn(
      () =>
        new Promise<{ readonly stdout: string; readonly problem: string }>((done) => {
          const child = spawn(command, [...before, ...args, ...own], {
            env: { ...environment, ...more },
            stdio: ["ignore", "pipe", "pipe"],
            timeout: askMs,
            killSignal: "SIGKILL"
          })
          const parts: Array<Buffer> = []
          let bytes = 0
          let problem = ""
          child.stdout.on("data", (part: Buffer) => {
            bytes += part.length
            if (bytes > bytesMax) child.kill("SIGKILL")
            else parts.push(part)
          })
          child.stderr.on("data", (part: Buffer) => (problem = `${problem}${part}`.slice(-2000)))
          child.once("error", (cause) => done({ stdout: "", problem: cause.message }))
          child.once("close", () =>
            done({ stdout: Buffer.concat(parts).toString(), problem: problem.trim().split("\n").at(-1) ?? "" })
          )
        })
    )
  return {
    text,
    /** The result of a command with --json. */
    json: async (
      args: ReadonlyArray<string>,
      own?: ReadonlyArray<string>,
      more?: Environment["Service"]
    ): Promise<Printed> => {
      const { problem, stdout } = await text([...args, "--json"], own, more)
      try {
        return JSON.parse(stdout)
      } catch {
        return {
          schema: "",
          exitCode: 1,
          error: { code: "internal", message: problem || `${args[0]} printed nothing.` }
        }
      }
    },
    /** The rows of a table of the warehouse; of none, if nothing was read yet. */
    rows: async <Columns extends Readers>(table: string, columns: Columns, where: string) => {
      const { stdout } = await text([
        "publish",
        `--stdout=${table}`,
        "--format=ndjson",
        `--columns=${Object.keys(columns).join(",")}`,
        `--where=${where}`
      ])
      const lines = stdout.split("\n").filter(Boolean)
      return readRows(
        columns,
        lines.map((line) => JSON.parse(line))
      )
    }
  }
}
