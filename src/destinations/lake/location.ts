/** What the removal of a location does with the lake. Earlier versions keep it until `lake maintain` removes them. */
import * as Effect from "effect/Effect"
import type { LakeSettings } from "./settings.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { openLake } from "./lake.ts"
import { allTables } from "./tables.ts"

export const removeFromLake = Effect.fn("lake.removeLocation")(function* (settings: LakeSettings, location: string) {
  yield* Effect.scoped(
    Effect.gen(function* () {
      const lake = yield* openLake(settings, "write")
      const { lake: existing } = yield* allTables(lake)
      const tables = [...existing].flatMap(([path, columns]) => (columns.has("location_id") ? [path] : []))
      yield* lake.transaction(
        tables.map((path) => {
          const [schema, table] = [path.slice(0, path.indexOf(".")), path.slice(path.indexOf(".") + 1)]
          return `DELETE FROM lake."${schema}"."${table}" WHERE location_id = ${literal(location)}`
        })
      )
    })
  )
})
