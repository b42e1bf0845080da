/**
 * Opens the lake beside the warehouse, as database `lake` of the same connection: its catalog is a DuckDB file or a PostgreSQL
 * database, and its tables are Parquet files in a folder or in object storage. DuckLake writes both; this module only
 * attaches it, serialises writers, and turns its errors into failures without secrets.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Failure, failure } from "../../values/failure.ts"
import { chosenProxy } from "../../network/proxy.ts"
import { onDisk } from "../../output/files.ts"
import type { S3Access } from "../bucket/settings.ts"
import type { LakeAccess, LakeDestination } from "./settings.ts"
import { settingOf } from "../../settings/errors.ts"
import { holderIn, openWhenUnlocked } from "../../output/lock.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { type Row, Warehouse } from "../../stores/warehouse/warehouse.ts"

export interface Lake {
  readonly settings: LakeDestination
  readonly rows: (sql: string) => Effect.Effect<ReadonlyArray<Row>, Failure>
  /** Runs all statements as one snapshot of the lake, or none, while no other process changes the lake. */
  readonly transaction: (statements: ReadonlyArray<string>) => Effect.Effect<void, Failure>
}

export const openLake = Effect.fn("lake.open")(function* (
  settings: LakeDestination,
  access: "read" | "write"
): Effect.fn.Return<Lake, Failure, Warehouse | Scope.Scope> {
  const warehouse = yield* Warehouse
  const found = settings.access()
  if (Result.isFailure(found)) {
    const { what } = found.failure
    const cause = "cause" in what ? what.cause : "a setting is missing"
    return yield* lakeFailure(settings.place, `${settingOf(found.failure)}: ${cause}`)
  }
  const { catalog, s3 } = found.success
  const place = catalog.kind === "file" ? catalog.path : `the PostgreSQL catalog of ${settings.place}`
  const secrets = secretsOf(found.success)
  const named = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
    Effect.mapError(effect, ({ reason }) =>
      reason._tag === "OutOfMemory" || !("detail" in reason)
        ? failure(reason)
        : lakeFailure(place, withoutSecrets(reason.detail, secrets))
    )
  const run = (sql: string) => named(warehouse.run(sql))

  const needed = ["ducklake", ...(catalog.kind === "postgres" ? ["postgres_scanner"] : []), ...(s3 ? ["httpfs"] : [])]
  for (const extension of needed) yield* loadExtension(extension, settings.extensions, place)
  if (s3) for (const statement of [...proxySettings(s3), s3Secret(s3, settings.place)]) yield* run(statement)
  if (access === "write") {
    for (const folder of [...(catalog.kind === "file" ? [dirname(catalog.path)] : []), ...(s3 ? [] : [settings.place])])
      yield* onDisk(folder, "created", () => mkdir(folder, { recursive: true, mode: 0o700 }))
  }
  const isShared = catalog.kind === "postgres" && access === "write"
  if (isShared)
    yield* Effect.acquireRelease(
      run(`ATTACH ${literal(Redacted.value(catalog.connection))} AS lake_lock (TYPE postgres, READ_ONLY)`),
      () => Effect.ignore(warehouse.run("DETACH lake_lock"))
    )
  const alone = <A>(effect: Effect.Effect<A, Failure>) =>
    isShared ? Effect.scoped(Effect.andThen(named(warehouse.hold(lockStatements)), effect)) : effect
  const source = catalog.kind === "file" ? catalog.path : `postgres:${Redacted.value(catalog.connection)}`
  const options = [
    `DATA_PATH ${literal(settings.place)}`,
    // Personal data is then in the data files only, which an erasure rewrites.
    "DATA_INLINING_ROW_LIMIT 0",
    // An output folder with its lake may have been moved.
    ...(catalog.kind === "file" && !s3 ? ["OVERRIDE_DATA_PATH true"] : []),
    ...(access === "read" ? ["READ_ONLY"] : [])
  ]
  const attachTo = (others: ReadonlyArray<string>) => {
    const attach = warehouse.run(
      `ATTACH ${literal(`ducklake:${source}`)} AS lake (${[...options, ...others].join(", ")})`
    )
    // A reader of an embedded catalog holds its lock for a while.
    return named(openWhenUnlocked(place, attach, ({ message }) => holderIn(message, place)))
  }
  yield* Effect.acquireRelease(
    isShared ? Effect.catch(attachTo(["CREATE_IF_NOT_EXISTS false"]), () => alone(attachTo([]))) : attachTo([]),
    () => Effect.ignore(warehouse.run("DETACH lake"))
  )
  // DuckDB would keep half a million rows of a table in memory, to write larger row groups.
  if (access === "write") yield* run("SET partitioned_write_flush_threshold = 10000")
  return {
    settings,
    rows: (sql) => named(warehouse.rows(sql)),
    transaction: (statements) => alone(named(warehouse.transaction(statements)))
  }
})

const lakeFailure = (place: string, detail: string): Failure => failure({ _tag: "LakeFailed", place, detail })

/**
 * One transaction at a time: DuckLake lets no two delete rows of the same table at once, and creates its catalog without a
 * lock. Whoever waits for the lock has read everything before, because the lock limits how many locations a fleet commits in
 * a minute. DuckDB clears a session between two transactions, so the lock belongs to one. That of a process that is stopped
 * while it holds the lock ends after two minutes. If a commit takes longer than that, another one may begin, and the later of
 * the two is repeated.
 */
const lockStatements = [
  "SELECT set_config('lock_timeout', '15min', true) AS wait, set_config('idle_in_transaction_session_timeout', '2min', true) AS idle",
  "SELECT pg_advisory_xact_lock(7310423)::VARCHAR AS locked"
]
  .map((sql) => `FROM postgres_query('lake_lock', ${literal(sql)})`)
  .join("; ")

const loadExtension = Effect.fnUntraced(function* (extension: string, folder: string | undefined, place: string) {
  const warehouse = yield* Warehouse
  const load = warehouse.loadExtension(folder === undefined ? extension : join(folder, `${extension}.duckdb_extension`))
  yield* Effect.mapError(load, ({ message }) =>
    lakeFailure(place, `the DuckDB extension ${extension} could not be loaded: ${message.split("\n")[0]}`)
  )
})

/** DuckDB reads one of the variables only, and no exceptions. */
const proxySettings = ({ endpoint, region }: S3Access): ReadonlyArray<string> => {
  const { url } = chosenProxy(endpoint ?? `https://s3.${region}.amazonaws.com`) ?? {}
  return Object.entries({
    http_proxy: url?.host ?? "",
    http_proxy_username: decodeURIComponent(url?.username ?? ""),
    http_proxy_password: decodeURIComponent(url?.password ?? "")
  }).map(([setting, value]) => `SET ${setting} = ${literal(value)}`)
}

const s3Secret = ({ endpoint, key, region, secret }: S3Access, scope: string): string => {
  const parts = [
    "TYPE s3",
    `SCOPE ${literal(scope)}`,
    `REGION ${literal(region)}`,
    ...(key ? [`KEY_ID ${literal(Redacted.value(key))}`] : []),
    ...(secret ? [`SECRET ${literal(Redacted.value(secret))}`] : []),
    ...(endpoint
      ? [
          `ENDPOINT ${literal(new URL(endpoint).host)}`,
          "URL_STYLE 'path'",
          `USE_SSL ${String(new URL(endpoint).protocol === "https:")}`
        ]
      : [])
  ]
  return `CREATE OR REPLACE SECRET lake_data (${parts.join(", ")})`
}

const secretsOf = ({ catalog, s3 }: LakeAccess): ReadonlyArray<string> => {
  const connection = catalog.kind === "postgres" ? Redacted.value(catalog.connection) : undefined
  const password =
    connection === undefined
      ? []
      : [/password=('(?:[^'\\]|\\.)*'|\S+)/, /:\/\/[^:/@]*:([^@]*)@/].flatMap(
          (pattern) => pattern.exec(connection)?.[1]?.replaceAll("'", "") ?? []
        )
  const keys = [s3?.key, s3?.secret].flatMap((one) => (one ? [Redacted.value(one)] : []))
  return [...(connection === undefined ? [] : [connection]), ...password, ...keys]
}

const withoutSecrets = (detail: string, secrets: ReadonlyArray<string>): string =>
  secrets.reduce((text, secret) => text.replaceAll(secret, "<redacted>"), detail)
