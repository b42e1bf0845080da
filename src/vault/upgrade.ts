/** Entries as earlier versions of sluice wrote them, in the form of today: a vault is read for as long as it exists. */
import type { Entry } from "./entry.ts"

type Members = Readonly<Record<string, unknown>>

/** Told apart by the members that were renamed. */
export const upgraded = (entry: Entry): Entry => {
  const { kind, ...members } = entry as unknown as Members
  if (kind === "gone") return { ...members, kind: "deleted" } as unknown as Entry
  if (kind === "end" && members["outcome"] && !("shortfalls" in (members["outcome"] as Members)))
    return { ...members, kind, outcome: outcomeOf(members["outcome"] as Members) } as unknown as Entry
  if ((kind === "page" || kind === "detail") && "pass" in members)
    return { kind, ...pageOf(members) } as unknown as Entry
  return entry
}

const outcomeOf = ({ verdict, doubts, mode, ...outcome }: Members): Members => ({
  ...outcome,
  // What was learnt then is learnt anew.
  capabilities: undefined,
  mode: modeOf(mode),
  shortfalls: verdict === "incomplete" ? doubts : [],
  warnings: verdict === "incomplete" ? [] : doubts
})

/** The checkpoint is left out, so a list that was under way is read anew. */
const pageOf = ({ pass, long, progress, parent, ...page }: Members): Members => {
  const { state, ...row } = (parent ?? {}) as Members
  return {
    ...page,
    partition: pass,
    hasBigNumbers: long,
    // What the load needs: whether the page is part of a full reading, or of a window of the past.
    checkpoint: { mode: modeOf((progress as Members | undefined)?.["mode"]) },
    ...(parent !== undefined && { parent: { ...row, version: state } })
  }
}

const modeOf = (mode: unknown): unknown => ({ changed: "incremental", each: "children" })[mode as string] ?? mode
