/** What can be wrong with settings, as facts; cli/errors.ts has the sentences. Secrets are in none of them. */
import * as Schema from "effect/Schema"

export const SettingProblem = Schema.TaggedUnion({
  FileNotFound: { file: Schema.String },
  FileUnreadable: { file: Schema.String, cause: Schema.String },
  /** The message has the line and the column. */
  InvalidToml: { file: Schema.String, message: Schema.String },
  UnknownSetting: { file: Schema.String, path: Schema.String, closest: Schema.optional(Schema.String) },
  WrongValue: {
    path: Schema.String,
    /** The flag, the variable or the file that has the value. */
    source: Schema.String,
    /** Absent where it is a secret. */
    value: Schema.optional(Schema.String),
    expected: Schema.String
  },
  Missing: {
    path: Schema.String,
    description: Schema.String,
    environment: Schema.optional(Schema.String),
    flag: Schema.optional(Schema.String)
  },
  /** Neither a token nor all of an OAuth app; these of the app are missing. */
  NoCredentials: { missing: Schema.Array(Schema.String) },
  SecretUnavailable: { path: Schema.String, reference: Schema.String, cause: Schema.String },
  UnknownResource: { file: Schema.String, resource: Schema.String, closest: Schema.optional(Schema.String) },
  UnknownField: { file: Schema.String, field: Schema.String },
  SeveralLocations: { locations: Schema.Array(Schema.String) }
})
export type SettingProblem = typeof SettingProblem.Type

/** All problems that were found, not the first alone. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", {
  problems: Schema.Array(SettingProblem)
}) {}
