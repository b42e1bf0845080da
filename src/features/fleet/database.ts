/** PostgreSQL, as the fleet uses it: by the connections of pg-boss, which decides who runs a location, and when. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { Db, PgBoss } from "pg-boss"

/** What PostgreSQL or the connection reported; never the address, which may contain a password. */
export class DatabaseError extends Schema.TaggedError<DatabaseError>()("DatabaseError", { detail: Schema.String }) {
  override get message(): string {
    return this.detail
  }
}

export class Database extends Context.Service<Database, PgBoss>()("sluice/fleet/Database") {}

type Parameter = string | number | boolean | null

export const withBoss = <A>(work: (boss: PgBoss) => Promise<A>) =>
  Effect.flatMap(Database, (boss) => Effect.tryPromise({ try: () => work(boss), catch: databaseError }))

/** Statements of pg-boss with `{ db }` are part of the transaction. */
export const inTransaction = <A>(work: (boss: PgBoss, db: Db) => Promise<A>) =>
  withBoss(async (boss) => {
    const { commit, db, rollback } = await boss.getDb().beginTransaction!()
    try {
      const result = await work(boss, db)
      await commit()
      return result
    } catch (error) {
      await rollback()
      throw error
    }
  })

export const rowsOf = async <Row extends object>(db: Db, sql: string, ...parameters: ReadonlyArray<Parameter>) =>
  (await db.executeSql(sql, [...parameters])).rows as ReadonlyArray<Row>

export const query = <Row extends object>(sql: string, ...parameters: ReadonlyArray<Parameter>) =>
  withBoss((boss) => rowsOf<Row>(boss.getDb(), sql, ...parameters))

/** A restart of PostgreSQL takes seconds, and no run fails because of it. */
export const patiently = <A, R>(statement: Effect.Effect<A, DatabaseError, R>): Effect.Effect<A, never, R> =>
  statement.pipe(
    Effect.tapError(({ detail }) =>
      Effect.annotateLogs(Effect.logWarning("a statement failed and is repeated"), { detail })
    ),
    Effect.retry(Schedule.spaced("1 second")),
    Effect.orDie
  )

/** The words of PostgreSQL or of the system. An address with several numbers has an error of each. */
export const databaseError = (error: unknown): DatabaseError => {
  const first = error instanceof AggregateError ? error.errors[0] : error
  return new DatabaseError({ detail: first instanceof Error ? first.message : String(first) })
}
