/** The history of the page, computed a second time from drawn rows of `meta`. */
import { assert, it } from "@effect/vitest"
import type { Ask } from "../../src/features/serve/ask.ts"
import { requestsTodayOf, runOf, runsOf } from "../../src/features/serve/runs.ts"
import { randomFrom } from "../support/random.ts"

const random = randomFrom(21)
const upTo = (max: number) => Math.floor(random() * (max + 1))
const oneOf = <One>(of: ReadonlyArray<One>): One => of[upTo(of.length - 1)]!
const day = (n: number) => `2027-03-${String(n).padStart(2, "0")}`
const runs = Array.from({ length: 20 }, (_, index) => ({
  run_id: `${day(index + 1).replaceAll("-", "")}T020000000Z`,
  command: oneOf(["sync", "backfill"]),
  started_at: `${day(index + 1)} 02:00:00`,
  finished_at: oneOf([null, `${day(index + 1)} 03:00:00`]),
  status: oneOf([null, "complete", "incomplete"]),
  exit_code: oneOf([0, 0, 3, null]),
  requests: oneOf([null, upTo(90)])
}))
const readings = runs.flatMap(({ run_id }) =>
  Array.from({ length: upTo(5) }, (_, index) => ({
    run_id,
    location_id: oneOf(["a", "b"]),
    resource: ["contacts", "contacts/notes", "orders", "tasks", "users"][index]!,
    mode: "full",
    status: "complete",
    requests: upTo(30),
    pages: upTo(3),
    records: upTo(99),
    new_rows: upTo(3),
    changed_rows: upTo(3),
    deleted_rows: upTo(2),
    warnings: oneOf([[], ["one"], ["one", "two"]])
  }))
)
const rejected = Array.from({ length: 30 }, () => ({
  table_name: oneOf(["contacts", "orders"]),
  column_name: oneOf(["phone", "total"]),
  reason: oneOf(["x", "y"])
}))
const records = Array.from({ length: 8 }, () => ({ table_name: oneOf(["contacts", "orders"]), reason: "x" }))
const changes = [{ table_name: "orders", field: "tip", kind: "new field" }]
const sum = <One>(rows: ReadonlyArray<One>, of: (row: One) => number) => rows.reduce((all, row) => all + of(row), 0)

/** The rows of each table, of which a condition names a run or the first moment. */
const ask = {
  rows: async (table: string, _: unknown, condition: string) => {
    const [, run] = /run_id = '(\w+)'/.exec(condition) ?? []
    const [, from = ""] = /run_id >= '(\d+)'/.exec(condition) ?? []
    if (table === "meta.runs") return runs
    if (table === "meta.run_resources")
      return readings.filter((row) => (run === undefined ? row.run_id >= from : row.run_id === run))
    return { "meta.rejected_values": rejected, "meta.rejected_records": records, "meta.schema_changes": changes }[table]
  }
} as unknown as Ask

it("a run of a terminal has what its row says and the sums of its readings, the newest first", async () => {
  const found = await runsOf(ask, [])
  assert.deepStrictEqual(
    found.map((one) => ({ ...one, text: undefined })),
    runs.toReversed().map((run) => {
      const own = readings.filter((row) => row.run_id === run.run_id)
      return {
        run: run.run_id,
        by: "terminal",
        what: run.command === "sync" ? "Sync" : "Backfill",
        startedAt: run.started_at,
        finishedAt: run.finished_at ?? undefined,
        status: run.status ?? "interrupted",
        exitCode: run.exit_code ?? undefined,
        requests: run.requests ?? undefined,
        new: sum(own, (row) => row.new_rows),
        changed: sum(own, (row) => row.changed_rows),
        deleted: sum(own, (row) => row.deleted_rows),
        warnings: sum(own, (row) => row.warnings.length),
        text: undefined
      }
    }) as never
  )
  // Only what did not end well is explained.
  assert.deepStrictEqual(
    found.map((one) => one.text !== undefined),
    runs.toReversed().map((run) => run.exit_code === 3)
  )
})

it("one run has its readings, its rejects by place and reason, and the tables that changed", async () => {
  for (const { run_id } of runs) {
    const own = readings.filter((row) => row.run_id === run_id)
    const found = await runOf(ask, [], run_id)
    assert.deepStrictEqual(
      found.resources.map((one) => [
        one.location,
        one.resource,
        one.requests,
        one.new,
        one.changed,
        one.deleted,
        one.reasons
      ]),
      own.map((row) => [
        row.location_id,
        row.resource,
        row.requests,
        row.new_rows,
        row.changed_rows,
        row.deleted_rows,
        row.warnings
      ])
    )
    const lines = [...rejected, ...records.map((one) => ({ ...one, column_name: undefined }))].map(
      (one) => `${one.table_name} ${one.column_name} ${one.reason}`
    )
    assert.deepStrictEqual(
      new Map(found.rejects.map((one) => [`${one.table} ${one.column} ${one.reason}`, one.count])),
      new Map([...new Set(lines)].map((line) => [line, lines.filter((one) => one === line).length]))
    )
    const changed = own.map(
      (row) => [row.resource, row.new_rows + row.changed_rows + row.deleted_rows] as [string, number]
    )
    assert.deepStrictEqual(
      found.changedTables.map((one) => [one.table, one.rows]),
      changed.filter(([resource, n]) => n > 0 && !resource.includes("/"))
    )
    assert.deepStrictEqual(found.schemaChanges, [{ table: "orders", column: "tip", change: "new field" }])
  }
})

it("the requests of today are those of the runs since midnight UTC, by location", async () => {
  const found = await requestsTodayOf(ask, Date.parse("2027-03-18T23:59:00-05:00"))
  const own = readings.filter((row) => row.run_id >= "20270319")
  assert.deepStrictEqual(
    new Map(found.map((one) => [one.location, one.requests])),
    new Map(
      [...Map.groupBy(own, (row) => row.location_id)].map(([location, rows]) => [
        location,
        sum(rows, (row) => row.requests)
      ])
    )
  )
})
