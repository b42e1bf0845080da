/** `sluice status`: the last run, and how fresh and how large each table is. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { unfinishedResources } from "../warehouse/meta/checkpoints.ts"
import { resourcesOf } from "../warehouse/meta/run-resources.ts"
import { lastRun } from "../warehouse/meta/runs.ts"
import { completeByResource } from "../warehouse/meta/watermarks.ts"
import type { Flags } from "../settings/read.ts"
import { outputPaths } from "../settings/paths.ts"
import { outputSettings } from "../settings/settings.ts"
import { statusText } from "../values/status.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { Environment } from "./environment.ts"
import { Output, duration, table } from "./output.ts"

export const status = Effect.fn("cli.status")(function* (flags: Flags & { readonly json: boolean }) {
  const { print, say } = yield* Output
  const output = yield* outputSettings(flags, yield* Environment)
  const layer = Warehouse.layer(outputPaths(output.folder).warehouse, { ...output, access: "read" })
  return yield* Effect.gen(function* () {
    const run = yield* lastRun()
    if (!run) {
      say("No sync has run yet. Next: ./sluice sync")
      return 0
    }
    const resources = yield* resourcesOf(run.id)
    const fresh = yield* completeByResource()
    const unfinished = yield* unfinishedResources()
    if (flags.json) {
      print(JSON.stringify({ run, resources, fresh, unfinished }))
      return 0
    }

    const now = yield* Clock.currentTimeMillis
    const byResource = new Map(resources.map((row) => [row.resource, row]))
    for (const line of table(
      ["resource", "read completely", "in the last run", "new", "changed", "rejected"],
      fresh.map(({ resource, completeAt }) => {
        const last = byResource.get(resource)
        return [
          resource,
          `${duration(now - completeAt)} ago`,
          last?.status ?? "not read",
          ...(last ? [last.newRows, last.changedRows, last.rejected] : ["", "", ""])
        ]
      })
    ))
      print(line)
    const planned = run.plannedRequests === undefined ? "" : ` of ${run.plannedRequests} planned`
    say(`Last run ${run.id}: ${statusText(run.status)}, ${run.requests ?? "?"} requests${planned}.`)
    if (unfinished.length > 0) say(`Not finished: ${unfinished.join(", ")}.`)
    say("Next: ./sluice sync")
    return 0
  }).pipe(Effect.provide(layer))
})
