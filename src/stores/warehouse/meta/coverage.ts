/** `meta.coverage`: what the last run of a location did with every read operation of the API. */
import { literal } from "../sql.ts"

export interface CoverageRow {
  readonly operation: string
  readonly purpose: string
  readonly tables: ReadonlyArray<string>
  readonly status: string
  readonly reason: string
}

/** Replaces the rows of a location. */
export const coverageStatements = (
  run: string,
  location: string,
  rows: ReadonlyArray<CoverageRow>
): ReadonlyArray<string> => [
  `DELETE FROM meta.coverage WHERE location_id = ${literal(location)}`,
  `INSERT INTO meta.coverage (run_id, location_id, operation, purpose, tables, status, reason) VALUES ${rows
    .map(
      ({ operation, purpose, tables, status, reason }) =>
        `(${[run, location, operation, purpose].map(literal).join(", ")}, [${tables.map(literal).join(", ")}], ${literal(status)}, ${literal(reason)})`
    )
    .join(", ")}`
]
