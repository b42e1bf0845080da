/** `meta.known_pages`: pages of lists that are read in full each time, and the rows that they became. */
import { query } from "../query.ts"
import { literal } from "../sql.ts"
import { type Reading, isOneOf } from "./reading.ts"

/** The pages of a location. The keys of a page are one text, because to make a value of each takes several times as long. */
export const pagesOf = (location: string) =>
  query(
    { label: String, digest: String, rows: String, keys: String },
    `SELECT resource AS label, digest, "rows", array_to_string(keys, chr(0)) AS keys FROM meta.known_pages
     WHERE location_id = ${literal(location)}`
  )

/** `from`: SQL for a relation with location_id, resource, digest, rows, keys. */
export const addKnownPages = (from: string): string =>
  `INSERT INTO meta.known_pages (location_id, resource, digest, "rows", keys)
   SELECT location_id, resource, digest, "rows", keys FROM ${from}`

/** Removes the pages of a reading other than these. */
export const keepKnownPages = (reading: Reading, digests: ReadonlyArray<string>): string =>
  `DELETE FROM meta.known_pages WHERE ${isOneOf([reading])} AND digest NOT IN (${digests.map(literal).join(", ")})`
