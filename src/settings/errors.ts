/** What can be wrong with settings, as facts without secrets; cli/setting-errors.ts writes the sentences. */
import * as Schema from "effect/Schema"
import { type Setting, flagText } from "../values/setting.ts"

/** `place` is the file with the line, such as `config/sluice.toml:3`. */
export const SettingProblem = Schema.TaggedUnion({
  FileNotFound: { file: Schema.String },
  FileUnreadable: { file: Schema.String, cause: Schema.String },
  InvalidToml: { place: Schema.String, message: Schema.String },
  UnknownSetting: { place: Schema.String, path: Schema.String, closest: Schema.optional(Schema.String) },
  WrongValue: {
    path: Schema.String,
    /** The flag, the variable, or the line of the file that contains the value. */
    place: Schema.String,
    /** Absent for a secret. */
    value: Schema.optional(Schema.String),
    expected: Schema.String
  },
  Missing: {
    /** Only for a location of the file that lacks a setting. */
    place: Schema.optional(Schema.String),
    path: Schema.String,
    description: Schema.String,
    environment: Schema.optional(Schema.String),
    flag: Schema.optional(Schema.String)
  },
  /** There is no token, and the settings of the OAuth app are incomplete: `missing` lists them. */
  NoCredentials: { missing: Schema.Array(Schema.String) },
  SecretUnavailable: { path: Schema.String, reference: Schema.String, cause: Schema.String },
  /** A setting of a publish target that does not fit the others. */
  TargetConflict: { place: Schema.String, path: Schema.String, value: Schema.String, other: Schema.String },
  UnknownTable: { place: Schema.String, table: Schema.String, closest: Schema.optional(Schema.String) },
  /** `reference` contains no secret. */
  KeyUnusable: { path: Schema.String, reference: Schema.String, cause: Schema.String },
  UnknownResource: { place: Schema.String, resource: Schema.String, closest: Schema.optional(Schema.String) },
  UnknownField: { place: Schema.String, field: Schema.String, closest: Schema.optional(Schema.String) }
})
export type SettingProblem = typeof SettingProblem.Type

/** Contains all problems, not only the first. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", {
  problems: Schema.Array(SettingProblem)
}) {}

export const missing = (path: string, { description, environment, flag }: Setting): SettingProblem => ({
  _tag: "Missing",
  path,
  description,
  ...(environment && { environment }),
  ...(flag && { flag: flagText(flag) })
})
