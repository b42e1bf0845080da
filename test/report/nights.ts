/** Drawn nights of an account: runs of all kinds, and the rows that they leave in the warehouse. */
import { randomFrom } from "../support/random.ts"

export const dayMs = 86_400_000
const minute = 60_000
export const end = Date.UTC(2026, 10, 23, 2, 9)

export const states = ["complete", "complete_with_warnings", "incomplete", "interrupted"] as const

type Row = Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>

const literal = (value: Row[string]): string =>
  value === undefined
    ? "NULL"
    : typeof value === "object"
      ? `[${value.map(literal).join(", ")}]::VARCHAR[]`
      : typeof value === "number" || typeof value === "boolean"
        ? String(value)
        : `'${value}'`
/** Columns that end with `At` are instants. */
export const rowsInto = (table: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const [first] = rows
  if (first === undefined) return []
  const columns = Object.keys(first)
  const valueOf = (column: string, value: Row[string]) =>
    column.endsWith("_at") && value !== undefined ? `epoch_ms(${literal(value)})::TIMESTAMPTZ` : literal(value)
  const values = rows.map((row) => `(${columns.map((column) => valueOf(column, row[column])).join(", ")})`)
  return [`INSERT INTO ${table} (${columns.join(", ")}) VALUES ${values.join(", ")}`]
}

/** Nights with runs of all kinds, and the rows that they leave in `meta`. */
export const draw = (seed: number, locations: ReadonlyArray<string>) => {
  const random = randomFrom(seed)
  const upTo = (max: number) => Math.floor(random() * (max + 1))
  const oneOf = <One>(of: ReadonlyArray<One>): One => of[upTo(of.length - 1)]!
  const nights = Array.from({ length: 4 + upTo(36) }, (_, back) => back).filter((back) => back === 0 || random() < 0.8)
  const runs = nights.toReversed().map((back) => {
    const startedAt = end - back * dayMs - (5 + upTo(400)) * minute
    const command = oneOf(["sync", "sync", "sync", "backfill", "rebuild"])
    const isEnded = back === 0 || random() < 0.85
    const planned = random() < 0.2 ? undefined : 20 + upTo(60)
    return {
      run_id: new Date(startedAt).toISOString().replaceAll(/[-:.]/g, ""),
      command,
      started_at: startedAt,
      finished_at: isEnded ? (back === 0 ? end : startedAt + upTo(200) * minute) : undefined,
      status: isEnded ? oneOf(["complete", "complete_with_warnings", "incomplete", "paused"]) : "interrupted",
      exit_code: isEnded ? oneOf([0, 3, 75]) : undefined,
      requests: isEnded ? upTo(90) : undefined,
      planned_requests: planned
    }
  })
  const resources = ["contacts", "contacts/notes", "orders", "tasks", "users"]
  const readings = runs.flatMap((run) =>
    locations.flatMap((location_id) =>
      resources
        .filter(() => random() < 0.7)
        .map((resource) => {
          const status = oneOf<(typeof states)[number]>([...states, "complete", "complete"])
          const isWarned = status === "incomplete" || status === "complete_with_warnings"
          return {
            run_id: run.run_id,
            location_id,
            resource,
            mode: run.command === "backfill" ? "window" : "full",
            requests: oneOf([0, upTo(30), upTo(30)]),
            new_rows: oneOf([0, upTo(9)]),
            changed_rows: oneOf([0, upTo(9)]),
            deleted_rows: oneOf([0, upTo(3)]),
            status: status === "interrupted" ? undefined : status,
            warnings: isWarned ? Array.from({ length: 1 + upTo(3) }, (_, index) => `reason ${index}`) : [],
            finished_at: Math.min(end, run.started_at + upTo(300) * minute)
          }
        })
    )
  )
  const watermarks = locations.flatMap((location_id) =>
    resources
      .filter(() => random() < 0.8)
      .map((resource) => ({
        location_id,
        resource,
        complete_at: end - upTo(5000) * minute,
        deletions_sought_at: random() < 0.5 ? end - upTo(9000) * minute : undefined
      }))
  )
  const rejected = Array.from({ length: upTo(60) }, (_, index) => ({
    run_id: runs[0]!.run_id,
    location_id: locations[0]!,
    table_name: oneOf(["contacts", "orders"]),
    key: `k${index}`,
    column_name: oneOf(["phone", "total"]),
    value: `12${index}`,
    reason: oneOf(["is no number", "is too long"]),
    rejected_at: end - upTo(3000) * minute
  }))
  const rounded = Array.from({ length: upTo(8) }, () => ({
    run_id: oneOf(runs).run_id,
    location_id: locations[0]!,
    resource: "orders",
    table_name: "orders",
    column_name: oneOf(["total", "tax"]),
    rounded: 1 + upTo(20)
  }))
  const drift = Array.from({ length: upTo(12) }, (_, index) => {
    const kind = oneOf(["new field", "type", "unexpected value"])
    return {
      location_id: locations[0]!,
      table_name: oneOf(["contacts", "orders"]),
      // That of a value names it.
      field: `field_${index}${kind === "unexpected value" ? " = Jane" : ""}`,
      kind,
      sample: "Ab 12",
      first_seen_at: end - upTo(20_000) * minute
    }
  })
  const rows = ["contacts", "orders"].flatMap((table) =>
    Array.from({ length: 20 + upTo(200) }, (_, index) => ({
      table,
      location_id: oneOf(locations),
      id: `id${index}`,
      _deleted_at: random() < 0.2 ? end : undefined
    }))
  )
  return { runs, readings, watermarks, rejected, rounded, drift, resources, rows, locations }
}
