/** The data of the results of reader-commands.ts and subject-commands.ts. */
import * as Schema from "effect/Schema"

/** Printed once the server listens. */
export const Explore = Schema.Struct({
  /** The address to open, with the token. */
  url: Schema.String,
  port: Schema.Int,
  /** The folder of the saved queries. */
  queries: Schema.String
})

export const Reidentified = Schema.Struct({
  pseudonym: Schema.String,
  /** Several if they share an address. */
  contacts: Schema.Array(
    Schema.Struct({
      location: Schema.String,
      id: Schema.String,
      name: Schema.String,
      email: Schema.String,
      phone: Schema.String
    })
  )
})

export const Export = Schema.Struct({
  file: Schema.String,
  sheets: Schema.Array(Schema.Struct({ name: Schema.String, table: Schema.String, rows: Schema.Int })),
  rows: Schema.Int,
  /** Values that are longer than a cell. */
  cut: Schema.Int
})
