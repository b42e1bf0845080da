/** Connects to the database of the fleet. The first one that does makes its queues and tables. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { type ConstructorOptions, PgBoss } from "pg-boss"
import { type PostgresAccess, reaching } from "../../../destinations/postgres/address.ts"
import { Database, databaseError } from "../database.ts"
import { createTables, heartbeatSeconds, queues, schema } from "../tables.ts"

/** After a restart of the server, a statement on an old connection may never be answered. */
const answerMs = 15_000
const day = 24 * 3600

/** One location has one open job. */
const runsQueue = {
  policy: "exclusive",
  deadLetter: queues.failed,
  heartbeatSeconds,
  notify: true,
  // Failures count in the data of a job, by what its exit code means; a worker that dies is none.
  retryLimit: 1_000_000,
  retryDelay: 0,
  // No longer time is allowed. A run that is interrupted continues.
  expireInSeconds: day,
  retentionSeconds: 90 * day,
  deleteAfterSeconds: 90 * day
}

/** `retries`: how often it is tried again, each second, if the server does not answer. */
export const databaseLayer = (url: Redacted.Redacted, options: Omit<ConstructorOptions, "schema">, retries = 0) =>
  Layer.effect(
    Database,
    Effect.acquireRelease(
      Effect.retry(
        Effect.tryPromise({
          try: () => reaching(Redacted.value(url), (access) => start(access, options)),
          catch: databaseError
        }),
        {
          times: retries,
          schedule: Schedule.spaced("1 second")
        }
      ),
      (boss) => Effect.ignore(Effect.tryPromise(() => boss.stop({ timeout: 1000 })))
    )
  )

const start = async (access: PostgresAccess, options: ConstructorOptions): Promise<PgBoss> => {
  const pool = { connectionTimeoutMillis: 5000, query_timeout: answerMs, keepAlive: true }
  const boss = new PgBoss({ ...access, application_name: "sluice", schema, ...pool, ...options })
  // Without a listener, an error of a timer would end the process.
  boss.on("error", () => {})
  try {
    await boss.start()
    await boss.createQueue(queues.failed, { retentionSeconds: 90 * day })
    await boss.createQueue(queues.runs, runsQueue)
    await boss.createQueue(queues.nights)
    await boss.getDb().executeSql(createTables)
    return boss
  } catch (error) {
    await boss.stop({ graceful: false })
    throw error
  }
}
