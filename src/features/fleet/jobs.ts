/** Runs, as jobs of pg-boss: how they are queued, begun and ended. */
import { randomUUID } from "node:crypto"
import type { Db, JobWithMetadata, PgBoss } from "pg-boss"
import { inTransaction, rowsOf } from "./database.ts"
import type { Outcome } from "./child.ts"
import { type Fence, release, take } from "./fence.ts"
import type { Next } from "./retry.ts"
import { heldUntil, queues } from "./tables.ts"

export interface Run {
  readonly kind: "sync" | "full" | "all" | "backfill"
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** How often it has failed before. */
  readonly failures?: number
}
export type Job = JobWithMetadata<Run>

/** The locations that a statement concerns; undefined for all. */
export type Chosen = ReadonlyArray<string> | undefined
export const chosen = (locations: Chosen): string | null => (locations === undefined ? null : JSON.stringify(locations))
/** The chosen locations are the first parameter of the statement. */
export const isChosen = (column = "location") =>
  `($1::jsonb IS NULL OR ${column} IN (SELECT jsonb_array_elements_text($1::jsonb)))`

/** A statement that takes longer than 15 seconds counts as one without an answer; a slow server queues so many in a few. */
const insertedAtOnce = 10_000

/**
 * Returns the locations that have a new run; one that has an open run keeps it. The oldest tables go first. With a jitter, each
 * begins at a time by a hash of its id, the same each night, and those that are paused have no run.
 */
export const enqueue = (locations: Chosen, run: Run, jitterMs?: number) =>
  inTransaction(async (boss, db) => {
    const rows = await rowsOf<{ location: string; minute: number; share: number; paused: boolean }>(
      db,
      `SELECT location, coalesce(floor(extract(epoch FROM fresh_at) / 60), 0)::int AS minute, paused,
         ('x' || substr(md5(location), 1, 7))::bit(28)::int::float8 / 268435456 AS share
       FROM sluice_fleet.locations WHERE ${isChosen()}`,
      chosen(locations)
    )
    const jobs = rows
      .filter(({ paused }) => jitterMs === undefined || !paused)
      .map(({ location, minute, paused, share }) => ({
        id: randomUUID(),
        data: run,
        singletonKey: location,
        priority: -minute,
        startAfter: paused ? heldUntil : Math.floor((share * (jitterMs ?? 0)) / 1000)
      }))
    const queued = new Set<string>()
    for (let from = 0; from < jobs.length; from += insertedAtOnce)
      for (const id of (await boss.insert(queues.runs, jobs.slice(from, from + insertedAtOnce), {
        db,
        returnId: true
      })) ?? [])
        queued.add(id)
    return jobs.filter(({ id }) => queued.has(id)).map(({ singletonKey }) => singletonKey)
  })

export interface Claim extends Fence {
  /** Reference to the token of the location. */
  readonly token: string | null
}

/** Takes the location in the transaction in which its run begins; undefined if the job is not this worker's any more. */
export const begin = (job: Job, owner: string) =>
  inTransaction(async (boss, db): Promise<Claim | undefined> => {
    const location = job.singletonKey!
    if ((await touched(boss, [job], db)).size === 0) return undefined
    const sql = "SELECT token FROM sluice_fleet.locations WHERE location = $1"
    const [known] = await rowsOf<Pick<Claim, "token">>(db, sql, location)
    return { ...(await take(db, location, owner, job.id)), token: known?.token ?? null }
  })

/** Says that the worker lives. Returns the jobs that are still its own. */
export const touched = async (boss: PgBoss, jobs: ReadonlyArray<Job>, db?: Db): Promise<ReadonlySet<string>> => {
  const response = await boss.touch(queues.runs, [...jobs], db && { db })
  return new Set((response as { readonly settled?: ReadonlyArray<string> }).settled)
}

export type Result = Pick<Outcome, "message" | "requests" | "requestsLeft"> & {
  readonly next: Next
  /** Null if a signal ended the process. */
  readonly exitCode: number | null
  readonly isClean: boolean
}

/** How long a location waits that has another owner: another engine may run it. */
const otherOwnerMs = 10_000

/**
 * Stores how a run ended. False if the location has another owner now. What only a person can help is left to pg-boss, which
 * moves it to the other queue when its handler ends.
 */
export const end = (job: Job, claim: Fence, output: object, { isClean, next, requestsLeft }: Result) =>
  inTransaction(async (boss, db) => {
    const again = async (output: object, startAfter: Date, failures = job.data.failures ?? 0) => {
      await boss.fail(queues.runs, [job], output, { db })
      await boss.update(queues.runs, { ...job.data, failures }, { id: job.id, startAfter, db })
    }
    if (!(await release(db, claim, isClean))) {
      await again({ ...output, state: "waiting" }, new Date(Date.now() + otherOwnerMs))
      return false
    }
    const [known] = await rowsOf<{ readonly paused: boolean }>(
      db,
      `UPDATE sluice_fleet.locations AS l SET requests_left = coalesce($2::int, requests_left),
         requests_left_at = CASE WHEN $2::int IS NULL THEN requests_left_at ELSE now() END,
         fresh_at = CASE WHEN $3 THEN f.begun_at ELSE fresh_at END
       FROM sluice_fleet.fences AS f WHERE f.location = l.location AND l.location = $1
       RETURNING paused`,
      claim.location,
      requestsLeft ?? null,
      next.state === "done" && job.data.kind !== "backfill"
    )
    if (next.state === "done" || next.state === "partial") await boss.complete(queues.runs, [job], output, { db })
    if (next.state === "waiting")
      await again(
        output,
        known?.paused ? heldUntil : new Date(next.notBefore),
        (job.data.failures ?? 0) + Number(next.isFailure)
      )
    return true
  })
