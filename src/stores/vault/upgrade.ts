/** Converts entries that earlier versions of sluice wrote, because a vault must be readable for as long as it exists. */
import { type Reason, stored } from "../../values/reason.ts"
import type { Entry } from "./entry.ts"

type Members = Readonly<Record<string, unknown>>

/** Entries have no version, so the members that were renamed since identify an old one. */
export const upgraded = (entry: Entry): Entry => {
  const { kind, ...members } = entry as unknown as Members
  if (kind === "gone") return { ...members, kind: "deleted" } as unknown as Entry
  if (kind === "end" && members["outcome"])
    return { ...members, kind, outcome: outcomeOf(members["outcome"] as Members) } as unknown as Entry
  if ((kind === "page" || kind === "detail") && "pass" in members)
    return { kind, ...pageOf(members) } as unknown as Entry
  return entry
}

/** Outcomes had no facts, and then sentences as facts. */
const outcomeOf = (outcome: Members): Members => {
  const { shortfalls, warnings, ...others } = "shortfalls" in outcome ? outcome : withSentences(outcome)
  const reasonsIn = (sentences: unknown) => (sentences as ReadonlyArray<Reason | string>).map(stored)
  return { ...others, shortfalls: reasonsIn(shortfalls), warnings: reasonsIn(warnings) }
}

const withSentences = ({ verdict, doubts, mode, ...outcome }: Members): Members => ({
  ...outcome,
  // Capabilities of earlier versions are discarded, so they are learnt again.
  capabilities: undefined,
  mode: modeOf(mode),
  shortfalls: verdict === "incomplete" ? doubts : [],
  warnings: verdict === "incomplete" ? [] : doubts
})

/** Drops the checkpoint, so a list that was interrupted is read from the start. */
const pageOf = ({ pass, long, progress, parent, ...page }: Members): Members => {
  const { state, ...row } = (parent ?? {}) as Members
  return {
    ...page,
    partition: pass,
    hasBigNumbers: long,
    // The load needs the mode, to tell pages of a full reading and of a backfill.
    checkpoint: { mode: modeOf((progress as Members | undefined)?.["mode"]) },
    ...(parent !== undefined && { parent: { ...row, version: state } })
  }
}

const modeOf = (mode: unknown): unknown => ({ changed: "incremental", each: "children" })[mode as string] ?? mode
