/** `sluice status`: the last run, and how fresh and how large each table is. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { resourcesOf } from "../warehouse/runs.ts"
import { type Flags, outputSettings } from "../settings.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { duration, print, say, table } from "./output.ts"

export const status = Effect.fn("cli.status")(function* (flags: Flags & { readonly json: boolean }) {
  const output = yield* outputSettings(flags, process.env)
  const layer = Warehouse.layer(join(output.folder, "warehouse.duckdb"), { ...output, access: "read" })
  return yield* Effect.gen(function* () {
    const warehouse = yield* Warehouse
    const [run] = yield* warehouse.rows(
      `SELECT *, epoch_ms(started_at) AS started, epoch_ms(finished_at) AS finished FROM meta.runs ORDER BY run_id DESC LIMIT 1`
    )
    if (!run) return say("Nothing was synced yet. Next: ./sluice sync")
    const resources = yield* resourcesOf(String(run["run_id"]))
    const fresh = yield* warehouse.rows(
      `SELECT resource, any_value(epoch_ms(complete_at)) AS complete_at FROM meta.watermarks GROUP BY ALL ORDER BY resource`
    )
    const begun = yield* warehouse.rows(`SELECT DISTINCT resource FROM meta.passes ORDER BY resource`)
    if (flags.json)
      return print(JSON.stringify({ run, resources, fresh, unfinished: begun.map((row) => row["resource"]) }))

    const now = yield* Clock.currentTimeMillis
    const byResource = new Map(resources.map((row) => [row.resource, row]))
    for (const line of table(
      ["resource", "read completely", "in the last run", "new", "changed", "rejected"],
      fresh.map((row) => {
        const resource = String(row["resource"])
        const last = byResource.get(resource)
        return [
          resource,
          `${duration(now - Number(row["complete_at"]))} ago`,
          last?.verdict ?? "not read",
          ...(last ? [last.newRows, last.changedRows, last.rejected] : ["", "", ""])
        ]
      })
    ))
      print(line)
    const planned = run["planned_requests"] === null ? "" : ` of ${String(run["planned_requests"])} planned`
    say(
      `Last run ${String(run["run_id"])}: ${String(run["outcome"] ?? "interrupted")}, ${String(run["requests"] ?? "?")} requests${planned}.`
    )
    if (begun.length > 0) say(`Begun and not finished: ${begun.map((row) => String(row["resource"])).join(", ")}.`)
    say("Next: ./sluice sync")
  }).pipe(Effect.provide(layer))
})
