/** Asks a command of sluice for something that the page shows, in a process of its own, and reads what it prints. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { type Printed, type Program, printedBy, printedInText } from "../../run/process.ts"
import type { Environment } from "../../values/environment.ts"
import { type Readers, readRows } from "../../values/rows.ts"

export type Ask = ReturnType<typeof asking>

/** Each takes half a core for a second. */
const atOnce = 2

/** `flags`: those that name the settings file and the output folder. */
export const asking = (program: Program, flags: () => ReadonlyArray<string>, environment: Environment["Service"]) => {
  const turns = Semaphore.makeUnsafe(atOnce)
  const text = (args: ReadonlyArray<string>, own = flags(), more: Environment["Service"] = {}) =>
    Effect.runPromise(turns.withPermit(printedBy(program, [...args, ...own], { ...environment, ...more })))
  return {
    text,
    /** The result of a command with --json. */
    json: async (
      args: ReadonlyArray<string>,
      own?: ReadonlyArray<string>,
      more?: Environment["Service"]
    ): Promise<Printed> => {
      const { problem, stdout } = await text([...args, "--json"], own, more)
      const error = { code: "internal", message: problem || `${args[0]} printed nothing.` }
      return printedInText(stdout) ?? { schema: "", exitCode: 1, error }
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
