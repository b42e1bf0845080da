/** `sluice rebuild`: every table again from the vault, into a new file that takes the old one's place when it is whole. */
import { Clock, Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import { mkdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { type Catalogue, discover } from "../catalog/discover.ts"
import { keyText } from "../catalog/tables.ts"
import { Failure, diskFailure } from "../failure.ts"
import { removeLeftovers } from "../leftovers.ts"
import { makeLoader } from "../load/load.ts"
import { schemaPolicies } from "../policies.ts"
import { type Flags, outputSettings } from "../settings.ts"
import { publishNow } from "../sync.ts"
import { Vault } from "../vault/vault.ts"
import { beginRun, driftOf, endRun } from "../warehouse/runs.ts"
import { literal, name } from "../warehouse/sql.ts"
import { prepare } from "../warehouse/schema.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { duration, print, say } from "./output.ts"

export const rebuild = Effect.fn("cli.rebuild")(function* (flags: Flags & { readonly json: boolean }) {
  const output = yield* outputSettings(flags, process.env)
  const [vault, warehouse, rebuilt] = ["vault", "warehouse.duckdb", "rebuilt.duckdb"].map((file) =>
    join(output.folder, file)
  ) as [string, string, string]
  if (!existsSync(vault))
    return yield* new Failure({
      ends: "failed",
      message: `There is no vault in ${output.folder}.`,
      next: "./sluice sync"
    })
  const catalogue = yield* Effect.promise(() => discover())
  const policies = yield* schemaPolicies(flags, catalogue)
  const startedAt = yield* Clock.currentTimeMillis
  const held = Warehouse.layer(warehouse, { ...output, access: "write" })
  yield* Effect.scoped(Layer.build(held)).pipe(
    Effect.catchIf(
      ({ ends }) => ends === "damaged",
      ({ message }) => moveAside(warehouse, message)
    )
  )

  const { records, loadedMs } = yield* Effect.gen(function* () {
    // Holding the old warehouse keeps every other run out meanwhile.
    const old = yield* Warehouse
    yield* removeLeftovers(output.folder)
    return yield* Effect.gen(function* () {
      yield* prepare(catalogue)
      yield* (yield* makeLoader(catalogue.resources, join(output.folder, "tmp"), policies)).load
      const warehouse = yield* Warehouse
      yield* refuseLoss(catalogue, old, warehouse)
      yield* takeOver(old, warehouse, join(output.folder, "tmp"))
      const run = yield* beginRun("rebuild", 0)
      yield* driftOf(run.id, () => undefined)
      yield* endRun(run, "complete", 0, 0)
      const loadedMs = (yield* Clock.currentTimeMillis) - startedAt
      yield* publishNow(catalogue, output, run.id, "always")
      const [row] = yield* warehouse.rows("SELECT sum(records) AS n FROM meta.run_resources")
      return { records: Number(row?.["n"]), loadedMs }
    }).pipe(
      Effect.provide(Layer.provideMerge(Vault.layer(vault), Warehouse.layer(rebuilt, { ...output, access: "write" })))
    )
  }).pipe(Effect.provide(held))
  yield* Effect.promise(() => rename(rebuilt, warehouse))

  const elapsedMs = (yield* Clock.currentTimeMillis) - startedAt
  if (flags.json) return print(JSON.stringify({ records, loadedMs, elapsedMs }))
  print(
    `${records} records in ${duration(loadedMs)}, without a request; published in ${duration(elapsedMs - loadedMs)}.`
  )
  say("Next: ./sluice status")
})

/** A vault that was lost in part makes fewer rows than there were, and no request brings them back. */
const refuseLoss = Effect.fnUntraced(function* (
  { resources }: Catalogue,
  old: Warehouse["Service"],
  rebuilt: Warehouse["Service"]
) {
  const there = new Set(
    (yield* old.rows("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'crm'")).map(
      (row) => row["table_name"]
    )
  )
  const lost: Array<string> = []
  for (const resource of resources.filter(({ table }) => there.has(table))) {
    const keys = (warehouse: Warehouse["Service"], rows: string) =>
      Effect.map(warehouse.rows(`SELECT ${rows} AS n FROM crm.${name(resource.table)}`), ([row]) => Number(row?.["n"]))
    const made = yield* keys(rebuilt, "count(*)")
    if ((yield* keys(old, "count(*)")) <= made) continue
    // A key that stood there twice is no loss.
    const had = yield* keys(old, `count(DISTINCT (location_id, ${keyText(resource)}))`)
    if (had > made) lost.push(`${made} of ${had} ${resource.table}`)
  }
  if (lost.length > 0)
    return yield* new Failure({
      ends: "failed",
      message: `The vault holds less than the tables do: ${lost.slice(0, 5).join(", ")}${lost.length > 5 ? `, and ${lost.length - 5} more tables` : ""}. Nothing was replaced.`,
      next: "Put the vault back from a backup, then ./sluice rebuild. To take what it holds all the same, move warehouse.duckdb away first."
    })
})

/** What no page tells: how runs went, and what was told of them. */
const takeOver = Effect.fnUntraced(function* (
  old: Warehouse["Service"],
  rebuilt: Warehouse["Service"],
  temporary: string
) {
  const tables = yield* old.rows(
    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name = 'runs'"
  )
  if (tables.length === 0) return
  yield* Effect.promise(() => mkdir(temporary, { recursive: true, mode: 0o700 }))
  for (const [table, rows] of [
    ["runs", "true"],
    ["coverage", "true"],
    ["schema_changes", "kind LIKE '% word'"]
  ] as const) {
    const file = literal(join(temporary, `${table}.parquet`))
    yield* old.run(`COPY (FROM meta.${table} WHERE ${rows}) TO ${file} (FORMAT parquet)`)
    yield* rebuilt.run(`INSERT INTO meta.${table} BY NAME FROM read_parquet(${file})`)
  }
  yield* Effect.promise(() => rm(temporary, { recursive: true, force: true }))
})

/** A damaged file cannot be held, and an empty one in its place can. */
const moveAside = (warehouse: string, damage: string) =>
  Effect.tryPromise({
    try: async () => {
      const aside = warehouse.replace(/\.duckdb$/, ".damaged.duckdb")
      await rename(warehouse, aside)
      if (existsSync(`${warehouse}.wal`)) await rename(`${warehouse}.wal`, `${aside}.wal`)
      say(`${damage} It is moved to ${aside}.`)
    },
    catch: (cause) => diskFailure(`${warehouse} could not be moved aside`, cause)
  })
