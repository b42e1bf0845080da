/** What can be wrong with settings, as facts without secrets; src/console/setting-errors.ts writes the sentences. */
import * as Schema from "effect/Schema"
import { type Finding, wrong } from "../values/finding.ts"
import { type Setting, flagText } from "../values/setting.ts"

const Need = Schema.Literals(["key", "parent", "change", "request", "person", "whole", "system"])

export const SettingFact = Schema.TaggedUnion({
  FileNotFound: {},
  FileUnreadable: { cause: Schema.String },
  InvalidToml: { message: Schema.String },
  UnknownSetting: { path: Schema.String, closest: Schema.optional(Schema.String) },
  WrongValue: {
    path: Schema.String,
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
  SecretUnavailable: { reference: Schema.String, cause: Schema.String },
  /** No request can carry it, or it is more than the secret. */
  SecretUnusable: { reference: Schema.String, cause: Schema.String },
  /** The output folder, or something in it, belongs to another user. */
  FolderDenied: {
    path: Schema.String,
    folder: Schema.String,
    denied: Schema.Struct({ path: Schema.String, owner: Schema.String, user: Schema.String })
  },
  /** A setting of a publish target that does not fit the others. */
  TargetConflict: { path: Schema.String, value: Schema.String, other: Schema.String },
  UnknownTable: { table: Schema.String, closest: Schema.optional(Schema.String) },
  /** `reference` contains no secret. */
  KeyUnusable: { reference: Schema.String, cause: Schema.String },
  UnknownResource: { resource: Schema.String, closest: Schema.optional(Schema.String) },
  /** `[tables.NAME]` names no table. */
  UnknownTableSection: { table: Schema.String, closest: Schema.optional(Schema.String) },
  UnknownColumn: {
    table: Schema.String,
    key: Schema.String,
    column: Schema.String,
    closest: Schema.optional(Schema.String)
  },
  /** A column that is needed, and so cannot be kept out. */
  NeededColumn: {
    table: Schema.String,
    key: Schema.String,
    column: Schema.String,
    need: Need
  },
  /** The same, for a column whose class is kept out. */
  NeededOfClass: { table: Schema.String, column: Schema.String, need: Need },
  NoSingleReads: { table: Schema.String },
  OnlyAndExclude: { table: Schema.String },
  /** A column whose values are no texts, or words of a list, or that is also excluded. */
  NotHashable: { table: Schema.String, column: Schema.String },
  UnknownField: { field: Schema.String, closest: Schema.optional(Schema.String) }
})

/** `where`: the flag, the variable, or the file with the line, such as `config/sluice.toml:3`; the setting itself if it is in none. */
export type SettingProblem = Finding<"wrong", typeof SettingFact.Type>

/** Contains all problems, not only the first. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", {
  problems: Schema.Array(Schema.Struct({ level: Schema.Literal("wrong"), where: Schema.String, what: SettingFact }))
}) {}

/** The path of the setting, such as `account.token`. */
export const settingOf = ({ where, what }: SettingProblem): string => ("path" in what ? what.path : where)

export const isMissing = ({ what }: SettingProblem): boolean => what._tag === "Missing" || what._tag === "NoCredentials"

export const missing = (path: string, { description, environment, flag }: Setting): SettingProblem =>
  wrong(path, {
    _tag: "Missing",
    path,
    description,
    ...(environment && { environment }),
    ...(flag && { flag: flagText(flag) })
  })
