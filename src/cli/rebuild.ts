/** `sluice rebuild`: builds every table from the vault in a new file, which replaces the old one when it is complete. */
import { Clock, Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import { rename } from "node:fs/promises"
import type { Catalogue } from "../catalog/discover.ts"
import { keyText } from "../catalog/tables.ts"
import { onDisk } from "../output/files.ts"
import { removeLeftovers } from "../output/leftovers.ts"
import { makeLoader } from "../stages/load/load.ts"
import type { Flags } from "../settings/read.ts"
import { pruneHistory } from "../features/prune/history.ts"
import { type OutputPaths, outputPaths } from "../output/paths.ts"
import { outputSettings } from "../settings/settings.ts"
import { publishing } from "../run/night.ts"
import { publishNow } from "../run/release.ts"
import { Vault } from "../stores/vault/vault.ts"
import { recordCount, setStatuses } from "../stores/warehouse/meta/run-resources.ts"
import { beginRun } from "../stores/warehouse/meta/runs.ts"
import { reportSchemaDrift } from "../stores/warehouse/meta/schema-changes.ts"
import { copyHistory } from "../stores/warehouse/meta/take-over.ts"
import { queryNumber, queryTexts } from "../stores/warehouse/query.ts"
import { name } from "../stores/warehouse/sql.ts"
import { RunEvents } from "../values/run-event.ts"
import { sluiceVersion } from "../values/version.ts"
import { emptyWarehouse, prepare } from "../stores/warehouse/schema.ts"
import { undefinedTables } from "../stores/warehouse/columns.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"
import { definitionsOf } from "../command/prologue.ts"
import { before } from "../features/prune/command.ts"
import { Environment } from "../values/environment.ts"
import { configError, failedError, failureExplanation, nothingSynced } from "../console/errors.ts"
import { logEnd } from "../console/log.ts"
import { modelText, warn } from "../console/findings.ts"
import { stopwatch } from "../values/stopwatch.ts"
import { Output } from "../console/streams.ts"
import { duration } from "../values/text.ts"
import { run } from "../command/recorded.ts"
import { releases } from "../run/sync-result.ts"
import { printEither } from "../console/result.ts"

export const rebuild = Effect.fn("command.rebuild")(function* (flags: Flags & { readonly json: boolean }) {
  const { print, isLogged, say } = yield* Output
  const output = yield* outputSettings(flags, yield* Environment)
  const { vault, warehouse, rebuilt, temporary } = outputPaths(output.folder)
  if (!existsSync(vault)) return yield* nothingSynced(output.folder, `There is no vault in ${output.folder}.`)
  const { catalogue, policies, targets } = yield* definitionsOf(output)
  const startedAt = yield* Clock.currentTimeMillis
  const elapsed = yield* stopwatch
  const onEvent = yield* RunEvents
  onEvent?.({ event: "started", command: "rebuild", version: sluiceVersion, output: output.folder })
  const held = Warehouse.layer(warehouse, { ...output, access: "write", anyFormat: true })
  yield* moveDamaged(output.folder, held)
  const rebuilding = Effect.gen(function* () {
    // Holding the old warehouse keeps every other run out meanwhile.
    const old = yield* Warehouse
    yield* removeLeftovers(output.folder)
    yield* refuseUndefined(catalogue)
    return yield* Effect.gen(function* () {
      yield* prepare(catalogue)
      yield* (yield* makeLoader(catalogue.resources, temporary, policies)).load
      const warehouse = yield* Warehouse
      yield* refuseLoss(catalogue, old, warehouse)
      if (!(yield* copyHistory(old, warehouse, temporary)))
        say("Without the old warehouse, the runs before this one are not in meta.runs any more.", "warn")
      const historyBefore = yield* before(output.values.prune.history, startedAt)
      if (historyBefore !== undefined) yield* pruneHistory(catalogue, { apply: true, before: historyBefore })
      const begun = yield* beginRun("rebuild")
      yield* reportSchemaDrift(begun.id, () => undefined)
      yield* setStatuses()
      const loadedMs = yield* elapsed
      onEvent?.({ event: "loaded", run: begun.id, resources: [] })
      const release = publishNow(catalogue, output, { run: begun.id, targets })
      const { published } = yield* publishing(begun, 0, { status: "complete", exitCode: 0 }, release)
      const { due, problems } = published
      onEvent?.({
        event: "published",
        run: begun.id,
        published: releases[due],
        modelProblems: problems.map(modelText)
      })
      return { run: begun.id, records: yield* recordCount(), loadedMs, problems }
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          Vault.layer(vault),
          Warehouse.layer(rebuilt, { ...output, access: "write", template: yield* emptyWarehouse(catalogue) })
        )
      )
    )
  }).pipe(Effect.provide(held))
  const { records, loadedMs, problems } = yield* rebuilding.pipe(
    Effect.tap(() => onDisk(warehouse, "replaced", () => rename(rebuilt, warehouse))),
    (work) =>
      run("rebuild", work, { output, catalogue, detailOf: ({ run, records }) => ({ run, records, exitCode: 0 }) })
  )

  const elapsedMs = yield* elapsed
  const next = problems.length === 0 ? "./sluice status" : "./sluice check"
  const exitCode = 0
  const modelProblems = problems.map(modelText)
  const data = { records, loadedMs, elapsedMs, modelProblems }
  const forPeople = Effect.gen(function* () {
    if (isLogged("info"))
      print(
        `${records} records in ${duration(loadedMs)}, without a request; published in ${duration(elapsedMs - loadedMs)}.`
      )
    yield* warn(modelProblems)
  })
  yield* printEither("rebuild", { exitCode, next, data }, flags.json, forPeople)
  yield* logEnd(exitCode, { status: "complete", records, duration_ms: elapsedMs })
  return exitCode
})

/** A warehouse that cannot be opened is kept beside the one that takes its place. */
const moveDamaged = Effect.fnUntraced(function* (folder: string, held: ReturnType<typeof Warehouse.layer>) {
  const { say } = yield* Output
  yield* Effect.scoped(Layer.build(held)).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "WarehouseDamaged",
      (failure) =>
        Effect.map(moveAside(outputPaths(folder)), (aside) =>
          say(`${failureExplanation(failure).message} It is moved to ${aside}.`, "warn")
        )
    )
  )
})

/** A partial vault would give fewer rows than the tables hold, and nothing would request them again. */
const refuseLoss = Effect.fnUntraced(function* (
  { resources }: Catalogue,
  old: Warehouse["Service"],
  rebuilt: Warehouse["Service"]
) {
  const there = new Set(
    yield* Effect.provideService(
      queryTexts("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'crm'"),
      Warehouse,
      old
    )
  )
  const lost: Array<string> = []
  for (const resource of resources.filter(({ table }) => there.has(table))) {
    const keys = (warehouse: Warehouse["Service"], rows: string) =>
      Effect.provideService(queryNumber(`SELECT ${rows} FROM crm.${name(resource.table)}`), Warehouse, warehouse)
    const made = yield* keys(rebuilt, "count(*)")
    if ((yield* keys(old, "count(*)")) <= made) continue
    // A key that stood there twice is no loss.
    const had = yield* keys(old, `count(DISTINCT (location_id, ${keyText(resource)}))`)
    if (had > made) lost.push(`${made} of ${had} ${resource.table}`)
  }
  if (lost.length > 0)
    return yield* failedError(
      `The vault holds fewer records than the tables: ${lost.slice(0, 5).join(", ")}${lost.length > 5 ? `, and ${lost.length - 5} more tables` : ""}. Nothing was replaced.`,
      "Put the vault back from a backup, then ./sluice rebuild. To rebuild from what it holds, move warehouse.duckdb away first."
    )
})

/** A rebuild has the tables of the definitions only. */
const refuseUndefined = Effect.fnUntraced(function* (catalogue: Catalogue) {
  const tables = yield* undefinedTables(catalogue)
  if (tables.length > 0)
    return yield* configError(
      `No definition describes the tables ${tables.join(", ")}, so a rebuild would lose their rows. Nothing was replaced.`,
      "Set pipelines.folder to the folder of their definitions. To rebuild without these tables, move warehouse.duckdb away first."
    )
})

/** A damaged file cannot be opened; once it is moved, an empty one takes its place. */
const moveAside = ({ damaged: aside, warehouse }: OutputPaths) =>
  onDisk(warehouse, "moved", async () => {
    await rename(warehouse, aside)
    if (existsSync(`${warehouse}.wal`)) await rename(`${warehouse}.wal`, `${aside}.wal`)
    return aside
  })
