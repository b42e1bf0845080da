/** The commands about what the tables mean, and what their readers may rely on. */
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import { command, group } from "../../command/command.ts"
import { argument, choice, common, flag } from "../../command/flags.ts"
import { load } from "../../command/load.ts"

const contractPrint = command({
  name: "print",
  summary: "Print the data contract of the tables and models as YAML, in the Open Data Contract Standard 3.1.",
  flags: {},
  examples: [{ command: "./sluice contract print > contract.odcs.yaml" }],
  run: () => load(import("./contract.ts"), (_) => _.contractPrint())
})

const contractCheck = command({
  name: "check",
  summary:
    "Print what readers of an earlier contract would lose: removed tables and columns, narrower types, other keys. Ends with exit code 1 if there is anything.",
  flags: {
    file: argument("file", "A contract that an earlier version printed."),
    json: common.json
  },
  examples: [{ command: "./sluice contract check contract.odcs.yaml", description: "Before an upgrade." }],
  run: (flags) => load(import("./contract.ts"), (_) => _.contractCheck(flags))
})

export const contract = group({
  name: "contract",
  summary: "Print what readers of the tables may rely on, or compare it with an earlier version.",
  commands: [contractPrint, contractCheck]
})

export const dictionary = command({
  name: "dictionary",
  summary: "Print every table, model and column with its description.",
  flags: {
    tables: Argument.String("table").pipe(
      Argument.withDescription("Print these tables, models or families only: contacts, fct_opportunity, 'invoices/*'."),
      Argument.variadic()
    ),
    ...common,
    coverage: flag(
      "coverage",
      "Print every read operation of the API with the tables it fills, or why it is not read."
    ),
    personalData: flag("personal-data", "Print only the columns that contain personal data, with their class."),
    as: choice("as", ["html"], "Print one HTML page with a search, lineage, and what the output folder holds.")
  },
  examples: [
    { command: "./sluice dictionary contacts", description: "One table; without a name, the list of all." },
    {
      command: "./sluice dictionary fct_opportunity",
      description: "A model, and from which columns each of its own is made."
    },
    { command: "./sluice dictionary > dictionary.md", description: "All tables and models, as Markdown." },
    { command: "./sluice dictionary --as html > dictionary.html", description: "The same, for a browser." },
    { command: "./sluice dictionary --personal-data", description: "What a table says about people." },
    { command: "./sluice dictionary --coverage", description: "What is read, what is not, and why." }
  ],
  run: (flags) => load(import("./dictionary.ts"), (_) => _.dictionary(flags))
})

/** What the commands print with `--json`. */
export const documentResults = () => ({
  /** How many tables and models the contract has, and one sentence for each breaking change. */
  "contract-check": Schema.Struct({ tables: Schema.Int, breaking: Schema.Array(Schema.String) }),
  dictionary: Schema.Struct({
    tables: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        description: Schema.String,
        key: Schema.Array(Schema.String),
        parentColumn: Schema.optionalKey(Schema.String),
        detail: Schema.Boolean,
        /** The settings keep all its rows out. */
        isExcluded: Schema.optionalKey(Schema.Boolean),
        columns: Schema.Array(
          Schema.Struct({
            name: Schema.String,
            type: Schema.String,
            sql: Schema.String,
            description: Schema.String,
            personal: Schema.String,
            references: Schema.optionalKey(Schema.String),
            role: Schema.optionalKey(Schema.String),
            /** The column of another table, or the table, whose values it repeats. */
            copyOf: Schema.optionalKey(Schema.String),
            /** The settings keep its values out, or hash them. */
            withheld: Schema.optionalKey(Schema.Literals(["excluded", "hashed"])),
            enumValues: Schema.optionalKey(Schema.Array(Schema.String)),
            detail: Schema.Boolean
          })
        )
      })
    ),
    models: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        description: Schema.String,
        /** Relative to the folder of the models. */
        file: Schema.String,
        key: Schema.Array(Schema.String),
        /** The tables and models that its SQL names. */
        reads: Schema.Array(Schema.String),
        /** What each state of its records counts as, and why. */
        states: Schema.Array(Schema.String),
        /** The figures that are made of it. */
        figures: Schema.Array(Schema.String),
        columns: Schema.Array(
          Schema.Struct({
            name: Schema.String,
            type: Schema.String,
            description: Schema.String,
            personal: Schema.String,
            /** The columns of tables from which it is made, as far as the SQL says it. */
            from: Schema.Array(Schema.String),
            /** The column whose value it is, unchanged. */
            copyOf: Schema.optionalKey(Schema.String),
            /** Those that the API documents for that column. */
            documentedValues: Schema.optionalKey(Schema.Array(Schema.String))
          })
        )
      })
    )
  }),
  coverage: Schema.Struct({
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
})
