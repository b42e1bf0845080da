/** The warehouse knows the head of the ledger as of the last run, so that a ledger that was removed or cut is noticed. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import { type Failure, failure } from "../../values/failure.ts"
import { ifMissing, onDisk } from "../../output/files.ts"
import { type Safeguard, safeguardOf, storeSafeguard } from "../warehouse/meta/safeguards.ts"
import { ledgerName, ledgerOf } from "./file.ts"
import { sha256Of } from "./record.ts"

/** What is wrong with the ledger, compared with the warehouse. */
export const ledgerProblem = Effect.fn("ledger.problem")(function* (output: string) {
  const known = yield* safeguardOf(ledgerName)
  return known && problemIn(yield* linesOf(output), known)
})

/** Fails if the ledger lost records that the warehouse knows of, and else stores its present head. */
export const guardLedger = Effect.fn("ledger.guard")(function* (output: string) {
  const known = yield* safeguardOf(ledgerName)
  const lines = yield* linesOf(output)
  const detail = known && problemIn(lines, known)
  if (detail !== undefined)
    return yield* failure({
      _tag: "SafeguardLost",
      path: ledgerOf(output),
      detail,
      next: "Restore it from a backup. Without one, sync into another folder."
    })
  const last = lines.at(-1)
  if (last !== undefined && lines.length !== known?.entries)
    yield* storeSafeguard(ledgerName, { entries: lines.length, sha256: sha256Of(last) })
})

const problemIn = (lines: ReadonlyArray<string>, { entries, sha256 }: Safeguard): string | undefined => {
  const line = lines[entries - 1]
  if (line === undefined) return `it has ${lines.length} records, and the warehouse knows of ${entries}`
  return sha256Of(line) === sha256 ? undefined : `its record ${entries} is not the one that the warehouse knows`
}

/** A last line that is being written is left out. */
const linesOf = (output: string): Effect.Effect<ReadonlyArray<string>, Failure> =>
  onDisk(ledgerOf(output), "read", async () => {
    const text = await readFile(ledgerOf(output), "utf8").catch(ifMissing(""))
    return text.split("\n").slice(0, -1)
  })
