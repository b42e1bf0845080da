/** `sluice rebuild`: every table again from the vault, into a new file that takes the old one's place when it is whole. */
import { Clock, Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import { rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { discover } from "../catalog/discover.ts"
import { Failure, diskFailure } from "../failure.ts"
import { makeLoader } from "../load/load.ts"
import { schemaPolicies } from "../policies.ts"
import { type Flags, outputSettings } from "../settings.ts"
import { publishNow } from "../sync.ts"
import { Vault } from "../vault/vault.ts"
import { beginRun, endRun } from "../warehouse/runs.ts"
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
    yield* Warehouse
    yield* Effect.promise(() => Promise.all([rebuilt, `${rebuilt}.wal`].map((file) => rm(file, { force: true }))))
    return yield* Effect.gen(function* () {
      yield* prepare(catalogue)
      yield* (yield* makeLoader(catalogue.resources, join(output.folder, "tmp"), policies)).load
      const warehouse = yield* Warehouse
      const run = yield* beginRun("rebuild", 0)
      yield* endRun(run, "complete", 0, 0)
      const loadedMs = (yield* Clock.currentTimeMillis) - startedAt
      yield* publishNow(catalogue, output, run.id)
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
