/** Decides how complete the reading of a resource is, from facts. No other module does. */
import { type Reason, sentenceOf } from "./reason.ts"
import type { Status } from "./state.ts"

/** What the reading of a resource and the load of its pages found. */
export interface Facts {
  /** Why rows are or may be missing. */
  readonly shortfalls: ReadonlyArray<Reason>
  /** What users of the rows should know. */
  readonly warnings: ReadonlyArray<Reason>
  /** Records without a key, which have no row. */
  readonly droppedRecords?: number
  /** Fields and values that a frozen schema kept out of the tables, as `table.field`. */
  readonly blockedFields?: ReadonlyArray<string>
}

/**
 * What the settings leave out, or the service does not have: known before the reading, and the same in every one. `plan` and
 * the dictionary say it, and it makes no reading less complete.
 */
const limits: ReadonlySet<Reason["_tag"]> = new Set(["PartitionIgnored", "NotOffered"])

export const statusOf = (facts: Facts): Status => {
  const { shortfalls, droppedRecords = 0, blockedFields = [] } = facts
  if (shortfalls.length > 0 || blockedFields.length > 0) return "incomplete"
  return warningsOf(facts).length > 0 || droppedRecords > 0 ? "complete_with_warnings" : "complete"
}

const warningsOf = ({ warnings }: Facts): ReadonlyArray<Reason> => warnings.filter(({ _tag }) => !limits.has(_tag))

export const isComplete = (facts: Facts): boolean => statusOf(facts) !== "incomplete"

/** Why a reading is not complete, or complete with warnings; the most severe reason first. */
export const reasonsOf = (facts: Facts): ReadonlyArray<Reason> => {
  const { shortfalls, droppedRecords = 0, blockedFields = [] } = facts
  return [
    ...shortfalls,
    ...(blockedFields.length > 0 ? [{ _tag: "SchemaFrozen", fields: blockedFields } as const] : []),
    ...warningsOf(facts),
    ...(droppedRecords > 0 ? [{ _tag: "RecordsWithoutKey", count: droppedRecords } as const] : [])
  ]
}

/** The reasons as people read them. */
export const sentencesOf = (facts: Facts): ReadonlyArray<string> => reasonsOf(facts).map((reason) => sentenceOf(reason))

/** The status of several readings is that of the least complete one. */
export const worstStatus = (statuses: ReadonlyArray<string>): Status =>
  (["incomplete", "complete_with_warnings"] as const).find((status) => statuses.includes(status)) ?? "complete"
