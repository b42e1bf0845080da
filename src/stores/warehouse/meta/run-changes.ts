/** What the transactions of a load add to the rows of `meta.run_resources`. */
import type { Reason } from "../../../values/reason.ts"
import { instantOf, literal } from "../sql.ts"

/** The key of a row. `label`: a resource, or the label of its children. */
export interface Counted {
  readonly run: string
  readonly location: string
  readonly label: string
}

export const countColumns = [
  "pages",
  "records",
  "requests",
  "new_rows",
  "changed_rows",
  "deleted_rows",
  "rejected_values",
  "rejected_records",
  "dropped_records"
] as const
type Count = (typeof countColumns)[number]

/** How a reading ended, from its entry in the vault. Times are epoch milliseconds. */
export interface EndOfReading {
  readonly mode: string
  readonly shortfalls: ReadonlyArray<Reason>
  readonly warnings: ReadonlyArray<Reason>
  readonly requests: number
  readonly since?: number | undefined
  readonly at: number
}

interface Change {
  readonly row: Counted
  readonly counts: Map<Count, number>
  /** Fields and values that a frozen schema does not accept, as `table.field`. */
  readonly blocked: Set<string>
  end?: EndOfReading
  /** When the last page was received or the reading ended, epoch milliseconds. */
  at?: number | undefined
}

const listOf = (texts: Iterable<string>): string => `[${[...texts].map(literal).join(", ")}]::VARCHAR[]`

/** An end replaces the one before; without one, the row keeps what it has. */
const columnsOfEnd = ["mode", "since", "reading"] as const

const columns = [...countColumns, "blocked_fields", ...columnsOfEnd, "finished_at"]

const addToRow = `ON CONFLICT DO UPDATE SET ${countColumns.map((count) => `${count} = ${count} + excluded.${count}`).join(", ")},
  blocked_fields = CASE WHEN excluded.blocked_fields IS NULL THEN blocked_fields
    ELSE list_sort(list_distinct(list_concat(blocked_fields, excluded.blocked_fields))) END,
  ${columnsOfEnd.map((column) => `${column} = CASE WHEN excluded.reading IS NULL THEN ${column} ELSE excluded.${column} END`).join(", ")},
  ${["status", "warnings"].map((column) => `${column} = CASE WHEN excluded.reading IS NULL THEN ${column} END`).join(", ")},
  finished_at = coalesce(excluded.finished_at, finished_at)`

/** What a transaction adds to `meta.run_resources`, in one statement. */
export class RunChanges {
  private readonly changes = new Map<string, Change>()

  /** Adds to the counts of a row, which is created if it does not exist. */
  add(row: Counted, counts: { readonly [C in Count]?: number } = {}, at?: number): void {
    const change = this.changeOf(row)
    for (const [column, n] of Object.entries(counts) as ReadonlyArray<[Count, number]>)
      change.counts.set(column, (change.counts.get(column) ?? 0) + n)
    change.at = at ?? change.at
  }

  block(row: Counted, fields: ReadonlyArray<string>): void {
    for (const field of fields) this.changeOf(row).blocked.add(field)
  }

  /** Stores the end of a reading. `setStatuses` sets its status once all pages of the run are loaded. */
  end(row: Counted, end: EndOfReading): void {
    this.add(row, { requests: end.requests }, end.at)
    this.changeOf(row).end = end
  }

  /** The statement that writes the changes so far, if there are any; later ones start from nothing. */
  take(): ReadonlyArray<string> {
    const rows = this.changes
      .values()
      .map(({ row, counts, blocked, end, at }) => [
        ...[row.run, row.location, row.label].map(literal),
        ...countColumns.map((column) => counts.get(column) ?? 0),
        blocked.size === 0 ? "NULL" : `list_sort(${listOf(blocked)})`,
        literal(end?.mode),
        end?.since === undefined ? "NULL" : instantOf(end.since),
        end === undefined ? "NULL" : literal(JSON.stringify({ shortfalls: end.shortfalls, warnings: end.warnings })),
        at === undefined ? "NULL" : instantOf(at)
      ])
    const values = [...rows].map((row) => `(${row.join(", ")})`)
    this.changes.clear()
    return values.length === 0
      ? []
      : [
          `INSERT INTO meta.run_resources (run_id, location_id, resource, ${columns.join(", ")}) VALUES ${values.join(", ")} ${addToRow}`
        ]
  }

  private changeOf(row: Counted): Change {
    const key = JSON.stringify([row.run, row.location, row.label])
    const existing = this.changes.get(key)
    if (existing) return existing
    const change: Change = { row, counts: new Map(), blocked: new Set() }
    this.changes.set(key, change)
    return change
  }
}
