/** Changes one table after another in one transaction, of which those that PostgreSQL refuses leave no trace. */
import * as Effect from "effect/Effect"
import type { ReleaseTable } from "./release-tables.ts"
import type { Server, ServerError } from "./server.ts"
import { type Existing, written } from "./tables.ts"

/** How often a delivery waits again for tables that others have locked: readers of the tables that it has changed wait with it. */
const waitsMax = 3
const pause = "1 second"
const isLocked = ({ code }: ServerError): boolean => code === "55P03"

/** Returns a function that does the work of a table, or returns why PostgreSQL refused it. */
export const attempts = (server: Server) => {
  let left = waitsMax
  const attempt = <E, R>(
    path: string,
    work: Effect.Effect<void, ServerError | E, R>
  ): Effect.Effect<Pick<ServerError, "code" | "detail"> | undefined, ServerError | E, R> =>
    server.run(["SAVEPOINT sluice_table"]).pipe(
      Effect.andThen(work),
      Effect.andThen(server.run(["RELEASE SAVEPOINT sluice_table"])),
      Effect.as(undefined),
      Effect.catchIf(isOfTable, (error) =>
        Effect.gen(function* () {
          yield* server.run(["ROLLBACK TO SAVEPOINT sluice_table"])
          if (!isLocked(error)) return error
          const detail = `waited for ${yield* holdersOf(server, path)}`
          yield* Effect.annotateLogs(Effect.logWarning("a table is locked by another program"), { table: path, detail })
          if (left-- <= 0) return { code: error.code, detail }
          yield* Effect.sleep(pause)
          return yield* attempt(path, work)
        })
      )
    )
  return attempt
}

/** Whether the error is of one statement, and not of the connection, the server or the whole transaction. */
export const isOfTable = (error: unknown): error is ServerError =>
  (error as ServerError)._tag === "ServerError" &&
  /^(0A|2[123B]|3[89]|4[24]|5[45]|P0)...$/.test((error as ServerError).code)

/** Who has a table locked, for the longest time first, as far as the user of the database may see it. */
const holdersOf = Effect.fnUntraced(function* (server: Server, path: string) {
  const rows = yield* server.rows<{ pid: number; program: string; state: string | null; since: string | null }>(
    `SELECT DISTINCT a.pid, a.usename || coalesce(' with ' || nullif(a.application_name, ''), '') AS program, a.state,
       to_char(a.xact_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
     FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
     WHERE l.relation = to_regclass($1) AND l.granted AND a.datname = current_database() AND l.pid <> pg_backend_pid()
     ORDER BY since`,
    [path]
  )
  const named = rows.map(
    ({ pid, program, since, state }) =>
      `process ${pid} of the database (${[program, state, since && `since ${since}`].filter(Boolean).join(", ")})`
  )
  return named.length === 0 ? "another program" : named.join(" and ")
})

/** The reason, and the steps to take. */
export const whyItWaits = Effect.fnUntraced(function* (
  server: Server,
  { columns, path }: ReleaseTable,
  found: Existing | undefined,
  { code, detail }: Pick<ServerError, "code" | "detail">
) {
  if (code === "55P03") return `${detail}. End it, then run ./sluice publish`
  const retyped = columns.filter(({ as, sql }) => found?.has(as) && found.get(as) !== (written[sql] ?? sql))
  const views =
    found === undefined
      ? []
      : yield* viewsOn(
          server,
          path,
          retyped.map(({ as }) => as)
        )
  if (views.length === 0)
    return `${detail.replace(/\.$/, "")}. Correct this, or drop the table if nothing of yours depends on it; then run ./sluice publish`
  const types = retyped.map(({ as, sql }) => `${as} from ${found!.get(as)} to ${sql}`).join(", ")
  const statements = views.map(({ kind, view }) => `DROP ${kind} ${view};`).join(" ")
  return `its column changes (${types}), and ${views.map(({ view }) => view).join(", ")} reads it. (1) Keep the definition of each view: SELECT pg_get_viewdef('${views[0]!.view}'). (2) ${statements} (3) Run ./sluice publish, and create the views again`
})

/** The views that read some columns, and those that read these views, in the order in which they can be dropped. */
const viewsOn = (server: Server, path: string, columns: ReadonlyArray<string>) =>
  server.rows<{ readonly view: string; readonly kind: "VIEW" | "MATERIALIZED VIEW" }>(
    `WITH RECURSIVE found (id, depth) AS (
       SELECT r.ev_class, 1 FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
       WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = to_regclass($1) AND a.attname = ANY($2) AND r.ev_class <> d.refobjid
       UNION SELECT r.ev_class, depth + 1 FROM found JOIN pg_depend AS d ON d.refobjid = found.id JOIN pg_rewrite AS r ON r.oid = d.objid
       WHERE d.classid = 'pg_rewrite'::regclass AND r.ev_class <> found.id AND depth < 100
     )
     SELECT id::regclass::text AS view, CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS kind
     FROM found JOIN pg_class ON pg_class.oid = id WHERE relkind IN ('v', 'm') GROUP BY id, relkind ORDER BY max(depth) DESC, id`,
    [path, columns]
  )
