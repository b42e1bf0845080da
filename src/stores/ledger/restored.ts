/**
 * Whether the tables have people again whom an erasure has removed: they were restored from a backup of before it. The list of
 * erased people counts its entries in each record of an erasure, and in the warehouse that the erasure has written.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { outputFiles } from "../../output/contents.ts"
import { readJson } from "../../output/files.ts"
import { outputPaths } from "../../output/paths.ts"
import { counted } from "../../values/finding.ts"
import { safeguardOf } from "../warehouse/meta/safeguards.ts"
import { recordsOf } from "./given.ts"

const decodeEntries = Schema.decodeUnknownOption(Schema.Struct({ entries: Schema.Int }))
const Backup = Schema.Struct({ at: Schema.String })

/** Sentences; none if nobody can be back. `level`: `wrong` if the ledger knows it, `note` if it cannot know. */
export const restoredIn = Effect.fn("ledger.restored")(function* (output: string) {
  const records = yield* recordsOf(output)
  const erasures = records.filter(({ kind }) => kind === "erase" || kind === "retention")
  const { entries: held = 0 } = (yield* safeguardOf(outputFiles.suppressed.name)) ?? {}
  const undone = erasures.filter(({ detail }) =>
    Option.exists(decodeEntries(detail["suppressed"]), ({ entries }) => entries > held)
  )
  if (undone.length > 0)
    return {
      level: "wrong" as const,
      text: `The tables are older than ${counted(undone.length, "erasure")} of the ledger, the first of ${undone[0]!.at}: they were restored, and have the people again. Erase them again; see ${undone.map(({ detail }) => String(detail["certificate"])).join(", ")} in ${outputPaths(output).certificates}.`
    }
  const backup = yield* Effect.orElseSucceed(readJson(outputPaths(output).backup, Backup), () => undefined)
  // An erasure here after that time was told of it.
  if (backup === undefined || erasures.some(({ at }) => at > backup.at)) return undefined
  return {
    level: "note" as const,
    text: `The folder was restored from a backup of ${backup.at}, and has everybody again who was erased since. Erase them again; if there is nobody, remove ${outputPaths(output).backup}.`
  }
})
