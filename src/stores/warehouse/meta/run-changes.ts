/** Writes `meta.run_resources`: what the transactions of a load add to its rows. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import type { Reason } from "../../../values/reason.ts"
import { instantOf, literal, selected } from "../sql.ts"
import { Warehouse } from "../warehouse.ts"

/** The key of a row. `label`: a resource, or the label of its children. */
export interface Counted {
  readonly run: string
  readonly location: string
  readonly label: string
}

const countColumns = [
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

/** A row as the warehouse has it. What is no count is an SQL expression. */
interface Stored {
  readonly counts: ReadonlyMap<Count, number>
  readonly blocked: ReadonlySet<string>
  readonly mode: string
  readonly since: string
  readonly status: string
  readonly warnings: string
  readonly reading: string
  readonly finishedAt: string
}

/** A change that adds no end keeps what the row has of one. */
const nothing = { mode: "NULL", since: "NULL", status: "NULL", warnings: "NULL", reading: "NULL", finishedAt: "NULL" }

const identityOf = ({ location, label }: Counted): string => JSON.stringify([location, label])

const listOf = (texts: Iterable<string>): string => `[${[...texts].map(literal).join(", ")}]::VARCHAR[]`

/** The rows of the runs that are being loaded: to write a row whole takes half of the time of adding to it in SQL. */
export class RunRows {
  private readonly stored = new Map<string, Map<string, Stored>>()
  private last: ReadonlySet<string> = new Set()

  /** Reads the rows of the runs of a batch, and forgets others than those of the batch before, which is being committed. */
  read(runs: ReadonlySet<string>): Effect.Effect<void, Failure, Warehouse> {
    for (const run of this.stored.keys()) if (!runs.has(run) && !this.last.has(run)) this.stored.delete(run)
    this.last = runs
    return Effect.forEach(
      [...runs].filter((run) => !this.stored.has(run)),
      (run) => Effect.map(storedRows(run), (rows) => void this.stored.set(run, rows)),
      { discard: true }
    )
  }

  of(run: string): Map<string, Stored> {
    const rows = this.stored.get(run)
    if (rows === undefined) throw new Error(`the rows of run ${run} were not read`)
    return rows
  }

  clear(): void {
    this.stored.clear()
  }
}

const storedRows = Effect.fnUntraced(function* (run: string) {
  const json = (column: string) => `to_json(coalesce(${column}, []))::VARCHAR`
  const rows = yield* (yield* Warehouse).rows(
    `SELECT location_id, resource, ${countColumns.join(", ")}, ${json("blocked_fields")} AS blocked, mode, since::VARCHAR AS since,
       status, warnings IS NULL AS has_none, ${json("warnings")} AS warnings, reading::VARCHAR AS reading, finished_at::VARCHAR AS finished_at
     FROM meta.run_resources WHERE run_id = ${literal(run)}`
  )
  const timeOf = (value: unknown) => (value === null ? "NULL" : `${literal(String(value))}::TIMESTAMPTZ`)
  return new Map(
    rows.map((row): [string, Stored] => [
      identityOf({ run, location: String(row["location_id"]), label: String(row["resource"]) }),
      {
        counts: new Map(countColumns.map((column) => [column, Number(row[column])])),
        blocked: new Set(selected<ReadonlyArray<string>>(row["blocked"])),
        mode: literal(row["mode"]),
        since: timeOf(row["since"]),
        status: literal(row["status"]),
        warnings: row["has_none"] === true ? "NULL" : listOf(selected(row["warnings"])),
        reading: literal(row["reading"]),
        finishedAt: timeOf(row["finished_at"])
      }
    ])
  )
})

/** What a transaction changes in `meta.run_resources`, written by at most two statements. */
export class RunChanges {
  private readonly changes = new Map<string, Change>()
  private readonly rows: RunRows
  /** Puts back what this transaction has replaced in `rows`. */
  private undo: Array<() => void> = []

  constructor(rows: RunRows) {
    this.rows = rows
  }

  /** What follows belongs to a new transaction. */
  begin(): void {
    this.undo = []
  }

  /** The transaction failed, and is repeated. */
  repeat(): void {
    for (const put of this.undo) put()
    this.undo = []
    this.changes.clear()
  }

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

  /** The statements that write the changes so far; later ones start from nothing. */
  take(): ReadonlyArray<string> {
    const [keys, values]: [Array<string>, Array<string>] = [[], []]
    for (const change of this.changes.values()) {
      const { row } = change
      const rows = this.rows.of(row.run)
      const before = rows.get(identityOf(row))
      const after = changed(before, change)
      rows.set(identityOf(row), after)
      this.undo.push(() => void (before ? rows.set(identityOf(row), before) : rows.delete(identityOf(row))))
      const key = [row.run, row.location, row.label].map(literal).join(", ")
      if (before) keys.push(`(${key})`)
      const { counts, blocked, mode, since, status, warnings, reading, finishedAt } = after
      values.push(
        `(${key}, ${countColumns.map((column) => counts.get(column) ?? 0).join(", ")}, ${
          blocked.size === 0 ? "NULL" : `list_sort(${listOf(blocked)})`
        }, ${[mode, since, status, warnings, reading, finishedAt].join(", ")})`
      )
    }
    this.changes.clear()
    return [
      ...(keys.length === 0
        ? []
        : [`DELETE FROM meta.run_resources WHERE (run_id, location_id, resource) IN (VALUES ${keys.join(", ")})`]),
      ...(values.length === 0
        ? []
        : [
            `INSERT INTO meta.run_resources (run_id, location_id, resource, ${countColumns.join(", ")}, blocked_fields, mode, since, status, warnings, reading, finished_at)
             VALUES ${values.join(", ")}`
          ])
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

const changed = (before: Stored | undefined, { counts, blocked, end, at }: Change): Stored => ({
  ...(before ?? nothing),
  counts: new Map(
    countColumns.map((column) => [column, (before?.counts.get(column) ?? 0) + (counts.get(column) ?? 0)])
  ),
  blocked: before ? before.blocked.union(blocked) : blocked,
  ...(end && {
    mode: literal(end.mode),
    since: end.since === undefined ? "NULL" : instantOf(end.since),
    reading: literal(JSON.stringify({ shortfalls: end.shortfalls, warnings: end.warnings })),
    status: "NULL",
    warnings: "NULL"
  }),
  ...(at !== undefined && { finishedAt: instantOf(at) })
})
