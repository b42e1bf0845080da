/** Checks whether another run has the warehouse open, and how the last run ended. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { type Run, lastRun } from "../../stores/warehouse/meta/runs.ts"
import { leftLocations } from "../../stores/warehouse/meta/run-resources.ts"
import type { Explanation, Failure } from "../../values/failure.ts"
import { outputPaths } from "../../output/paths.ts"
import type { OutputSettings } from "../../settings/settings.ts"
import { stateText } from "../../values/state.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { ok, warning } from "../../values/finding.ts"
import { type DoctorFinding, problem } from "./finding.ts"

export const warehouse = Effect.fn("doctor.warehouse")(function* (
  output: OutputSettings,
  namedLocations: ReadonlySet<string>,
  explained: (failure: Failure) => Explanation
) {
  const path = outputPaths(output.folder).warehouse
  if (!existsSync(path)) return [ok("lock", "no run is working here"), ok("last run", "none yet")]
  return yield* Effect.gen(function* () {
    const run = yield* lastRun()
    const left = yield* leftLocations(namedLocations)
    return [
      ok("lock", "no other run is working here"),
      run ? lineOf(run) : ok("last run", "none yet"),
      ...left.map(({ location, readAt }) =>
        warning(
          "locations",
          `${location} is no longer in the settings; its rows are live in every release, as of ${readAt}`,
          `./sluice location remove ${location}`
        )
      )
    ]
  }).pipe(
    Effect.provide(Warehouse.layer(path, { ...output, access: "read" })),
    Effect.catch((failure) => Effect.succeed([problem("lock", explained(failure))]))
  )
})

const lineOf = ({ id, command, status, exitCode }: Run): DoctorFinding => {
  const what = `${command} ${id}: ${stateText(status)}${exitCode ? `, exit code ${exitCode}` : ""}`
  if (status === "complete") return ok("last run", what)
  return warning(
    "last run",
    what,
    status === "interrupted" || status === "paused"
      ? "./sluice sync resumes it."
      : "./sluice status shows what is incomplete."
  )
}
