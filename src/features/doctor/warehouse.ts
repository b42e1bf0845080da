/** Checks of the warehouse: who has it open, how the last run ended, and whether it has what the settings keep out. */
import { existsSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { workOf } from "../../destinations/destinations.ts"
import { type Run, lastRun } from "../../stores/warehouse/meta/runs.ts"
import { leftLocations } from "../../stores/warehouse/meta/run-resources.ts"
import { outputPaths } from "../../output/paths.ts"
import { removeBelow } from "../../output/remove.ts"
import type { OutputSettings } from "../../settings/settings.ts"
import { stateText } from "../../values/state.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { counted, ok, warning } from "../../values/finding.ts"
import { type DoctorFinding, problem } from "./finding.ts"
import * as Effect from "effect/Effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { earlierText } from "../../console/findings.ts"
import { failureExplanation } from "../../console/errors.ts"
import { keptOut, storedEarlier } from "../../command/withheld.ts"

export const warehouse = Effect.fn("doctor.warehouse")(function* (
  output: OutputSettings,
  namedLocations: ReadonlySet<string>
) {
  const path = outputPaths(output.folder).warehouse
  if (!existsSync(path)) return [ok("lock", "no run is working here"), ok("last run", "none yet")]
  return yield* Effect.gen(function* () {
    const run = yield* lastRun()
    const left = yield* leftLocations(namedLocations)
    return [
      ok("lock", "no other run is working here"),
      run ? lineOf(run) : ok("last run", "none yet"),
      ...left.map(({ location, readAt }) => {
        const what = `${location} is no longer in the settings; its rows are live in every release, as of ${readAt}`
        return warning("locations", what, `./sluice location remove ${location}`)
      })
    ]
  }).pipe(
    Effect.provide(Warehouse.layer(path, { ...output, access: "read" })),
    Effect.catch((failure) => Effect.succeed([problem("lock", failureExplanation(failure))]))
  )
})

const lineOf = ({ id, command, status, exitCode }: Run): DoctorFinding => {
  const what = `${command} ${id}: ${stateText(status)}${exitCode ? `, exit code ${exitCode}` : ""}`
  const isResumed = status === "interrupted" || status === "paused"
  const next = isResumed ? "./sluice sync resumes it." : "./sluice status shows what is incomplete."
  return status === "complete" ? ok("last run", what) : warning("last run", what, next)
}

/** Checks each place that gets releases or rows, by a small write that is taken back. */
export const receivers = Effect.fn("doctor.receivers")(function* (output: OutputSettings) {
  const all = output.publishing?.targets ?? []
  if (all.length === 0) return []
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-doctor-"))),
    (made) => Effect.promise(() => removeBelow(tmpdir(), made))
  )
  const probed = Effect.forEach(all, (to) =>
    Effect.flatMap(workOf(to), ({ needs, probe }) => {
      const [where, { place }] = [`target ${to.name}`, to.destination]
      return Effect.scoped(probe(to)).pipe(
        Effect.as(ok(where, `${place} can be written`)),
        Effect.catch(({ message }) => {
          const next = `${needs} Correct this, then run ./sluice doctor`
          return Effect.succeed(
            problem(where, { ends: "failed", message: `${place} cannot be written: ${message}`, next })
          )
        })
      )
    })
  )
  // DuckDB opens some of them beside a file.
  return yield* Effect.provide(probed, Warehouse.layer(join(folder, "doctor.duckdb"), { ...output, access: "write" }))
}, Effect.scoped)

/** Checks what the settings keep out, and whether it was stored before. */
export const withheld = Effect.fn("doctor.withheld")(function* (
  { folder }: Pick<OutputSettings, "folder">,
  catalogue: Catalogue
) {
  const names = keptOut(catalogue)
  if (names.length === 0) return []
  return yield* storedEarlier(folder, catalogue).pipe(
    Effect.map((earlier) => {
      const what = `${counted(names.length, "column or table", "columns and tables")}, nothing of it stored before`
      return [earlier.length === 0 ? ok("kept out", what) : warning("kept out", earlierText(earlier))]
    }),
    Effect.catch((failure) => Effect.succeed([problem("kept out", failureExplanation(failure))]))
  )
})
