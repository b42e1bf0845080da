/**
 * The Parquet file of a wide table: the column chunks of the base table's file as they are, and in each row group one sparse
 * chunk for each custom field.
 */
import { Effect, Stream } from "effect"
import { rm } from "node:fs/promises"
import { onDisk } from "../../../output/files.ts"
import { literal } from "../../warehouse/sql.ts"
import { Warehouse } from "../../warehouse/warehouse.ts"
import type { WideView } from "../../warehouse/wide-views.ts"
import type { Rows } from "../format.ts"
import { metadataSql } from "./write.ts"
import { pathsOf, readFooter } from "./footer.ts"
import { openWideFile } from "./wide-file.ts"
import { parquetKinds } from "./kinds.ts"
import { wideValues, wideValuesSql } from "../wide-values.ts"

/** Writes the file `target`. `base`: the Parquet file of the base table. Returns the number of rows. */
export const writeWideParquet = Effect.fn("formats.wideParquet")(function* (
  { from, metadata, wide }: Rows & { readonly wide: WideView },
  base: string,
  target: string
) {
  const warehouse = yield* Warehouse
  // DuckDB writes the types of the columns and the metadata to a file without rows.
  const empty = `${target}.schema`
  yield* warehouse.run(
    `COPY (FROM ${from} LIMIT 0) TO ${literal(empty)} (FORMAT parquet, PARQUET_VERSION v1, ${metadataSql(metadata)})`
  )
  const schema = yield* onDisk(empty, "read", () => readFooter(empty))
  yield* onDisk(empty, "removed", () => rm(empty))
  const footer = yield* onDisk(base, "read", () => readFooter(base))
  const groups = footer.field_4
  const starts = groups.map((_, index) => groups.slice(0, index).reduce((sum, group) => sum + Number(group.field_3), 0))
  const rows = `(SELECT location_id, id, file_row_number AS position FROM read_parquet(${literal(base)}, file_row_number = true))`
  const group = `list_count(list_filter(${JSON.stringify(starts)}, lambda start: start <= position))`
  const file = yield* Effect.acquireRelease(
    onDisk(target, "written", () =>
      openWideFile({ base, target, groups, paths: pathsOf(schema), columns: wide.columns })
    ),
    ({ close }) => Effect.promise(close)
  )
  if (wide.columns.length > 0)
    yield* wideValues(
      warehouse.stream(
        wideValuesSql(wide, rows, (kind, value) => parquetKinds[kind].form(value), `${group}, place, position`)
      )
    ).pipe(Stream.runForEachArray((some) => onDisk(target, "written", () => file.add(some))))
  yield* onDisk(target, "written", () =>
    file.end({ ...footer, field_2: schema.field_2, field_5: schema.field_5, field_7: schema.field_7 })
  )
  return Number(footer.field_3)
})
