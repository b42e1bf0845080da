/** The history: the runs, and what one of them did. It is read by the command that anybody can type. */
import { HttpError } from "../explore/http.ts"
import type { Ask, Row } from "./ask.ts"

const shownMax = 1000
/** Runs of which the changes are added up; an older one shows them when it is opened. */
const summedMax = 400

const newest = (count: number) => `run_id IN (SELECT run_id FROM meta.runs ORDER BY run_id DESC LIMIT ${count})`
const sum = (rows: ReadonlyArray<Row>, column: string) =>
  rows.reduce((total, row) => total + Number(row[column] ?? 0), 0)

/** Newest first. */
export const runsOf = async (ask: Ask) => {
  const [runs, readings] = await Promise.all([
    ask.rows(
      "meta.runs",
      ["run_id", "command", "started_at", "finished_at", "status", "exit_code", "requests"],
      newest(shownMax)
    ),
    ask.rows(
      "meta.run_resources",
      ["run_id", "new_rows", "changed_rows", "deleted_rows", "warnings"],
      `(new_rows > 0 OR changed_rows > 0 OR deleted_rows > 0 OR len(warnings) > 0) AND ${newest(summedMax)}`
    )
  ])
  const readingsByRun = Map.groupBy(readings, (row) => row["run_id"])
  return runs
    .map((run, index) => {
      const own = readingsByRun.get(run["run_id"]) ?? []
      return {
        run: run["run_id"],
        command: run["command"],
        startedAt: run["started_at"],
        finishedAt: run["finished_at"] ?? undefined,
        status: run["status"] ?? "interrupted",
        exitCode: run["exit_code"] ?? undefined,
        requests: run["requests"] ?? undefined,
        ...(runs.length - index <= summedMax && {
          new: sum(own, "new_rows"),
          changed: sum(own, "changed_rows"),
          deleted: sum(own, "deleted_rows"),
          warnings: own.reduce((count, row) => count + textsOf(row["warnings"]).length, 0)
        })
      }
    })
    .toSorted((one, other) => (String(one.run) < String(other.run) ? 1 : -1))
}

/** Requests of the runs that began today, in UTC, which is the day of the service's limit. */
export const requestsTodayOf = async (ask: Ask, now = Date.now()) => {
  const today = new Date(now).toISOString().slice(0, 10).replaceAll("-", "")
  const rows = await ask.rows("meta.run_resources", ["location_id", "requests"], `run_id >= '${today}'`)
  return Array.from(
    Map.groupBy(rows, (row) => row["location_id"]),
    ([location, own]) => ({ location, requests: sum(own, "requests") })
  )
}

/** What a run did, by resource, with what it rejected and what was new in what the service sends. */
export const runOf = async (ask: Ask, run: unknown) => {
  if (typeof run !== "string" || !/^[0-9TZ]{10,40}$/.test(run))
    throw new HttpError(400, "request", "run is the id of a run, such as 20260131T033000000Z.")
  const where = `run_id = '${run}'`
  const [resources, values, records, changes] = await Promise.all([
    ask.rows(
      "meta.run_resources",
      [
        ..."location_id,resource,mode,status,requests,pages,records,new_rows,changed_rows,deleted_rows".split(","),
        "warnings"
      ],
      where
    ),
    ask.rows("meta.rejected_values", ["table_name", "column_name", "reason"], where),
    ask.rows("meta.rejected_records", ["table_name", "reason"], where),
    ask.rows("meta.schema_changes", ["table_name", "field", "kind"], `first_run_id = '${run}'`)
  ])
  const rejects = Map.groupBy([...values, ...records], (row) =>
    JSON.stringify([row["table_name"], row["column_name"] ?? null, row["reason"]])
  )
  const changed = (row: Row) => sum([row], "new_rows") + sum([row], "changed_rows") + sum([row], "deleted_rows")
  return {
    run,
    resources: resources.map((row) => ({
      location: row["location_id"],
      resource: row["resource"],
      mode: row["mode"],
      status: row["status"],
      requests: Number(row["requests"]),
      pages: Number(row["pages"]),
      records: Number(row["records"]),
      new: Number(row["new_rows"]),
      changed: Number(row["changed_rows"]),
      deleted: Number(row["deleted_rows"]),
      reasons: textsOf(row["warnings"])
    })),
    rejects: [...rejects.values()].map((rows) => ({
      table: rows[0]!["table_name"],
      column: rows[0]!["column_name"] ?? undefined,
      reason: rows[0]!["reason"],
      count: rows.length
    })),
    schemaChanges: changes.map((row) => ({ table: row["table_name"], column: row["field"], change: row["kind"] })),
    changedTables: Map.groupBy(
      resources.filter((row) => changed(row) > 0 && /^[a-z_0-9]+$/.test(String(row["resource"]))),
      (row) => String(row["resource"])
    )
      .entries()
      .map(([table, rows]) => ({
        table,
        rows: rows.reduce((total, row) => total + changed(row), 0),
        address: `#/table/main/${table}_changes?${new URLSearchParams({ where: JSON.stringify(["run_id", "equals", run]) }).toString()}`
      }))
      .toArray()
  }
}

const textsOf = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.map(String) : [])
