/** What the warehouse tells: whether another run holds it, and how the last one ended. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { OutputSettings } from "../settings.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Line, ok, problemOf, warning } from "./line.ts"

export const warehouse = Effect.fn("doctor.warehouse")(function* (
  output: OutputSettings
): Effect.fn.Return<ReadonlyArray<Line>> {
  const path = join(output.folder, "warehouse.duckdb")
  if (!existsSync(path)) return [ok("lock", "no run works here"), ok("last run", "none yet")]
  return yield* Effect.gen(function* () {
    const [run] = yield* (yield* Warehouse).rows("SELECT * FROM meta.runs ORDER BY run_id DESC LIMIT 1")
    return [ok("lock", "no other run works here"), run ? verdict(run) : ok("last run", "none yet")]
  }).pipe(
    Effect.provide(Warehouse.layer(path, { ...output, access: "read" })),
    Effect.catch((failure) => Effect.succeed([problemOf("lock", failure)]))
  )
})

const verdict = (run: Readonly<Record<string, unknown>>): Line => {
  const outcome = String(run["outcome"] ?? "interrupted")
  const what = `${run["command"]} ${run["run_id"]}: ${outcome}${run["exit_code"] ? `, exit code ${run["exit_code"]}` : ""}`
  if (outcome === "complete") return ok("last run", what)
  return warning(
    "last run",
    what,
    outcome === "interrupted" ? "./sluice sync goes on where it was stopped" : "./sluice status names what is not whole"
  )
}
