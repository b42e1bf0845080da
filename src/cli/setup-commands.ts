/** The commands that set sluice up, and those about the contract with the readers of its tables. */
import * as Schema from "effect/Schema"
import { account, argument, common, flag, optionalArgument, reportsSettings, text } from "../command/flags.ts"
import { load } from "../command/load.ts"
import { command, group } from "../command/command.ts"

const configShow = command({
  name: "show",
  summary: "Show every setting, its value, and where the value comes from.",
  flags: reportsSettings,
  examples: [{ command: "./sluice config show" }],
  run: (flags) => load(import("./config.ts"), (_) => _.configShow(flags))
})
const configValidate = command({
  name: "validate",
  summary: "Report everything that is missing, wrong or unknown in the settings. Sends no request.",
  flags: reportsSettings,
  examples: [{ command: "./sluice config validate --config config/sluice.toml" }],
  run: (flags) => load(import("./config.ts"), (_) => _.configValidate(flags))
})
export const config = group({
  name: "config",
  summary: "Show the settings and where they come from, or check them.",
  commands: [configShow, configValidate]
})

export const init = command({
  name: "init",
  summary:
    "Write a settings file. Asks for the address, the token and the location, unless they are given as flags; a token that is typed is stored in a file of its own.",
  flags: {
    config: text("config", "File to write; without it, config/sluice.toml."),
    baseUrl: account.baseUrl,
    tokenRef: text("token-ref", "Where the token is: env:NAME, file:/path or cmd:command."),
    location: text("location", "Id of the location to read."),
    formats: text(
      "format",
      "Formats to publish, or none; without it, duckdb alone: each further one makes the publishing of a night a quarter dearer."
    ),
    force: flag("force", "Replace existing files."),
    add: flag(
      "add",
      "Add a location to the file that is there, whose comments stay; without --token-ref, with its token."
    ),
    noCheck: flag("no-check", "Write the file without a request that tests the token."),
    json: common.json
  },
  examples: [
    { command: "./sluice init" },
    {
      command: "./sluice init --base-url https://api.example.com --token-ref env:CRM_TOKEN --location locationId",
      description: "Without a terminal."
    },
    {
      command: "./sluice init --add --location otherLocationId --token-ref file:/run/secrets/other",
      description: "Another location."
    }
  ],
  run: (flags) => load(import("./init.ts"), (_) => _.init(flags))
})

const pipelinesCheck = command({
  name: "check",
  summary: "Report the mistakes in your own definitions, each with its file and line. Sends no request.",
  flags: {
    ...reportsSettings,
    folder: optionalArgument("folder", "Folder of the definitions; without it, pipelines.folder of the settings.")
  },
  examples: [{ command: "./sluice pipelines check my-pipelines" }],
  run: (flags) => load(import("./pipelines.ts"), (_) => _.pipelinesCheck(flags))
})
export const pipelines = group({
  name: "pipelines",
  summary: "Check definitions of your own, which are read beside those of sluice.",
  commands: [pipelinesCheck]
})

const lakeMaintain = command({
  name: "maintain",
  summary:
    "Merge small files of the lake, rewrite files with many deleted rows, and remove versions that are older than expire_after of its target. The tables stay the same.",
  flags: { ...common, apply: flag("apply", "Do it. Without it, the command only prints what it would do.") },
  examples: [
    { command: "./sluice lake maintain", description: "What would be done." },
    { command: "./sluice lake maintain --apply" }
  ],
  run: (flags) => load(import("./lake.ts"), (_) => _.lakeMaintain(flags))
})
export const lake = group({
  name: "lake",
  summary: "Maintain the lake, the tables that several locations or machines share.",
  commands: [lakeMaintain]
})

const modelsExport = command({
  name: "export",
  summary: "Write the models as a project of dbt, with a staging view, sources and tests for every table.",
  flags: {
    folder: argument("folder", "Folder to write."),
    force: flag("force", "Replace the files of an earlier project."),
    json: common.json
  },
  examples: [{ command: "./sluice models export crm-models" }],
  run: (flags) => load(import("./models-export.ts"), (_) => _.modelsExport(flags))
})
export const models = group({
  name: "models",
  summary: "Write the models of the published tables as a project of dbt.",
  commands: [modelsExport]
})

/** What the commands print with `--json`. */
export const setupResults = () => ({
  /** The files that were written. */
  init: Schema.Struct({
    files: Schema.Array(Schema.String),
    /** The name of the account, if it was read. */
    account: Schema.optionalKey(Schema.String)
  }),
  "config-show": Schema.Struct({
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
  }),
  "config-validate": Schema.Struct({
    file: Schema.String,
    /** One sentence for each. */
    problems: Schema.Array(Schema.String),
    /** The setting of each problem: `schedule.times`. */
    settings: Schema.Array(Schema.String)
  }),
  "models-export": Schema.Struct({ folder: Schema.String, views: Schema.Int }),
  /** The definitions of the user's folder, and the mistakes in its files. */
  "pipelines-check": Schema.Struct({
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
  }),
  "lake-maintain": Schema.Struct({
    applied: Schema.Boolean,
    steps: Schema.Array(
      Schema.Struct({
        target: Schema.String,
        step: Schema.Literals(["rewrite", "merge", "expire", "delete", "orphans", "commits"]),
        count: Schema.Int,
        what: Schema.String
      })
    )
  })
})
