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

const key = ["run_id", "location_id", "resource"]

const addToRow = [
  ...countColumns.map((count) => `${count} = r.${count} + v.${count}`),
  ...columnsOfEnd.map((column) => `${column} = if(v.reading IS NULL, r.${column}, v.${column})`),
  ...["status", "warnings"].map((column) => `${column} = if(v.reading IS NULL, r.${column}, NULL)`),
  "finished_at = coalesce(v.finished_at, r.finished_at)"
].join(", ")

/** A list is replaced with its whole row, so only where one has changed. */
const addBlocked =
  "blocked_fields = if(v.blocked_fields IS NULL, r.blocked_fields, list_sort(list_distinct(list_concat(r.blocked_fields, v.blocked_fields))))"

/** What a transaction adds to `meta.run_resources`. */
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

  /** Statements that write the changes so far; later ones start from nothing. ON CONFLICT would take twice their time. */
  take(): ReadonlyArray<string> {
    const rows = this.changes
      .values()
      .map(({ row, counts, blocked, end, at }) => [
        ...[row.run, row.location, row.label].map(literal),
        ...countColumns.map((column) => counts.get(column) ?? 0),
        blocked.size === 0 ? "NULL::VARCHAR[]" : `list_sort(${listOf(blocked)})`,
        `${literal(end?.mode)}::VARCHAR`,
        end?.since === undefined ? "NULL::TIMESTAMPTZ" : instantOf(end.since),
        `${literal(end && JSON.stringify({ shortfalls: end.shortfalls, warnings: end.warnings }))}::JSON`,
        at === undefined ? "NULL::TIMESTAMPTZ" : instantOf(at)
      ])
    const values = [...rows].map((row) => `(${row.join(", ")})`)
    const isBlocked = this.changes.values().some(({ blocked }) => blocked.size > 0)
    this.changes.clear()
    if (values.length === 0) return []
    const from = `(VALUES ${values.join(", ")}) AS v (${[...key, ...columns].join(", ")})`
    return [
      `UPDATE meta.run_resources AS r SET ${addToRow}${isBlocked ? `, ${addBlocked}` : ""}
       FROM ${from} WHERE ${key.map((column) => `r.${column} = v.${column}`).join(" AND ")}`,
      `INSERT INTO meta.run_resources BY NAME FROM ${from} ANTI JOIN meta.run_resources USING (${key.join(", ")})`
    ]
  }

  private changeOf(row: Counted): Change {
    const name = JSON.stringify([row.run, row.location, row.label])
    const existing = this.changes.get(name)
    if (existing) return existing
    const change: Change = { row, counts: new Map(), blocked: new Set() }
    this.changes.set(name, change)
    return change
  }
}
