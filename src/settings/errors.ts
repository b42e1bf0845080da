/** What can be wrong with settings, as facts without secrets; cli/setting-errors.ts writes the sentences. */
import * as Schema from "effect/Schema"

export const SettingProblem = Schema.TaggedUnion({
  FileNotFound: { file: Schema.String },
  FileUnreadable: { file: Schema.String, cause: Schema.String },
  /** The message contains the line and the column. */
  InvalidToml: { file: Schema.String, message: Schema.String },
  UnknownSetting: { file: Schema.String, path: Schema.String, closest: Schema.optional(Schema.String) },
  WrongValue: {
    path: Schema.String,
    /** The flag, the variable or the file that contains the value. */
    source: Schema.String,
    /** Absent for a secret. */
    value: Schema.optional(Schema.String),
    expected: Schema.String
  },
  Missing: {
    path: Schema.String,
    description: Schema.String,
    environment: Schema.optional(Schema.String),
    flag: Schema.optional(Schema.String)
  },
  /** There is no token, and the settings of the OAuth app are incomplete: `missing` lists them. */
  NoCredentials: { missing: Schema.Array(Schema.String) },
  SecretUnavailable: { path: Schema.String, reference: Schema.String, cause: Schema.String },
  UnknownResource: { file: Schema.String, resource: Schema.String, closest: Schema.optional(Schema.String) },
  UnknownField: { file: Schema.String, field: Schema.String },
  SeveralLocations: { locations: Schema.Array(Schema.String) }
})
export type SettingProblem = typeof SettingProblem.Type

/** Contains all problems, not only the first. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", {
  problems: Schema.Array(SettingProblem)
}) {}
