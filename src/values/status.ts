/** Decides how complete the reading of a resource is, from facts. No other module does. */

export type Status = "complete" | "complete_with_warnings" | "incomplete"

/** What the reading of a resource and the load of its pages found. Sentences have no full stop. */
export interface Facts {
  /** Why rows are or may be missing. */
  readonly shortfalls: ReadonlyArray<string>
  /** What users of the rows should know. */
  readonly warnings: ReadonlyArray<string>
  /** Records without a key, which have no row. */
  readonly droppedRecords?: number
  /** Fields and values that a frozen schema kept out of the tables, as `table.field`. */
  readonly blockedFields?: ReadonlyArray<string>
}

export const statusOf = (facts: Facts): Status => {
  const { shortfalls, warnings, droppedRecords = 0, blockedFields = [] } = facts
  if (shortfalls.length > 0 || blockedFields.length > 0) return "incomplete"
  return warnings.length > 0 || droppedRecords > 0 ? "complete_with_warnings" : "complete"
}

export const isComplete = (facts: Facts): boolean => statusOf(facts) !== "incomplete"

/** All messages about a reading, the most severe first. */
export const sentencesOf = ({ shortfalls, warnings, droppedRecords = 0, blockedFields = [] }: Facts) => [
  ...shortfalls,
  ...(blockedFields.length > 0 ? [blockedText(blockedFields)] : []),
  ...warnings,
  ...(droppedRecords > 0 ? [`${droppedRecords} records have no key; see meta.rejected_records`] : [])
]

const blockedText = (fields: ReadonlyArray<string>): string => {
  const shown = fields.slice(0, 5)
  const more = fields.length > shown.length ? ` and ${fields.length - shown.length} more` : ""
  return `the schema is frozen, and the service sent new fields or values: ${shown.join(", ")}${more}. New fields are in the vault but in no table. To accept them, set accepted = ${JSON.stringify(shown)} under [schema] in the settings file, or choose another policy there, and run ./sluice rebuild`
}

/** The status of several readings is that of the least complete one. */
export const worstStatus = (statuses: ReadonlyArray<string>): Status =>
  (["incomplete", "complete_with_warnings"] as const).find((status) => statuses.includes(status)) ?? "complete"

/** A status as messages show it. */
export const statusText = (status: string): string => status.replaceAll("_", " ")
