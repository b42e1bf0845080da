/**
 * The commands and their flags. The module of a command is loaded only when it runs, so that help is printed at once. For
 * the same reason, help and `status` load no module that imports the whole of `effect` (bench/startup.ts).
 */
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { type CommandDescriptor, fromCommand } from "effect/cli/Completions"
import * as Flag from "effect/cli/Flag"
import { flagDescription } from "../settings/documents.ts"
import { demoFolder } from "../output/paths.ts"
import { exportTables } from "../features/export/export-commands.ts"
import { account, choice, common, commonLines, durationFlag, flag, reportsSettings, run, text } from "../run/flags.ts"
import { fleet } from "../features/fleet/commands/fleet-commands.ts"
import { ledger } from "../features/ledger/ledger-commands.ts"
import { load, loadRun } from "../run/load.ts"
import { explore } from "../features/explore/definition.ts"
import { listen } from "../features/listen/definition.ts"
import { check, schedule } from "../features/operations/night-commands.ts"
import { config, contract, dictionary, init, lake, location, pipelines, prune } from "./setup-commands.ts"
import { hold, retention, subject } from "../features/privacy/commands/subject-commands.ts"

const deadline = text("deadline", "When to stop, after 5h or at 06:00 local time; the next run resumes.")

const demo = Command.make(
  "demo",
  {
    output: text("output", `Folder to make anew; without it, ${demoFolder}. It must hold nothing but an earlier demo.`),
    fleet: flag(
      "fleet",
      "Sync 20 made-up locations on three workers instead, of which one is killed. Needs PostgreSQL."
    )
  },
  ({ fleet, ...flags }) =>
    fleet
      ? load(import("../features/fleet/commands/demo-fleet.ts"), (_) => _.demoFleet(flags))
      : load(import("./demo.ts"), (_) => _.demo(flags))
).pipe(
  Command.withDescription("Sync a made-up account, change it, sync again and publish."),
  Command.withExamples([{ command: "./sluice demo", description: "It needs no account and no settings." }])
)
const plan = Command.make("plan", account, (flags) => load(import("./plan.ts"), (_) => _.plan(flags))).pipe(
  Command.withDescription(
    "Estimate what a sync would read, in requests and time. Sends one request for each list that was never read."
  ),
  Command.withExamples([{ command: "./sluice plan" }])
)
const sync = Command.make(
  "sync",
  {
    ...account,
    ...commonLines,
    ...run,
    deadline,
    acceptDeletions: flag("accept-deletions", "Mark records deleted however many are missing; see deletions.max_share.")
  },
  (flags) => loadRun("sync", flags, import("../run/sync.ts"), (_) => _.syncCommand(flags))
).pipe(
  Command.withDescription("Read what is new or changed, or resume an interrupted run; then publish."),
  Command.withExamples([
    { command: "./sluice sync", description: "The nightly run." },
    { command: "./sluice sync --only contacts,payments --full", description: "Read these again from the beginning." }
  ])
)
const backfill = Command.make(
  "backfill",
  {
    ...account,
    ...commonLines,
    ...run,
    deadline,
    full: flag("full", "Read again what an earlier backfill has read."),
    from: Flag.String("from").pipe(Flag.withDescription("First day or time, in UTC: 2025-01-01.")),
    to: text("to", "Last day, or the time to stop before; without it, now.")
  },
  (flags) => loadRun("backfill", flags, import("../run/backfill.ts"), (_) => _.backfill(flags))
).pipe(
  Command.withDescription(
    "Read a past period again, month by month. A sync goes first: a backfill leaves it enough of the day's requests, and stops when one starts. Run again, it resumes."
  ),
  Command.withExamples([
    { command: "./sluice backfill --from 2025-01-01 --to 2025-06-30 --only messages,orders" },
    { command: "./sluice backfill --from 2020-01-01", description: "Everything that the API can filter by date." }
  ])
)
const publish = Command.make(
  "publish",
  {
    ...common,
    ...run,
    stdout: text(
      "stdout",
      "Write this table to stdout, and publish nothing: contacts, crm_history.contacts, meta.runs."
    ),
    format: choice("format", ["csv", "ndjson", "parquet"], "With --stdout: csv (the default), ndjson or parquet."),
    columns: text("columns", "With --stdout: write these columns only, in this order: id,email."),
    where: text("where", "With --stdout: write the rows that meet this SQL condition."),
    profile: choice(
      "profile",
      ["raw", "masked", "analytics"],
      "With --stdout: the personal data of the rows; raw by default, see docs/masking.md."
    ),
    full: flag("full", "Write every file anew, also those whose tables have not changed."),
    csvProfile: choice("csv-profile", ["machine", "spreadsheet"], flagDescription("csvProfile"))
  },
  (flags) => loadRun("publish", flags, import("./publish.ts"), (_) => _.publishCommand(flags))
).pipe(
  Command.withDescription("Publish what has changed in the warehouse, without a request."),
  Command.withExamples([
    { command: "./sluice publish" },
    {
      command: "./sluice publish --stdout contacts --csv-profile spreadsheet > contacts.csv",
      description: "One table, with formulas made harmless."
    },
    { command: "./sluice publish --stdout opportunities --where \"status = 'won'\" --columns id,name,monetary_value" }
  ])
)
const status = Command.make(
  "status",
  {
    ...common,
    location: account.location,
    only: account.only,
    except: account.except,
    all: flag("all", "List complete resources too."),
    check: flag("check", "End with exit code 3 if a resource was never read, or not to its end."),
    maxAge: durationFlag("max-age", "As --check, also if a resource was last read completely before this time: 26h.")
  },
  (flags) => load(import("./status.ts"), (_) => _.status(flags))
).pipe(
  Command.withDescription("Show what is not read completely, how fresh the tables are, and what runs now."),
  Command.withExamples([
    { command: "./sluice status" },
    { command: "./sluice status --max-age 26h", description: "For monitoring." }
  ])
)
const report = Command.make(
  "report",
  { ...common, file: text("file", "Write the report into this file instead of the current release: report.html.") },
  (flags) => load(import("../features/report/report-page.ts"), (_) => _.reportCommand(flags))
).pipe(
  Command.withDescription(
    "Write one HTML file about the runs, the completeness and the figures of the account. Each sync, backfill and publish does this too."
  ),
  Command.withExamples([
    { command: "./sluice report", description: "Into output/published/report/index.html." },
    { command: "./sluice report --file report.html", description: "Elsewhere, for example to send it." }
  ])
)
const rebuild = Command.make("rebuild", { ...commonLines, ...run }, (flags) =>
  loadRun("rebuild", flags, import("./rebuild.ts"), (_) => _.rebuild(flags))
).pipe(
  Command.withDescription("Rebuild every table from the vault, without a request."),
  Command.withExamples([{ command: "./sluice rebuild", description: "After a definition or a type has changed." }])
)
const verify = Command.make(
  "verify",
  {
    ...common,
    baseUrl: account.baseUrl,
    location: account.location,
    sample: Flag.Int("sample").pipe(
      Flag.withDescription("Read this many rows from the service, one request each, and compare them with the tables."),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    ),
    all: flag("all", "Compare every record of the vault with its row, not a sample of 200.")
  },
  (flags) => load(import("../features/verify/command.ts"), (_) => _.verifyCommand(flags))
).pipe(
  Command.withDescription("Check that the vault, the tables and the files are complete and agree. Changes nothing."),
  Command.withExamples([
    { command: "./sluice verify", description: "Without a request." },
    { command: "./sluice verify --sample 50", description: "Compare 50 rows with the service as well." }
  ])
)
const doctor = Command.make("doctor", reportsSettings, (flags) =>
  load(import("../features/doctor/command.ts"), (_) => _.doctor(flags))
).pipe(
  Command.withDescription("Check settings, machine, token, scopes and rate limits. Sends about 30 small requests."),
  Command.withExamples([
    { command: "./sluice doctor", description: "Before the first sync, or after one that failed." }
  ])
)
const completions = Command.make(
  "completions",
  { shell: Argument.Literals("shell", ["bash", "zsh", "fish"]) },
  (flags) => load(import("./completions.ts"), (_) => _.completions({ ...flags, commands: allCommands }))
).pipe(
  Command.withDescription("Print a script by which a shell completes commands, flags and table names."),
  Command.withExamples([
    { command: "source <(./sluice completions bash)" },
    { command: "./sluice completions fish | source" }
  ])
)
/** The annotation ends the circle of inferred types. */
export const allCommands = (): CommandDescriptor => fromCommand(sluice)

// run.ts starts the sandbox before this command is parsed: the sandbox has flags of its own.
const sandbox = Command.make("sandbox").pipe(
  Command.withDescription("Serve the documented API from memory, for trials and tests. See ./sluice sandbox --help.")
)

export const sluice = Command.make("sluice").pipe(
  Command.withDescription("Copy an Account Platform account into DuckDB, Parquet and CSV tables."),
  Command.withExamples([
    { command: "./sluice demo", description: "See it work; no account is needed." },
    { command: "./sluice sync", description: "Read what is new or changed." }
  ]),
  Command.withSubcommands([
    demo,
    init,
    sync,
    schedule,
    plan,
    backfill,
    status,
    check,
    publish,
    explore,
    listen,
    fleet,
    exportTables,
    ledger,
    report,
    subject,
    hold,
    retention,
    prune,
    location,
    lake,
    rebuild,
    verify,
    doctor,
    config,
    dictionary,
    contract,
    pipelines,
    completions,
    sandbox
  ])
)
