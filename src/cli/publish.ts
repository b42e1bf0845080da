/** `sluice publish`: the published files anew, or one table as CSV on stdout. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../catalog/discover.ts"
import { publishedTables } from "../catalog/tables.ts"
import { removeLeftovers } from "../leftovers.ts"
import { writeCsv } from "../publish/csv.ts"
import { withViews } from "../publish/chunks.ts"
import type { Flags } from "../settings/read.ts"
import { manifestName, outputPaths, snapshotName } from "../settings/paths.ts"
import { outputSettings } from "../settings/settings.ts"
import { publishNow } from "../sync.ts"
import { prepare } from "../warehouse/schema.ts"
import { lastRun } from "../warehouse/meta/runs.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { wideViews } from "../warehouse/wide-views.ts"
import { Environment } from "./environment.ts"
import { CommandError } from "./errors.ts"
import { logEnd } from "./log.ts"
import { Output } from "./output.ts"

export interface PublishFlags extends Flags {
  readonly stdout: string | undefined
  readonly json: boolean
}

export const publishCommand = Effect.fn("cli.publish")(function* (flags: PublishFlags) {
  const { print, say, stdout, isLogged } = yield* Output
  const output = yield* outputSettings(flags, yield* Environment)
  const catalogue = yield* Effect.promise(() => discover())
  const warehouse = (access: "read" | "write") =>
    Warehouse.layer(outputPaths(output.folder).warehouse, { ...output, access })
  if (flags.stdout !== undefined) {
    const table = publishedTables(catalogue).find(({ name }) => name === flags.stdout)
    if (!table)
      return yield* new CommandError({
        ends: "usage",
        message: `--stdout ${flags.stdout}: there is no such table.`,
        next: "./sluice dictionary"
      })
    yield* Effect.flatMap(wideViews(catalogue), (views) =>
      writeCsv(withViews([table], views)[0]!, output.csvProfile, stdout)
    ).pipe(Effect.provide(warehouse("read")))
    return 0
  }
  const nothing = new CommandError({
    ends: "failed",
    message: `Nothing was synced into ${output.folder} yet.`,
    next: "./sluice sync"
  })
  if (!existsSync(outputPaths(output.folder).warehouse)) return yield* nothing
  const { due, files, folder } = yield* Effect.gen(function* () {
    yield* removeLeftovers(output.folder)
    // The definitions may be newer than the last sync.
    yield* prepare(catalogue)
    const run = yield* lastRun()
    if (run === undefined) return yield* nothing
    return yield* publishNow(catalogue, output, run.id, "always")
  }).pipe(Effect.provide(warehouse("write")))
  if (due === "nothing read")
    return yield* new CommandError({
      ends: "failed",
      message: `No list of the service was read to its end yet, so there is nothing to publish from ${output.folder}.`,
      next: "./sluice sync"
    })
  if (flags.json) print(JSON.stringify({ folder, files }))
  else {
    if (isLogged("info")) print(`${files.length} files in ${folder}`)
    say(`Next: open ${join(folder, snapshotName)} with any DuckDB client, or see ${join(folder, manifestName)}.`)
  }
  yield* logEnd(0, { status: "complete", files: files.length })
  return 0
})
