/** How complete the reading of a resource is: decided here, from facts, and nowhere else. */

export type Status = "complete" | "complete_with_warnings" | "incomplete"

/** What a reading, and the load of its pages, found. Sentences without a full stop. */
export interface Facts {
  /** Why rows are missing, or may be. */
  readonly shortfalls: ReadonlyArray<string>
  /** What a reader of the rows should know. */
  readonly warnings: ReadonlyArray<string>
  /** Records without a key, which became no row. */
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

/** All that is to be said about a reading, the gravest first. */
export const sentencesOf = ({ shortfalls, warnings, droppedRecords = 0, blockedFields = [] }: Facts) => [
  ...shortfalls,
  ...(blockedFields.length > 0 ? [blockedText(blockedFields)] : []),
  ...warnings,
  ...(droppedRecords > 0 ? [`${droppedRecords} records have no key; see meta.rejected_records`] : [])
]

const blockedText = (fields: ReadonlyArray<string>): string => {
  const shown = fields.slice(0, 5)
  const more = fields.length > shown.length ? ` and ${fields.length - shown.length} more` : ""
  return `the schema is frozen, and the service sent what is new: ${shown.join(", ")}${more}. New fields are in the vault and in no table. To accept it, write accepted = ${JSON.stringify(shown)} under [schema] in the settings file, or another policy, then ./sluice rebuild`
}

/** Of several readings, the least complete one decides. */
export const worstStatus = (statuses: ReadonlyArray<string>): Status =>
  (["incomplete", "complete_with_warnings"] as const).find((status) => statuses.includes(status)) ?? "complete"

/** A status as people read it. */
export const statusText = (status: string): string => status.replaceAll("_", " ")
