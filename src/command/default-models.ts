/** For commands that work without settings, too: the models of sluice, and those of the folder that the settings name. */
import { Effect } from "effect"
import { realpath } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { outputPaths, snapshotName } from "../output/paths.ts"
import { type Flags, readSettings } from "../settings/read.ts"
import { outputSettings } from "../settings/settings.ts"
import { type ColumnTypes, describedModels } from "../stages/publish/models/described.ts"
import { query } from "../stores/warehouse/query.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"
import { Environment } from "../values/environment.ts"

export const defaultModels = Effect.fnUntraced(function* (catalogue: Catalogue, flags: Flags = {}) {
  const { folder } = readSettings(flags, yield* Environment).values.models
  const own = folder === undefined ? undefined : resolve(folder)
  // The columns of sluice's own models are all said by their SQL.
  const released = own === undefined ? undefined : yield* releasedColumns(flags)
  return yield* Effect.promise(() => describedModels(catalogue, own, released))
})

/** Those of the models in the current release; none without one. */
const releasedColumns = Effect.fnUntraced(
  function* (flags: Flags) {
    const { folder, memoryMb } = yield* outputSettings(flags, yield* Environment)
    const path = yield* Effect.tryPromise(() => realpath(join(outputPaths(folder).published, snapshotName)))
    const columns = yield* query(
      { model: String, column: String, type: String },
      `SELECT table_name AS model, column_name AS "column", replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ') AS type
     FROM duckdb_columns() WHERE schema_name = 'bi' ORDER BY table_name, column_index`
    ).pipe(Effect.provide(Warehouse.layer(path, { access: "read", isRelease: true, memoryMb })))
    return new Map(
      Array.from(
        Map.groupBy(columns, ({ model }) => model),
        ([model, own]) => [model, new Map(own.map(({ column, type }) => [column, type]))]
      )
    )
  },
  Effect.orElseSucceed((): ColumnTypes => new Map())
)
