/** The commands that set sluice up, and those about the contract with the readers of its tables. */
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { account, common, flag, reportsSettings, text } from "../run/flags.ts"
import { load } from "../run/load.ts"

const configShow = Command.make("show", reportsSettings, (flags) =>
  load(import("./config.ts"), (_) => _.configShow(flags))
).pipe(
  Command.withDescription("Show every setting, its value, and where the value comes from."),
  Command.withExamples([{ command: "./sluice config show" }])
)
const configValidate = Command.make("validate", reportsSettings, (flags) =>
  load(import("./config.ts"), (_) => _.configValidate(flags))
).pipe(
  Command.withDescription("Report everything that is missing, wrong or unknown in the settings. Sends no request."),
  Command.withExamples([{ command: "./sluice config validate --config config/sluice.toml" }])
)
export const config = Command.make("config").pipe(
  Command.withDescription("Show the settings and where they come from, or check them."),
  Command.withExamples([{ command: "./sluice config show" }, { command: "./sluice config validate" }]),
  Command.withSubcommands([configShow, configValidate])
)

export const init = Command.make(
  "init",
  {
    config: text("config", "File to write; without it, config/sluice.toml."),
    baseUrl: account.baseUrl,
    tokenRef: text("token-ref", "Where the token is: env:NAME, file:/path or cmd:command."),
    location: text("location", "Id of the location to read."),
    formats: text("formats", "Formats to publish: duckdb,parquet,csv, or none."),
    force: flag("force", "Replace existing files."),
    noCheck: flag("no-check", "Write the file without a request that tests the token."),
    json: common.json
  },
  (flags) => load(import("./init.ts"), (_) => _.init(flags))
).pipe(
  Command.withDescription(
    "Write a settings file. Asks for the address, the token, the location and the formats, unless they are given as flags; a token that is typed is stored in a file of its own."
  ),
  Command.withExamples([
    { command: "./sluice init" },
    {
      command:
        "./sluice init --base-url https://api.example.com --token-ref env:CRM_TOKEN --location locationId --formats csv",
      description: "Without a terminal."
    }
  ])
)

const pipelinesCheck = Command.make(
  "check",
  {
    ...reportsSettings,
    folder: Argument.String("folder").pipe(
      Argument.withDescription("Folder of the definitions; without it, pipelines.folder of the settings."),
      Argument.optional,
      Argument.map(Option.getOrUndefined)
    )
  },
  (flags) => load(import("./pipelines.ts"), (_) => _.pipelinesCheck(flags))
).pipe(
  Command.withDescription(
    "Report the mistakes in your own definitions, each with its file and line. Sends no request."
  ),
  Command.withExamples([{ command: "./sluice pipelines check my-pipelines" }])
)
export const pipelines = Command.make("pipelines").pipe(
  Command.withDescription("Check definitions of your own, which are read beside those of sluice."),
  Command.withExamples([{ command: "./sluice pipelines check my-pipelines" }]),
  Command.withSubcommands([pipelinesCheck])
)

export const prune = Command.make(
  "prune",
  {
    ...common,
    apply: flag("apply", "Free the space. Without it, the command only prints what it would remove."),
    compactVault: flag("compact-vault", "Remove all responses from the vault that repeat earlier ones, of any age.")
  },
  (flags) => load(import("../features/prune/command.ts"), (_) => _.prune(flags))
).pipe(
  Command.withDescription(
    "Free disk space: earlier releases and leftovers, and what [prune] in the settings says is too old. The tables stay the same, and a rebuild makes the same ones."
  ),
  Command.withExamples([
    { command: "./sluice prune", description: "What would be removed." },
    { command: "./sluice prune --compact-vault --apply" }
  ])
)

const locationRemove = Command.make(
  "remove",
  {
    ...common,
    id: Argument.String("id").pipe(Argument.withDescription("Id of the location.")),
    apply: flag("apply", "Remove it. Without it, the command only prints what it would remove.")
  },
  (flags) => load(import("../features/privacy/commands/location-remove.ts"), (_) => _.locationRemove(flags))
).pipe(
  Command.withDescription(
    "Remove a location that the settings no longer name: its rows, their history, its responses in the vault and its recordings. Other locations stay as they are."
  ),
  Command.withExamples([
    { command: "./sluice location remove ve9EPM428h8vShlRW1KT", description: "What would be removed." },
    { command: "./sluice location remove ve9EPM428h8vShlRW1KT --apply" }
  ])
)
export const location = Command.make("location").pipe(
  Command.withDescription("Remove a location that is no longer read."),
  Command.withExamples([{ command: "./sluice location remove ve9EPM428h8vShlRW1KT" }]),
  Command.withSubcommands([locationRemove])
)

const lakeMaintain = Command.make(
  "maintain",
  { ...common, apply: flag("apply", "Do it. Without it, the command only prints what it would do.") },
  (flags) => load(import("./lake.ts"), (_) => _.lakeMaintain(flags))
).pipe(
  Command.withDescription(
    "Merge small files of the lake, rewrite files with many deleted rows, and remove versions that are older than lake.expire_after. The tables stay the same."
  ),
  Command.withExamples([
    { command: "./sluice lake maintain", description: "What would be done." },
    { command: "./sluice lake maintain --apply" }
  ])
)
export const lake = Command.make("lake").pipe(
  Command.withDescription("Maintain the lake, the tables that several locations or machines share."),
  Command.withExamples([{ command: "./sluice lake maintain" }]),
  Command.withSubcommands([lakeMaintain])
)

const contractPrint = Command.make("print", {}, () => load(import("./contract.ts"), (_) => _.contractPrint())).pipe(
  Command.withDescription("Print the data contract of the tables as YAML, in the Open Data Contract Standard 3.1."),
  Command.withExamples([{ command: "./sluice contract print > contract.odcs.yaml" }])
)
const contractCheck = Command.make(
  "check",
  {
    file: Argument.String("file").pipe(Argument.withDescription("A contract that an earlier version printed.")),
    json: common.json
  },
  (flags) => load(import("./contract.ts"), (_) => _.contractCheck(flags))
).pipe(
  Command.withDescription(
    "Print what readers of an earlier contract would lose: removed tables and columns, narrower types, other keys. Ends with exit code 1 if there is anything."
  ),
  Command.withExamples([{ command: "./sluice contract check contract.odcs.yaml", description: "Before an upgrade." }])
)
export const contract = Command.make("contract").pipe(
  Command.withDescription("Print what readers of the tables may rely on, or compare it with an earlier version."),
  Command.withExamples([
    { command: "./sluice contract print" },
    { command: "./sluice contract check contract.odcs.yaml" }
  ]),
  Command.withSubcommands([contractPrint, contractCheck])
)

export const dictionary = Command.make(
  "dictionary",
  {
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
  (flags) => load(import("./dictionary.ts"), (_) => _.dictionary(flags))
).pipe(
  Command.withDescription("Print every table and column with its description."),
  Command.withExamples([
    { command: "./sluice dictionary contacts", description: "One table; without a name, the list of all." },
    { command: "./sluice dictionary > dictionary.md", description: "All tables, as Markdown." },
    { command: "./sluice dictionary --html > dictionary.html", description: "The same, for a browser." },
    { command: "./sluice dictionary --personal-data", description: "What a table says about people." },
    { command: "./sluice dictionary --coverage", description: "What is read, what is not, and why." }
  ])
)
