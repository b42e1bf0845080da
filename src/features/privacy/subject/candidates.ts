/** Finds texts of records that belong to others, or to the account, in which an address or the full name of a person occurs. */
import { Effect } from "effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import { keyText, tablesOf } from "../../../catalog/tables.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { literal, name, names } from "../../../stores/warehouse/sql.ts"
import { keysTable } from "./belongings.ts"
import type { FoundContact } from "./find.ts"

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
  const tables = resources.flatMap((resource) => tablesOf(resource).map((table) => ({ resource, ...table })))
  const found = yield* Effect.forEach(tables, ({ columns, name: table, parentColumn, resource }) => {
    const searched = columns.filter(
      ({ personal, sql }) =>
        ["content", "direct", "sensitive"].includes(personal) && (sql === "VARCHAR" || sql === "JSON")
    )
    if (searched.length === 0) return Effect.succeed([])
    const key = parentColumn === undefined ? keyText(resource) : name(parentColumn)
    const others = resource.person
      ? `WHERE (location_id, ${key}) NOT IN (SELECT (location_id, key) FROM ${keysTable(resource)})`
      : ""
    return query(
      // The key of the record, and the address or name that the text contains, in lower case.
      { table: String, location: String, key: String, column: String, contains: String },
      `SELECT DISTINCT ${literal(table)} AS "table", location_id AS location, key, col AS "column", w AS contains FROM (
         UNPIVOT (SELECT location_id, ${key} AS key, ${searched.map((column) => `lower(${name(column.name)}::VARCHAR) AS ${name(column.name)}`).join(", ")} FROM crm.${name(table)} ${others})
         ON ${names(searched.map((column) => column.name))} INTO NAME col VALUE text
       ), (SELECT unnest([${wanted.map(literal).join(", ")}]) AS w) WHERE contains(text, w) ORDER BY ALL`
    )
  })
  return found.flat()
})
