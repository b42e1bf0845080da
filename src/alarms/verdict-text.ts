/** The sentences of a verdict, the same for whoever shows one: what is not there, why, and what mends it. */
import { counted } from "../values/finding.ts"
import { type Reason, sentenceOf } from "../values/reason.ts"
import { stateText } from "../values/state.ts"
import { some } from "../values/text.ts"
import type { Cause, Verdict } from "./verdict.ts"

/** How readers know the things of the account, and what is to be set. */
export interface Naming {
  /** The reader has several locations. */
  readonly isOfSeveral: boolean
  /** Of a location: its name, or its id. */
  readonly placeOf: (location: string) => string
  /** What to set if the service refuses the token of a location; see `tokenName` of the settings. */
  readonly tokenOf: (location: string) => string
  /** How to write a reason, which may quote the service. */
  readonly sentence?: (reason: Reason) => string
}

/** One sentence without a stop. */
export const causeText = (cause: Cause, { isOfSeveral, placeOf, sentence = sentenceOf }: Naming): string => {
  switch (cause.kind) {
    case "failed":
      return cause.failed.message.replace(/\.$/, "")
    case "stopped":
      return cause.run.exitCode === undefined
        ? `run ${cause.run.id} did not end: it was stopped or killed; everything read is kept`
        : `run ${cause.run.id} could not read on, and ended with exit code ${cause.run.exitCode}; everything read is kept`
    case "ended":
      return `run ${cause.run.id} ended ${stateText(cause.run.status)}, with exit code ${cause.run.exitCode}`
    case "paused":
      return `run ${cause.run.id} ended early: the service had no more requests for it or gave no answer`
    case "target":
      return cause.target.missing
        ? `${cause.target.name} lacks ${some(cause.target.missing)}`
        : `${cause.target.name} did not get what is new`
    case "model":
      return `bi.${cause.model.where} could not be built: ${cause.model.keptAt === undefined ? "the release has no table of it" : `its table is that of ${minute(cause.model.keptAt)}`}`
    default: {
      const { kind, location, resources } = cause
      const what = `${isOfSeveral ? `${placeOf(location)}: ` : ""}${some(resources)}`
      switch (kind) {
        case "unreadable":
          return `${isOfSeveral ? `${placeOf(location)}: ` : ""}${sentence(cause.reason)}`
        case "incomplete": {
          const { dependents, reasons } = cause
          const more = reasons.length > 2 ? `; and ${counted(reasons.length - 2, "other reason")}` : ""
          const below = dependents.length > 0 ? `; therefore also ${some(dependents)}` : ""
          return `${what}: ${reasons
            .slice(0, 2)
            .map((reason) => sentence(reason))
            .join("; ")}${more}${below}`
        }
        case "unfinished":
          return `${what}: a run was stopped before the end`
        case "never":
          return `${what}: never read`
        case "late":
          return `${what}: not read since ${minute(cause.completeAt ?? 0)}`
      }
    }
  }
}

const minute = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`

/** What mends the causes, the worst first: the tokens to set, or the command. `sync`: the one that reads what is missing. */
export const remedyOf = (
  causes: ReadonlyArray<Cause>,
  { tokenOf }: Pick<Naming, "tokenOf">,
  sync = "./sluice sync"
): string => {
  const tokens = causes.flatMap((cause) =>
    cause.kind === "unreadable" ? [`set ${tokenOf(cause.location)} to a valid token of location ${cause.location}`] : []
  )
  if (tokens.length > 0) return `${tokens.join(", and ")}, then ${sync}; it reads only what is missing.`
  const [first] = causes
  switch (first?.kind) {
    case "failed":
      return first.failed.next
    case "incomplete":
      return first.reasons.some(({ _tag }) => _tag === "Forbidden")
        ? "./sluice doctor, which shows what the token may read."
        : `${sync}, later; it reads only what is missing.`
    case "stopped":
      return (first.run.exitCode ?? 75) === 75 ? `${sync}, later; it resumes where it stopped.` : "./sluice doctor"
    case "paused":
      return `${sync}, later; it resumes where it stopped.`
    case "target":
      return first.target.missing ? "./sluice publish" : "correct what it says, then ./sluice publish"
    case "model":
      return "correct it (meta.model_problems has the reason), then ./sluice publish"
    case undefined:
      return `correct what is named above, then ${sync}; it reads only what is missing.`
    default:
      return sync
  }
}

/**
 * What is there, with a stop: the headline of status and the page, the banner of the report, the digest. `whenRead`: such as
 * "5 min ago".
 */
export const verdictText = (
  { causes, complete, locations, of, warned, oldest }: Verdict,
  naming: Naming,
  whenRead: (at: number) => string
): string => {
  const all = `${counted(of, "resource")}${locations.length > 1 ? ` of ${counted(locations.length, "location")}` : ""}`
  const are =
    complete < of
      ? `${complete.toLocaleString("en-US")} of ${all} ${complete === 1 ? "is" : "are"} complete`
      : of === 1
        ? "The only resource is complete"
        : `All ${all} are complete`
  const age = oldest === undefined ? "" : `; the oldest, ${oldest.resource}, was read ${whenRead(oldest.completeAt)}`
  const there = of === 0 ? "Nothing was read yet" : `${are}${warned > 0 ? `, ${warned} with warnings` : ""}${age}`
  const shown = causes.slice(0, shownMax).map((cause, index) => {
    const text = causeText(cause, naming)
    // Names keep their letters.
    return index === 0 && ("run" in cause || "failed" in cause) ? text.charAt(0).toUpperCase() + text.slice(1) : text
  })
  const more = causes.length > shownMax ? `; and ${counted(causes.length - shownMax, "other cause")}` : ""
  return `${there}.${causes.length > 0 ? ` ${shown.join("; ")}${more}.` : ""}`
}

const shownMax = 3
