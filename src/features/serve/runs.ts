/** The history: the runs, and what one of them did. It is read by the command that anybody can type. */
import { type RowOf, orNull } from "../../values/rows.ts"
import type { Job } from "../../run/work.ts"
import type { Ask } from "./ask.ts"
import { endText, summaryOf } from "./overview.ts"

const shownMax = 1000
/** Runs of which the changes are added up; an older one shows them when it is opened. */
const summedMax = 400

const newest = (count: number) => `run_id IN (SELECT run_id FROM meta.runs ORDER BY run_id DESC LIMIT ${count})`
/** What a reading counted: of rows that it found new, changed or deleted. */
const counts = { new_rows: Number, changed_rows: Number, deleted_rows: Number }
const sum = <Row>(rows: ReadonlyArray<Row>, count: (row: Row) => number) =>
  rows.reduce((total, row) => total + count(row), 0)
const textsOf = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.map(String) : [])

/** The piece of work that made a run: its result names it, or else the run began while it worked. Run ids are times. */
const workOf = (jobs: ReadonlyArray<Job>, run: string): Job | undefined => {
  const stamp = (instant: string) => instant.replaceAll(/[-:.]/g, "")
  const isOf = ({ record, transcript }: Job) => {
    const named = (transcript.printed?.data as { readonly run?: unknown } | undefined)?.run
    if (typeof named === "string") return named === run
    if (!record.isWriting || record.isPrivate) return false
    return stamp(record.startedAt) <= run && (record.endedAt === undefined || run <= stamp(record.endedAt))
  }
  return jobs.find(isOf)
}

/** All runs, each with the work of the console that made it, and the work that is no run; newest first. */
export const runsOf = async (ask: Ask, jobs: ReadonlyArray<Job>) => {
  const [runs, readings] = await Promise.all([
    ask.rows(
      "meta.runs",
      {
        run_id: String,
        command: String,
        started_at: String,
        finished_at: orNull(String),
        status: orNull(String),
        exit_code: orNull(Number),
        requests: orNull(Number)
      },
      newest(shownMax)
    ),
    ask.rows(
      "meta.run_resources",
      { run_id: String, ...counts, warnings: textsOf },
      `(new_rows > 0 OR changed_rows > 0 OR deleted_rows > 0 OR len(warnings) > 0) AND ${newest(summedMax)}`
    )
  ])
  const readingsByRun = Map.groupBy(readings, (row) => row.run_id)
  const made = new Set<Job>()
  const ofRuns = runs.map((run, index) => {
    const own = readingsByRun.get(run.run_id) ?? []
    const job = workOf(jobs, run.run_id)
    if (job) made.add(job)
    return {
      run: run.run_id,
      ...ofWork(job),
      ...(!job && run.exit_code && { text: endText(run.exit_code, undefined).text }),
      what: job?.record.title ?? `${run.command.charAt(0).toUpperCase()}${run.command.slice(1)}`,
      startedAt: run.started_at,
      finishedAt: run.finished_at ?? undefined,
      status: run.status ?? "interrupted",
      exitCode: run.exit_code ?? undefined,
      requests: run.requests ?? undefined,
      ...(runs.length - index <= summedMax && {
        new: sum(own, (row) => row.new_rows),
        changed: sum(own, (row) => row.changed_rows),
        deleted: sum(own, (row) => row.deleted_rows),
        warnings: sum(own, (row) => row.warnings.length)
      })
    }
  })
  const others = jobs
    .filter((job) => !made.has(job))
    .map((job) => {
      const { endedAt, exitCode, startedAt, title } = job.record
      const { text = "running", level } = summaryOf(job)
      return {
        what: title,
        startedAt,
        finishedAt: endedAt,
        exitCode,
        status: endedAt === undefined ? "running" : (level ?? "none"),
        ...ofWork(job),
        text
      }
    })
  return [...ofRuns, ...others].toSorted((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt))
}

const ofWork = (job: Job | undefined) =>
  job ? { job: job.record.id, by: job.record.by, text: summaryOf(job).text } : { by: "terminal" }

/** Requests of the runs that began today, in UTC, which is the day of the service's limit. */
export const requestsTodayOf = async (ask: Ask, now = Date.now()) => {
  const today = new Date(now).toISOString().slice(0, 10).replaceAll("-", "")
  const rows = await ask.rows("meta.run_resources", { location_id: String, requests: Number }, `run_id >= '${today}'`)
  return Array.from(
    Map.groupBy(rows, (row) => row.location_id),
    ([location, own]) => ({ location, requests: sum(own, (row) => row.requests) })
  )
}

/** What a run did, by resource, with what it rejected and what was new in what the service sends. */
export const runOf = async (ask: Ask, jobs: ReadonlyArray<Job>, run: string) => {
  const where = `run_id = '${run}'`
  const [resources, values, records, changes] = await Promise.all([
    ask.rows(
      "meta.run_resources",
      {
        location_id: String,
        resource: String,
        mode: String,
        status: String,
        requests: Number,
        pages: Number,
        records: Number,
        ...counts,
        warnings: textsOf
      },
      where
    ),
    ask.rows("meta.rejected_values", { table_name: String, column_name: String, reason: String }, where),
    ask.rows("meta.rejected_records", { table_name: String, reason: String }, where),
    ask.rows("meta.schema_changes", { table_name: String, field: String, kind: String }, `first_run_id = '${run}'`)
  ])
  const rejects = Map.groupBy(
    [...values, ...records.map((record) => ({ ...record, column_name: undefined }))],
    ({ column_name, reason, table_name }) => JSON.stringify([table_name, column_name ?? null, reason])
  )
  const changed = (row: RowOf<typeof counts>) => row.new_rows + row.changed_rows + row.deleted_rows
  return {
    run,
    job: workOf(jobs, run)?.record.id,
    resources: resources.map(({ location_id, new_rows, changed_rows, deleted_rows, warnings, ...row }) => ({
      location: location_id,
      ...row,
      new: new_rows,
      changed: changed_rows,
      deleted: deleted_rows,
      reasons: warnings
    })),
    rejects: [...rejects.values()].flatMap((rows) =>
      rows.slice(0, 1).map(({ column_name, reason, table_name }) => ({
        table: table_name,
        column: column_name,
        reason,
        count: rows.length
      }))
    ),
    schemaChanges: changes.map(({ field, kind, table_name }) => ({ table: table_name, column: field, change: kind })),
    changedTables: Map.groupBy(
      resources.filter((row) => changed(row) > 0 && /^[a-z_0-9]+$/.test(row.resource)),
      (row) => row.resource
    )
      .entries()
      .map(([table, rows]) => ({ table, rows: sum(rows, changed) }))
      .toArray()
  }
}
