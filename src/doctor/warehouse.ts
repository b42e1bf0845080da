/** What the warehouse tells: whether another run holds it, and how the last one ended. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { OutputSettings } from "../settings.ts"
import { type Run, lastRun } from "../warehouse/meta/runs.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Line, ok, problemOf, warning } from "./check-result.ts"

export const warehouse = Effect.fn("doctor.warehouse")(function* (
  output: OutputSettings
): Effect.fn.Return<ReadonlyArray<Line>> {
  const path = join(output.folder, "warehouse.duckdb")
  if (!existsSync(path)) return [ok("lock", "no run works here"), ok("last run", "none yet")]
  return yield* Effect.gen(function* () {
    const run = yield* lastRun()
    return [ok("lock", "no other run works here"), run ? lineOf(run) : ok("last run", "none yet")]
  }).pipe(
    Effect.provide(Warehouse.layer(path, { ...output, access: "read" })),
    Effect.catch((failure) => Effect.succeed([problemOf("lock", failure)]))
  )
})

const lineOf = ({ id, command, status, exitCode }: Run): Line => {
  const what = `${command} ${id}: ${status.replaceAll("_", " ")}${exitCode ? `, exit code ${exitCode}` : ""}`
  if (status === "complete") return ok("last run", what)
  return warning(
    "last run",
    what,
    status === "interrupted" ? "./sluice sync goes on where it was stopped" : "./sluice status names what is not whole"
  )
}
