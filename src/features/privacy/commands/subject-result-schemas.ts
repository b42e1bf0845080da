/** The data of the results of subject-commands.ts. */
import * as Schema from "effect/Schema"
import { Hold } from "../erasure/holds.ts"

/** The plan, or with `applied` the erasure. */
const SubjectErase = Schema.Struct({
  applied: Schema.Boolean,
  /** Rows with their earlier versions, by table. */
  rows: Schema.Record(Schema.String, Schema.Int),
  records: Schema.Int,
  /** Financial records that stay without the person, and their rows by table. */
  recordsKept: Schema.Int,
  rowsKept: Schema.Record(Schema.String, Schema.Int),
  recordings: Schema.Int,
  /** Segments of the vault that were rewritten. */
  segments: Schema.optionalKey(Schema.Int),
  certificate: Schema.optionalKey(Schema.String),
  /** Whether everything in reach was searched, and no address of the person and no row of their records was found. */
  isErased: Schema.optionalKey(Schema.Boolean),
  found: Schema.optionalKey(
    Schema.Array(Schema.Struct({ place: Schema.String, label: Schema.String, form: Schema.String }))
  ),
  unsearched: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The folders outside of the output folder that ever received data, and what is there now. */
  places: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        name: Schema.String,
        folder: Schema.String,
        state: Schema.Literals(["cleaned", "left", "removed", "out of reach"])
      })
    )
  )
})

/** The holds after the command. */
const Holds = Schema.Struct({ holds: Schema.Array(Hold) })

const Contacts = Schema.Array(Schema.Struct({ id: Schema.String, location: Schema.String }))

const SubjectExport = Schema.Struct({
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

const Reidentified = Schema.Struct({
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

export const complianceSchemas = {
  "subject-reidentify": Reidentified,
  "subject-export": SubjectExport,
  "subject-erase": SubjectErase,
  retention: SubjectErase,
  hold: Holds
}
