/** A batch of the vault made ready: files that DuckDB reads and the statements that take them in. */
import { Effect } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type SchemaPolicies, isRefused } from "../catalog/policy.ts"
import { type Resource, backfillOf, withinOf } from "../catalog/resource.ts"
import { type Failure, diskFailure } from "../failure.ts"
import type { EndEntry, WindowEntry } from "../vault/frame.ts"
import type { Position } from "../vault/position.ts"
import { Vault } from "../vault/vault.ts"
import { frozenDoubt } from "../warehouse/runs.ts"
import { instantOf, literal } from "../warehouse/sql.ts"
import type { Statement } from "../warehouse/warehouse.ts"
import { wellFormed } from "./convert.ts"
import { countedIn, goneStatements } from "./gone.ts"
import { mergeStatements } from "./merge.ts"
import { type Group, type Pass, Spool, statesOf } from "./spool.ts"

export interface Batch {
  /** Rows first; the last one carries the state of all, so that an interruption only makes some rows come again. */
  readonly transactions: ReadonlyArray<ReadonlyArray<Statement>>
  /** Place in the vault behind it. */
  readonly next: Position
  /** What it takes of the vault. */
  readonly bytes: number
}

/**
 * Each table that a transaction touches costs DuckDB a megabyte or four until it is committed, however few its rows.
 */
const groupsMax = 8
/** Raw bytes of one transaction: with the spool and DuckDB's buffers about ten times that in memory. */
const batchBytesMax = 8 * 1024 * 1024

/** Reads and normalises what stands at a place of the vault; `undefined` where there is no more, or less than asked. */
export const prepareBatch = Effect.fn("load.prepare")(function* (
  { resources, policies }: { readonly resources: ReadonlyArray<Resource>; readonly policies: SchemaPolicies },
  temporary: string,
  from: Position,
  bytesMin: number
): Effect.fn.Return<Batch | undefined, Failure, Vault> {
  const read = yield* (yield* Vault).read(from, batchBytesMax)
  if (read.bytes <= Math.min(bytesMin, batchBytesMax - 1)) return undefined
  // What was found to be gone may come back later: nothing after it is taken in with it.
  const gone = read.frames.findIndex(({ entry }) => entry.kind === "gone")
  const frames = gone < 0 ? read.frames : read.frames.slice(0, gone + 1)
  const next = gone < 0 ? read.next : { ...read.next, offset: frames.at(-1)!.end }

  const spool = new Spool(resources, policies)
  for (const { entry, body } of frames) {
    // Other work must not wait for a whole batch: requests are being timed meanwhile.
    if (entry.kind === "page" || entry.kind === "detail") for (const _ of spool.add(entry, body)) yield* Effect.yieldNow
  }
  const written = yield* Effect.tryPromise({
    try: () => writeFiles(temporary, [...spool.groups.values()]),
    catch: (cause) => diskFailure(`Temporary files in ${temporary} could not be written`, cause)
  })
  const { passes, ends, windows } = statesOf(frames)
  const last = Math.max(0, Math.ceil(written.length / groupsMax) - 1) * groupsMax
  const earlier = Array.from({ length: last / groupsMax }, (_, index) =>
    written.slice(index * groupsMax, (index + 1) * groupsMax).flatMap(groupStatements)
  )
  return {
    next,
    bytes: read.bytes - (read.next.offset - next.offset),
    transactions: [
      ...earlier,
      [
        ...written.slice(last).flatMap(groupStatements),
        ...(gone < 0 ? [] : goneStatements(resources, frames[gone]!)),
        ...written.flatMap(countStatements),
        ...written.flatMap(driftStatements),
        ...written.flatMap((group) => frozenStatements(group, policies)),
        ...passes.flatMap(passStatements),
        ...ends.flatMap((end) => [end, ...endsWithin(resources, end)]).flatMap(endStatements),
        ...windows.flatMap(windowStatements),
        ...positionStatements(next)
      ]
    ]
  }
})

export const positionStatements = ({ segment, offset }: Position): ReadonlyArray<string> => [
  "DELETE FROM meta.position",
  `INSERT INTO meta.position VALUES (${segment}, ${offset})`
]

type Part = "rows" | "parents" | "rejectedValues" | "rejectedRecords"
interface Written extends Group {
  /** FROM clause that reads the lines of a part. */
  readonly lines: (part: Part, columns: string) => string
}

const writeFiles = async (folder: string, groups: ReadonlyArray<Group>): Promise<ReadonlyArray<Written>> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return Promise.all(
    groups.map(async (group, index) => {
      const path = (part: Part) => join(folder, `${index}-${part}.ndjson`)
      let longest = 0
      for (const part of ["rows", "parents", "rejectedValues", "rejectedRecords"] as const) {
        longest = Math.max(longest, group[part].longest)
        await writeFile(path(part), group[part].bytes(), { mode: 0o600 })
      }
      // DuckDB sizes its buffers by the longest line it is told to expect.
      const size = Math.max(1024 * 1024, longest * 4)
      return {
        ...group,
        lines: (part, columns) =>
          `read_json(${literal(path(part))}, format = 'newline_delimited', maximum_object_size = ${size}, columns = {${columns}})`
      }
    })
  )
}

const groupStatements = (group: Written): ReadonlyArray<Statement> => {
  const { location, run, at, label } = group
  const origin = `${literal(run)}, ${literal(location)}`
  return [
    `INSERT INTO meta.run_resources (run_id, location_id, resource) VALUES (${origin}, ${literal(label)}) ON CONFLICT DO NOTHING`,
    ...(group.rows.length + group.parents.length === 0
      ? []
      : mergeStatements({
          ...group,
          counted: countedIn(group),
          rows: (columns) => group.lines("rows", columns),
          parents: group.parents.length > 0 ? (columns) => group.lines("parents", columns) : undefined
        })),
    ...(group.rejectedValues.length === 0
      ? []
      : [
          // A value is told once for each version of its row, not once a night.
          `INSERT INTO meta.rejected_values SELECT ${origin}, "table", key, "column", value, reason, ${instantOf(at)}
           FROM ${group.lines("rejectedValues", `"table": 'VARCHAR', key: 'VARCHAR', "column": 'VARCHAR', value: 'VARCHAR', reason: 'VARCHAR', _n: 'BIGINT'`)}
           SEMI JOIN stage USING (_n)`
        ]),
    ...(group.rejectedRecords.length === 0
      ? []
      : [
          `INSERT INTO meta.rejected_records SELECT DISTINCT ${origin}, r."table", r.record, r.reason, ${instantOf(at)}
           FROM ${group.lines("rejectedRecords", `"table": 'VARCHAR', record: 'VARCHAR', reason: 'VARCHAR'`)} AS r
           ANTI JOIN meta.rejected_records AS known ON known.table_name = r."table" AND known.record = r.record AND known.reason = r.reason`
        ])
  ]
}

/** Pages and records count where the state is: once. */
const countStatements = (group: Written): ReadonlyArray<string> => [
  `UPDATE meta.run_resources SET pages = pages + ${group.pages}, records = records + ${group.records},
     rejected_values = rejected_values + ${group.rejectedValueCount},
     rejected_records = rejected_records + ${group.rejectedRecordCount}, lost_records = lost_records + ${group.lostCount},
     finished_at = ${instantOf(group.at)}
   WHERE ${countedIn(group)}`
]

/** A change of the service's records, told once with its first sample, and counted from then on. */
const driftStatements = ({ drift, location, run, at }: Written): ReadonlyArray<string> =>
  [...drift.values()].map(
    ({ table, field, kind, sample, count }) =>
      `INSERT INTO meta.schema_changes VALUES (${[location, table, field, kind, sample.toWellFormed(), run].map(literal).join(", ")},
         ${instantOf(at)}, ${count}) ON CONFLICT DO UPDATE SET seen = seen + excluded.seen`
  )

/** What a frozen resource must not send is noted where its verdict will be. */
const frozenStatements = (group: Written, policies: SchemaPolicies): ReadonlyArray<string> => {
  const refused = [...group.drift.values()].filter(({ table, field }) =>
    isRefused(policies, group.resource, table, field)
  )
  const places = refused.map(({ table, field }) => literal(`${table}.${field}`))
  return places.length === 0
    ? []
    : [
        `UPDATE meta.run_resources SET frozen_out = list_sort(list_distinct(list_concat(frozen_out, [${places.join(", ")}])))
         WHERE ${countedIn(group)}`
      ]
}

const passStatements = ({ reading, entry: { location, pass, progress } }: Pass): ReadonlyArray<string> => [
  `INSERT OR REPLACE INTO meta.passes VALUES (${[location, reading, pass, wellFormed(progress)].map(literal).join(", ")})`
]

const windowStatements = ({ run, location, resource, window: [from, to] }: WindowEntry): ReadonlyArray<string> => [
  `DELETE FROM meta.passes WHERE location_id = ${literal(location)} AND resource = ${literal(backfillOf(resource))}`,
  `INSERT INTO meta.backfilled VALUES (${[location, resource].map(literal).join(", ")}, ${instantOf(from)}, ${instantOf(to)}, ${literal(run)})`
]

/** Tables that are read within the pages of another end with it. */
const endsWithin = (resources: ReadonlyArray<Resource>, { outcome, ...end }: EndEntry): ReadonlyArray<EndEntry> => {
  const { mode, verdict, doubts } = outcome
  return withinOf(resources, end.resource).map(({ table }) => ({
    ...end,
    resource: table,
    outcome: { mode, verdict, doubts, requests: 0 }
  }))
}

/** A reading that ended completely moves the watermark; one that did not leaves it, and its passes, where they are. */
const endStatements = ({ run, location, resource, at, outcome }: EndEntry): ReadonlyArray<string> => {
  const { mode, verdict, doubts, requests, since, watermark, total, way } = outcome
  const here = `location_id = ${literal(location)} AND resource = ${literal(resource)}`
  const when = (milliseconds: number | undefined) => (milliseconds === undefined ? "NULL" : instantOf(milliseconds))
  return [
    `INSERT INTO meta.run_resources (run_id, location_id, resource) VALUES (${[run, location, resource].map(literal).join(", ")}) ON CONFLICT DO NOTHING`,
    `UPDATE meta.run_resources SET mode = ${literal(mode)}, verdict = ${literal(verdict)}, doubts = [${doubts.map(literal).join(", ")}],
       requests = requests + ${requests}, since = ${when(since)}, finished_at = ${instantOf(at)} WHERE run_id = ${literal(run)} AND ${here}`,
    `UPDATE meta.run_resources SET verdict = 'complete with doubts',
       doubts = list_append(doubts, lost_records || ' records have no key and are among the rejected records')
     WHERE run_id = ${literal(run)} AND ${here} AND verdict <> 'incomplete' AND lost_records > 0`,
    `UPDATE meta.run_resources SET verdict = 'incomplete', doubts = list_append(doubts, ${frozenDoubt("frozen_out")})
     WHERE run_id = ${literal(run)} AND ${here} AND len(frozen_out) > 0`,
    // A window of the past says nothing of what is new.
    ...(verdict === "incomplete" || mode === "window"
      ? []
      : [
          `DELETE FROM meta.passes WHERE ${here}`,
          `DELETE FROM meta.seen WHERE ${here}`,
          `INSERT INTO meta.watermarks VALUES (${literal(location)}, ${literal(resource)}, ${when(watermark)}, ${instantOf(at)},
             ${mode === "full" ? instantOf(at) : "NULL"}, ${literal(total ?? null)}, ${requests}, ${literal(way === undefined ? null : JSON.stringify(way))})
           ON CONFLICT DO UPDATE SET watermark = greatest(watermark, excluded.watermark), complete_at = excluded.complete_at,
             full_complete_at = coalesce(excluded.full_complete_at, full_complete_at), total = coalesce(excluded.total, total),
             requests = excluded.requests, way = coalesce(excluded.way, way)`
        ])
  ]
}
