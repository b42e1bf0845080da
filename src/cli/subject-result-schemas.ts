/** The data of the results of subject-commands.ts. */
import * as Schema from "effect/Schema"

const Contacts = Schema.Array(Schema.Struct({ id: Schema.String, location: Schema.String }))

export const SubjectExport = Schema.Struct({
  folder: Schema.String,
  zip: Schema.String,
  /** `published`: another program had the warehouse open, and the rows are those of the last release. */
  source: Schema.Literals(["warehouse", "published"]),
  contacts: Contacts,
  /** Contacts that share an address with these and were not included. */
  others: Contacts,
  records: Schema.Int,
  tables: Schema.Array(Schema.Struct({ name: Schema.String, rows: Schema.Int })),
  files: Schema.Int,
  /** Texts of other records that contain an address or the name; only with `--search-text`. */
  candidates: Schema.optionalKey(Schema.Int),
  coverage: Schema.Array(
    Schema.Struct({
      resource: Schema.String,
      records: Schema.Int,
      mentions: Schema.Int,
      isComplete: Schema.Boolean,
      finding: Schema.String,
      completeAt: Schema.optionalKey(Schema.String)
    })
  )
})
