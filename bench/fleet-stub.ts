/**
 * A night of a fleet in which each sync is replaced by the time that it takes. The queue is real: PostgreSQL, and the statements
 * of the commands and workers. The time is simulated: the database has a function `now()` of its own, with the time of the
 * simulation. A fifth of the syncs find the service down at first, and workers are killed and replaced.
 */
import { Effect } from "effect"
import * as Redacted from "effect/Redacted"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { commandLayer } from "../src/features/fleet/commands/fleet-database.ts"
import { type Database, withBoss } from "../src/features/fleet/database.ts"
import { numbersOf } from "../src/features/fleet/fence.ts"
import { type Claim, type Job, begin, end, enqueue, touched } from "../src/features/fleet/jobs.ts"
import { nextOf } from "../src/features/fleet/retry.ts"
import { heartbeatSeconds, queues } from "../src/features/fleet/tables.ts"
import { exitCodes } from "../src/values/failure.ts"
import { sqlIn, startServer } from "../test/support/postgres.ts"
import { randomFrom } from "../test/support/random.ts"
import { cpuOf, newFolder, run as runCommand } from "./measure.ts"

const parallel = 4
const connectionsEach = 5
const jitterMs = 6 * 3600_000
const outageShare = 0.2
const outageMs = 3000
/** How often a worker is killed, and when another one starts. */
const [killEveryMs, replacedMs] = [10 * 60_000, 60_000]
/** Of the places, if nothing fails. */
const busyShare = 0.75

/** What a sync takes at the limit of the service: 106 requests without changes, and 250 and more with changes. */
const durationOf = (random: () => number) => 1000 * (random() < 0.8 ? 9 + 4 * random() : 25 * 3 ** random())
const meanMs = 1000 * (0.8 * 11 + 0.2 * 45)

interface Live {
  readonly job: Job
  readonly claim: Claim
  readonly worker: number
  readonly endsAt: number
  readonly isOutage: boolean
}

/** `hours`: how much of the night is simulated; each hour of the jitter is like the others. */
export const simulate = async (locations: number, hours: number): Promise<void> => {
  const postgres = await startServer()
  const begun = Date.now()
  try {
    await sqlIn(
      postgres,
      `CREATE SCHEMA simulated; CREATE SEQUENCE simulated.clock MINVALUE 0 START ${begun};
       CREATE FUNCTION simulated.now() RETURNS timestamptz STABLE LANGUAGE sql
         AS 'SELECT pg_catalog.to_timestamp(last_value / 1000.0) FROM simulated.clock';
       ALTER DATABASE postgres SET search_path = simulated, pg_catalog, public`
    )
    const folder = newFolder()
    const file = join(folder, "locations.csv")
    const ids = Array.from({ length: locations }, (_, index) => `L${String(index).padStart(19, "0")}`)
    writeFileSync(file, `location\n${ids.join("\n")}\n`)
    const environment = {
      SLUICE_FLEET_DATABASE: postgres.url,
      SLUICE_FLEET_STATE: join(folder, "state"),
      SLUICE_FLEET_TOKEN: `file:${folder}/{location}`
    }
    const postmaster = Number((await sqlIn(postgres, "SELECT pg_read_file('postmaster.pid')")).split("\n")[0])
    const measured = async (name: string, work: () => Promise<unknown>, times = 1) => {
      const [at, cpu] = [performance.now(), cpuOf(postmaster)]
      for (let n = 0; n < times; n++) await work()
      const seconds = (performance.now() - at) / 1000
      const unit = times === 1 ? "s" : "ms each"
      const shown = (value: number) => `${((value * (times === 1 ? 1 : 1000)) / times).toFixed(2)} ${unit}`
      console.log(`${name}: ${shown(seconds)}, CPU of PostgreSQL ${shown(cpuOf(postmaster) - cpu)}`)
    }
    const command = (...args: ReadonlyArray<string>) => runCommand(["fleet", ...args], environment)
    const workers = Math.ceil((locations * meanMs) / jitterMs / parallel / busyShare)
    console.log(
      `${locations} locations, ${workers} workers of ${parallel} places, ${workers * connectionsEach} connections, jitter 6 h`
    )
    await measured("import", () => command("locations", "import", file))
    // pg-boss asks a function of its own for the time.
    await sqlIn(
      postgres,
      `CREATE OR REPLACE FUNCTION sluice_fleet.job_now() RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT simulated.now()'`
    )
    const night = Effect.gen(function* () {
      const ask = Effect.runPromiseWith(yield* Effect.context<Database>())
      yield* Effect.promise(() => run({ ask, workers, begun, hours, measured, status: () => command("status") }))
    })
    await Effect.runPromise(night.pipe(Effect.provide(commandLayer(Redacted.make(postgres.url)))))
    await measured("fleet status after the night", () => command("status"))
    console.log(`size: ${await sqlIn(postgres, "SELECT pg_size_pretty(pg_database_size('postgres'))")}`)
    console.log(await sqlIn(postgres, "SELECT state, count(*) FROM sluice_fleet.runs GROUP BY 1 ORDER BY 1"))
  } finally {
    await postgres.stop()
  }
}

interface Night {
  readonly ask: <A, E>(effect: Effect.Effect<A, E, Database>) => Promise<A>
  readonly workers: number
  readonly begun: number
  readonly hours: number
  readonly measured: (name: string, work: () => Promise<unknown>, times?: number) => Promise<void>
  readonly status: () => Promise<unknown>
}

const run = async ({ ask, begun, hours, measured, status, workers }: Night) => {
  const random = randomFrom(1)
  const boss = await ask(withBoss((one) => Promise.resolve(one)))
  const sql = async (text: string) => (await boss.getDb().executeSql(text, [])).rows as Array<Record<string, unknown>>
  await measured("queueing a night", () => ask(enqueue(undefined, { kind: "sync" }, jitterMs)))
  const jobs = await sql(
    `SELECT id, extract(epoch FROM start_after)::float8 * 1000 AS due FROM sluice_fleet.job WHERE name = '${queues.runs}' ORDER BY due DESC`
  )
  const planned = new Map(jobs.map(({ id, due }) => [String(id), Number(due)]))
  /** When runs can begin: the first times, the last of which is the next one; and the others. */
  const first = [...planned.values()]
  let again: Array<number> = []
  let live: Array<Live> = []
  const free = new Map(Array.from({ length: workers }, (_, index) => [index, parallel]))
  let [now, nextKill, names, killed, outages, lateMinute, lateJitter] = [
    begun,
    begun + killEveryMs,
    workers,
    0,
    0,
    0,
    0
  ]
  /** Workers that start, and the time at which those that were killed are missed. */
  let [starts, missed]: [Array<number>, Array<readonly [at: number, runs: number]>] = [[], []]
  const earliest = (times: ReadonlyArray<number>) => Math.min(Infinity, ...times)
  const isLate = (id: string, ms: number) => Number(now - planned.get(id)! > ms)
  let isHalf = false
  const night = async () => {
    while (first.length + again.length + live.length + missed.length > 0 && now < begun + hours * 3600_000) {
      const worker = [...free].find(([, places]) => places > 0)?.[0]
      const due = worker === undefined ? Infinity : Math.min(first.at(-1) ?? Infinity, earliest(again))
      const ending = live.toSorted((a, b) => a.endsAt - b.endsAt)[0]
      const missedAt = earliest(missed.map(([at]) => at))
      now = Math.max(now, Math.min(due, ending?.endsAt ?? Infinity, nextKill, earliest(starts), missedAt))
      await sql(`SELECT setval('simulated.clock', ${Math.ceil(now)})`)
      const isNoneDue = Math.min(first.at(-1) ?? Infinity, earliest(again)) > now
      if (!isHalf && now > begun + (Math.min(hours, 6) * 3600_000) / 2 && live.length > 0 && isNoneDue) {
        isHalf = true
        const some = live.slice(0, parallel).map(({ job }) => job)
        await measured("fleet status within the night", status)
        const sign = async () => {
          await touched(boss, some)
          await ask(numbersOf(some.map((job) => job.singletonKey!)))
        }
        await measured("a sign of a worker", sign, 500)
        await measured("a look for a run that finds none", () => boss.fetch(queues.runs), 100)
      }
      if (earliest(starts) <= now) {
        starts = starts.filter((at) => at > now)
        free.set(names++, parallel)
      } else if (nextKill <= now) {
        nextKill = now + killEveryMs
        const one = [...free.keys()][Math.floor(random() * free.size)]!
        free.delete(one)
        killed++
        starts.push(now + replacedMs)
        missed.push([now + (heartbeatSeconds + 1) * 1000, live.filter(({ worker }) => worker === one).length])
        live = live.filter(({ worker }) => worker !== one)
      } else if (missedAt <= now) {
        // The others have given their signs within the last second.
        if (live.length > 0)
          await touched(
            boss,
            live.map(({ job }) => job)
          )
        await boss.supervise(queues.runs)
        for (const [at, runs] of missed) if (at <= now) again.push(...Array.from({ length: runs }, () => now))
        missed = missed.filter(([at]) => at > now)
      } else if (ending !== undefined && ending.endsAt <= now) {
        live.splice(live.indexOf(ending), 1)
        free.set(ending.worker, free.get(ending.worker)! + 1)
        const { claim, isOutage, job } = ending
        const exitCode = isOutage ? exitCodes.later : 0
        const next = nextOf({ exitCode, failures: job.data.failures ?? 0, now })
        await ask(
          end(
            job,
            claim,
            { state: next.state, exitCode, worker: `w${ending.worker}` },
            { exitCode, next, isClean: true }
          )
        )
        if (next.state === "waiting") again.push(next.notBefore)
      } else {
        const [job] = (await boss.fetch(queues.runs, { includeMetadata: true })) as Array<Job>
        if (again.length > 0 && earliest(again) <= now) again.splice(again.indexOf(earliest(again)), 1)
        else first.pop()
        if (job === undefined) continue
        const claim = (await ask(begin(job, `w${worker}`)))!
        const isFirst = claim.number === "1"
        const isOutage = isFirst && random() < outageShare
        if (isFirst) {
          outages += Number(isOutage)
          lateMinute += isLate(job.id, 60_000)
          lateJitter += isLate(job.id, jitterMs)
        }
        const quiet = claim.endedCleanly ? 0 : 6000
        const endsAt = now + quiet + (isOutage ? outageMs : durationOf(random))
        live.push({ job, claim, worker: worker!, endsAt, isOutage })
        free.set(worker!, free.get(worker!)! - 1)
      }
    }
  }
  await measured("all runs of the night", night)
  const share = (count: number) => `${((count / (planned.size - first.length)) * 100).toFixed(2)} %`
  console.log(
    `${planned.size - first.length} locations in ${((now - begun) / 3600_000).toFixed(2)} h; ${killed} workers killed; ${share(outages)} met the outage; begun more than a minute late ${share(lateMinute)}, more than the jitter late ${share(lateJitter)}`
  )
}
