/** The data of the results of the commands for people who read the data. */
import * as Schema from "effect/Schema"

/** Printed once the server listens. */
export const Explore = Schema.Struct({
  /** The address to open, with the token. */
  url: Schema.String,
  port: Schema.Int,
  /** The folder of the saved queries. */
  queries: Schema.String
})

export const ExportExcel = Schema.Struct({
  file: Schema.String,
  sheets: Schema.Array(Schema.Struct({ name: Schema.String, table: Schema.String, rows: Schema.Int })),
  rows: Schema.Int,
  /** Values that are longer than a cell. */
  cut: Schema.Int
})
