/** The commands that set sluice up, and those about the contract with the readers of its tables. */
import * as Schema from "effect/Schema"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import { account, common, flag, reportsSettings, text } from "../run/flags.ts"
import { load } from "../run/load.ts"
import { command, group } from "../run/command.ts"

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
  examples: [{ command: "./sluice config show" }, { command: "./sluice config validate" }],
  commands: [configShow, configValidate]
})

export const init = command({
  name: "init",
  summary:
    "Write a settings file. Asks for the address, the token, the location and the formats, unless they are given as flags; a token that is typed is stored in a file of its own.",
  flags: {
    config: text("config", "File to write; without it, config/sluice.toml."),
    baseUrl: account.baseUrl,
    tokenRef: text("token-ref", "Where the token is: env:NAME, file:/path or cmd:command."),
    location: text("location", "Id of the location to read."),
    formats: text("formats", "Formats to publish: duckdb,parquet,csv, or none."),
    force: flag("force", "Replace existing files."),
    noCheck: flag("no-check", "Write the file without a request that tests the token."),
    json: common.json
  },
  examples: [
    { command: "./sluice init" },
    {
      command:
        "./sluice init --base-url https://api.example.com --token-ref env:CRM_TOKEN --location locationId --formats csv",
      description: "Without a terminal."
    }
  ],
  run: (flags) => load(import("./init.ts"), (_) => _.init(flags))
})

const pipelinesCheck = command({
  name: "check",
  summary: "Report the mistakes in your own definitions, each with its file and line. Sends no request.",
  flags: {
    ...reportsSettings,
    folder: Argument.String("folder").pipe(
      Argument.withDescription("Folder of the definitions; without it, pipelines.folder of the settings."),
      Argument.optional,
      Argument.map(Option.getOrUndefined)
    )
  },
  examples: [{ command: "./sluice pipelines check my-pipelines" }],
  run: (flags) => load(import("./pipelines.ts"), (_) => _.pipelinesCheck(flags))
})
export const pipelines = group({
  name: "pipelines",
  summary: "Check definitions of your own, which are read beside those of sluice.",
  examples: [{ command: "./sluice pipelines check my-pipelines" }],
  commands: [pipelinesCheck]
})

export const prune = command({
  name: "prune",
  summary:
    "Free disk space: earlier releases and leftovers, and what [prune] in the settings says is too old. The tables stay the same, and a rebuild makes the same ones.",
  flags: {
    ...common,
    apply: flag("apply", "Free the space. Without it, the command only prints what it would remove."),
    compactVault: flag("compact-vault", "Remove all responses from the vault that repeat earlier ones, of any age.")
  },
  examples: [
    { command: "./sluice prune", description: "What would be removed." },
    { command: "./sluice prune --compact-vault --apply" }
  ],
  run: (flags) => load(import("../features/prune/command.ts"), (_) => _.prune(flags))
})

const locationRemove = command({
  name: "remove",
  summary:
    "Remove a location that the settings no longer name: its rows, their history, its responses in the vault and its recordings. Other locations stay as they are.",
  flags: {
    ...common,
    id: Argument.String("id").pipe(Argument.withDescription("Id of the location.")),
    apply: flag("apply", "Remove it. Without it, the command only prints what it would remove.")
  },
  examples: [
    { command: "./sluice location remove ve9EPM428h8vShlRW1KT", description: "What would be removed." },
    { command: "./sluice location remove ve9EPM428h8vShlRW1KT --apply" }
  ],
  run: (flags) => load(import("../features/privacy/commands/location-remove.ts"), (_) => _.locationRemove(flags))
})
export const location = group({
  name: "location",
  summary: "Remove a location that is no longer read.",
  examples: [{ command: "./sluice location remove ve9EPM428h8vShlRW1KT" }],
  commands: [locationRemove]
})

const lakeMaintain = command({
  name: "maintain",
  summary:
    "Merge small files of the lake, rewrite files with many deleted rows, and remove versions that are older than lake.expire_after. The tables stay the same.",
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
  examples: [{ command: "./sluice lake maintain" }],
  commands: [lakeMaintain]
})

const modelsExport = command({
  name: "export",
  summary: "Write the models as a project of dbt, with a staging view, sources and tests for every table.",
  flags: {
    folder: Argument.String("folder").pipe(Argument.withDescription("Folder to write.")),
    force: flag("force", "Replace the files of an earlier project."),
    json: common.json
  },
  examples: [{ command: "./sluice models export crm-models" }],
  run: (flags) => load(import("./models-export.ts"), (_) => _.modelsExport(flags))
})
export const models = group({
  name: "models",
  summary: "Write the models of the published tables as a project of dbt.",
  examples: [{ command: "./sluice models export crm-models" }],
  commands: [modelsExport]
})

const contractPrint = command({
  name: "print",
  summary: "Print the data contract of the tables as YAML, in the Open Data Contract Standard 3.1.",
  flags: {},
  examples: [{ command: "./sluice contract print > contract.odcs.yaml" }],
  run: () => load(import("./contract.ts"), (_) => _.contractPrint())
})
const contractCheck = command({
  name: "check",
  summary:
    "Print what readers of an earlier contract would lose: removed tables and columns, narrower types, other keys. Ends with exit code 1 if there is anything.",
  flags: {
    file: Argument.String("file").pipe(Argument.withDescription("A contract that an earlier version printed.")),
    json: common.json
  },
  examples: [{ command: "./sluice contract check contract.odcs.yaml", description: "Before an upgrade." }],
  run: (flags) => load(import("./contract.ts"), (_) => _.contractCheck(flags))
})
export const contract = group({
  name: "contract",
  summary: "Print what readers of the tables may rely on, or compare it with an earlier version.",
  examples: [{ command: "./sluice contract print" }, { command: "./sluice contract check contract.odcs.yaml" }],
  commands: [contractPrint, contractCheck]
})

export const dictionary = command({
  name: "dictionary",
  summary: "Print every table and column with its description.",
  flags: {
    tables: Argument.String("table").pipe(
      Argument.withDescription("Print these tables or families only."),
      Argument.variadic()
    ),
    json: common.json,
    coverage: flag(
      "coverage",
      "Print every read operation of the API with the tables it fills, or why it is not read."
    ),
    personalData: flag("personal-data", "Print only the columns that contain personal data, with their class."),
    html: flag("html", "Print one HTML page with a search, diagrams and an example query for each table.")
  },
  examples: [
    { command: "./sluice dictionary contacts", description: "One table; without a name, the list of all." },
    { command: "./sluice dictionary > dictionary.md", description: "All tables, as Markdown." },
    { command: "./sluice dictionary --html > dictionary.html", description: "The same, for a browser." },
    { command: "./sluice dictionary --personal-data", description: "What a table says about people." },
    { command: "./sluice dictionary --coverage", description: "What is read, what is not, and why." }
  ],
  run: (flags) => load(import("./dictionary.ts"), (_) => _.dictionary(flags))
})

/** What the commands print with `--json`. */
export const setupResults = () => {
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

  return {
    init: Init,
    "config-show": ConfigShow,
    "config-validate": ConfigValidate,
    "contract-check": ContractCheck,
    "models-export": Schema.Struct({ folder: Schema.String, views: Schema.Int }),
    "pipelines-check": PipelinesCheck,
    prune: Prune,
    "location-remove": LocationRemove,
    "lake-maintain": LakeMaintain,
    dictionary: Dictionary,
    coverage: Coverage
  }
}
