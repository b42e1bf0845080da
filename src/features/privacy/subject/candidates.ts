/** Finds texts of records that belong to others, or to the account, in which an address or the full name of a person occurs. */
import { Effect } from "effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import { keyText, tablesOf } from "../../../catalog/tables.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { keysTable } from "./belongings.ts"
import type { FoundContact } from "./find.ts"

export interface Candidate {
  readonly table: string
  readonly location: string
  /** The key of the record. */
  readonly key: string
  readonly column: string
  /** The address or name that the text contains, in lower case. */
  readonly contains: string
}

/** A name or number with fewer characters occurs in too many texts. */
const lengthMin = 6

export const findCandidates = Effect.fn("subject.candidates")(function* (
  { resources }: Catalogue,
  contacts: ReadonlyArray<FoundContact>,
  addresses: ReadonlyArray<string>
) {
  const texts = [...addresses, ...contacts.flatMap(({ emails, name, phones }) => [...emails, ...phones, name ?? ""])]
  const wanted = [...new Set(texts.map((text) => text.trim().toLowerCase()))].filter((text) => text.length >= lengthMin)
  if (wanted.length === 0) return []
  const found: Array<Candidate> = []
  for (const resource of resources)
    for (const { columns, name: table, parentColumn } of tablesOf(resource)) {
      const searched = columns.filter(
        ({ personal, sql }) =>
          ["content", "direct", "sensitive"].includes(personal) && (sql === "VARCHAR" || sql === "JSON")
      )
      if (searched.length === 0) continue
      const key = parentColumn === undefined ? keyText(resource) : name(parentColumn)
      const others = resource.person
        ? `WHERE (location_id, ${key}) NOT IN (SELECT (location_id, key) FROM ${keysTable(resource)})`
        : ""
      const rows = yield* query(
        { location: String, key: String, column: String, contains: String },
        `SELECT DISTINCT location_id AS location, key, col AS "column", w AS contains FROM (
           UNPIVOT (SELECT location_id, ${key} AS key, ${searched.map((column) => `lower(${name(column.name)}::VARCHAR) AS ${name(column.name)}`).join(", ")} FROM crm.${name(table)} ${others})
           ON ${searched.map((column) => name(column.name)).join(", ")} INTO NAME col VALUE text
         ), (SELECT unnest([${wanted.map(literal).join(", ")}]) AS w) WHERE contains(text, w) ORDER BY ALL`
      )
      found.push(...rows.map((row) => ({ table, ...row })))
    }
  return found
})
