/** `sluice lake maintain`: merges small files of the lake, and deletes files that no version needs. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { maintainLake } from "../destinations/lake/maintain.ts"
import { openLake } from "../destinations/lake/lake.ts"
import { outputPaths } from "../output/paths.ts"
import type { Flags } from "../settings/read.ts"
import { outputSettings } from "../settings/settings.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"
import { Environment } from "../values/environment.ts"
import { configError, nothingSynced } from "../console/errors.ts"
import { table } from "../console/streams.ts"
import { recorded } from "../command/recorded.ts"
import { shown } from "../console/result.ts"

export const lakeMaintain = Effect.fn("command.lakeMaintain")(function* (flags: Flags & { readonly apply: boolean }) {
  const output = yield* outputSettings(flags, yield* Environment)
  const { apply } = flags
  const lakes = output.publishing.targets.flatMap(({ destination, name }) =>
    destination.kind === "lake" ? [{ name, destination }] : []
  )
  if (lakes.length === 0)
    return yield* configError(
      "No target of the settings is a lake, so there is none to maintain.",
      "Add a [[publish]] with a lake to the settings file, as docs/destinations.md says, then run ./sluice publish."
    )
  const { warehouse } = outputPaths(output.folder)
  if (!existsSync(warehouse)) return yield* nothingSynced(output.folder)
  const work = Effect.forEach(lakes, ({ destination, name }) =>
    Effect.flatMap(openLake(destination, "write"), (lake) => maintainLake(lake, apply)).pipe(
      Effect.scoped,
      Effect.map((steps) => steps.map((step) => ({ target: name, ...step })))
    )
  ).pipe(
    Effect.map((all) => all.flat()),
    Effect.provide(Warehouse.layer(warehouse, { ...output, access: apply ? "write" : "read" }))
  )
  const steps = yield* apply
    ? recorded(work, output.folder, "maintain", (done) => ({
        ...Object.fromEntries(
          [...Map.groupBy(done, ({ step }) => step)].map(([step, all]) => [
            step,
            all.reduce((sum, { count }) => sum + count, 0)
          ])
        ),
        exitCode: 0
      }))
    : work
  const next = apply ? "./sluice status" : "./sluice lake maintain --apply"
  return shown("lake-maintain", { exitCode: 0, next, data: { applied: apply, steps } }, function* () {
    yield* table(
      ["target", "step", "count", "what"],
      steps.map(({ count, step, target, what }) => [target, step, count.toLocaleString("en-US"), what])
    )
    if (!apply) yield "Nothing was changed."
  })
})
