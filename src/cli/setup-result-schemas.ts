/** The data of the results of setup-commands.ts. */
import * as Schema from "effect/Schema"

const ConfigShow = Schema.Struct({
  file: Schema.String,
  settings: Schema.Array(
    Schema.Struct({
      setting: Schema.String,
      /** Absent if the setting has no value; `<redacted>` for a secret. */
      value: Schema.optional(Schema.String),
      from: Schema.Literals(["flag", "environment", "file", "default", "missing", "not set"]),
      /** The flag, the variable, or the file with the line. */
      place: Schema.optional(Schema.String)
    })
  ),
  problems: Schema.Int
})

const ConfigValidate = Schema.Struct({
  file: Schema.String,
  /** One sentence for each. */
  problems: Schema.Array(Schema.String)
})

/** The files that were written. */
const Init = Schema.Struct({ files: Schema.Array(Schema.String) })

/** How many tables the contract has, and one sentence for each breaking change. */
const ContractCheck = Schema.Struct({ tables: Schema.Int, breaking: Schema.Array(Schema.String) })

/** The definitions of the user's folder, and the mistakes in its files. */
const PipelinesCheck = Schema.Struct({
  folder: Schema.String,
  definitions: Schema.Array(
    Schema.Struct({
      table: Schema.String,
      family: Schema.String,
      file: Schema.String,
      columns: Schema.Int,
      childTables: Schema.Int
    })
  ),
  problems: Schema.Array(Schema.Struct({ file: Schema.String, line: Schema.Int, message: Schema.String }))
})

/** What `prune` removes, or would remove. Sizes are bytes; times are those before which it removes something. */
const Prune = Schema.Struct({
  applied: Schema.Boolean,
  files: Schema.Array(Schema.Struct({ path: Schema.String, bytes: Schema.Int, why: Schema.String })),
  /** Absent if the settings keep all versions. */
  history: Schema.optional(Schema.Struct({ before: Schema.String, versions: Schema.Int })),
  /** Absent if the settings keep the vault. `records` repeat what was read before. */
  vault: Schema.optional(
    Schema.Struct({
      before: Schema.String,
      records: Schema.Int,
      segments: Schema.Int,
      bytesBefore: Schema.Int,
      bytesAfter: Schema.Int
    })
  )
})

/** What `location remove` removes, or would remove. */
const LocationRemove = Schema.Struct({
  applied: Schema.Boolean,
  location: Schema.String,
  /** By table of the warehouse, with its schema. */
  rows: Schema.Record(Schema.String, Schema.Int),
  /** Responses in the vault, and their size before compression. */
  vault: Schema.Struct({ entries: Schema.Int, bytes: Schema.Int }),
  recordings: Schema.Int,
  /** Where else the location is. `isKept`: it is out of reach. */
  places: Schema.Array(Schema.Struct({ path: Schema.String, what: Schema.String, isKept: Schema.Boolean })),
  /** Where the location was still found. */
  found: Schema.optionalKey(Schema.Array(Schema.String))
})

const LakeMaintain = Schema.Struct({
  applied: Schema.Boolean,
  steps: Schema.Array(
    Schema.Struct({
      step: Schema.Literals(["rewrite", "merge", "expire", "delete", "orphans", "commits"]),
      count: Schema.Int,
      what: Schema.String
    })
  )
})

const Dictionary = Schema.Struct({
  tables: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      description: Schema.String,
      key: Schema.Array(Schema.String),
      parentColumn: Schema.optionalKey(Schema.String),
      detail: Schema.Boolean,
      columns: Schema.Array(
        Schema.Struct({
          name: Schema.String,
          type: Schema.String,
          sql: Schema.String,
          description: Schema.String,
          personal: Schema.String,
          references: Schema.optionalKey(Schema.String),
          enumValues: Schema.optionalKey(Schema.Array(Schema.String)),
          detail: Schema.Boolean
        })
      )
    })
  )
})

const Coverage = Schema.Struct({
  operations: Schema.Array(
    Schema.Struct({
      operation: Schema.String,
      purpose: Schema.String,
      tables: Schema.Array(Schema.String),
      resources: Schema.Array(Schema.String),
      reason: Schema.String
    })
  )
})

const Doctor = Schema.Struct({
  lines: Schema.Array(
    Schema.Struct({
      state: Schema.Literals(["ok", "warning", "problem"]),
      check: Schema.String,
      what: Schema.String,
      todo: Schema.optionalKey(Schema.String),
      ends: Schema.optionalKey(Schema.String)
    })
  ),
  settings: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String, from: Schema.String }))
})

export const setupSchemas = {
  doctor: Doctor,
  init: Init,
  "config-show": ConfigShow,
  "config-validate": ConfigValidate,
  "contract-check": ContractCheck,
  "pipelines-check": PipelinesCheck,
  prune: Prune,
  "location-remove": LocationRemove,
  "lake-maintain": LakeMaintain,
  dictionary: Dictionary,
  coverage: Coverage
}
