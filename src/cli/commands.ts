/**
 * The commands and their flags. The module of a command is loaded only when it runs, so that help is printed at once. For
 * the same reason, help and `status` load no module that imports the whole of `effect` (bench/startup.ts).
 */
import * as Argument from "effect/cli/Argument"
import { type CommandDescriptor, fromCommand } from "effect/cli/Completions"
import * as Flag from "effect/cli/Flag"
import { formatNames } from "../stores/formats/formats.ts"
import { demoFolder } from "../output/paths.ts"
import { exportResults, exportTables } from "../features/export/commands.ts"
import { account, choice, common, commonLines, durationFlag, flag, run, text } from "../command/flags.ts"
import { fleet } from "../features/fleet/commands.ts"
import { fleetResults } from "../features/fleet/results.ts"
import { ledger, ledgerResults } from "../features/ledger/commands.ts"
import { load, loadRun } from "../command/load.ts"
import { explore, exploreResults } from "../features/explore/commands.ts"
import { mcp } from "../features/explore/mcp/commands.ts"
import { serveCommand, serveResults } from "../features/serve/commands.ts"
import { listen, listenResults } from "../features/listen/commands.ts"
import { check, nightResults, schedule } from "../features/operations/commands.ts"
import { runResults } from "../run/result-data.ts"
import { config, init, lake, models, pipelines, setupResults } from "./setup-commands.ts"
import { contract, dictionary, documentResults } from "../features/documents/commands.ts"
import { doctor, doctorResults } from "../features/doctor/commands.ts"
import { location, locationResults } from "../features/privacy/location/commands.ts"
import { backup, backupResults } from "../features/backup/commands.ts"
import { prune, pruneResults } from "../features/prune/commands.ts"
import { report, reportResults } from "../features/report/commands.ts"
import { verify, verifyResults } from "../features/verify/commands.ts"
import { hold, privacyResults, retention, subject } from "../features/privacy/subject/commands.ts"
import { type DataOf, command, group } from "../command/command.ts"
import * as Effect from "effect/Effect"
import type { RunFlags } from "../command/run-flags.ts"
import { tetherVariable } from "../features/fleet/tether.ts"
import { type Flags, readSettings } from "../settings/read.ts"
import { Environment } from "../values/environment.ts"

const deadline = text("deadline", "When to stop, after 5h or at 06:00 local time; the next run resumes.")

const demo = command({
  name: "demo",
  summary: "Sync a made-up account, change it, sync again and publish.",
  flags: {
    output: text("output", `Folder to make anew; without it, ${demoFolder}. It must hold nothing but an earlier demo.`),
    fleet: flag(
      "fleet",
      "Sync 20 made-up locations on three workers instead, of which one is killed. Needs PostgreSQL."
    )
  },
  examples: [{ command: "./sluice demo", description: "It needs no account and no settings." }],
  run: ({ fleet, ...flags }) =>
    fleet
      ? load(import("../features/fleet/commands/demo-fleet.ts"), (_) => _.demoFleet(flags))
      : load(import("./demo.ts"), (_) => _.demo(flags))
})
const plan = command({
  name: "plan",
  summary:
    "Estimate what a sync would read, in requests and time. Sends one request for each list that was never read.",
  flags: account,
  examples: [{ command: "./sluice plan" }],
  run: (flags) => load(import("./plan.ts"), (_) => _.plan(flags))
})
const sync = command({
  name: "sync",
  summary: "Read what is new or changed, or resume an interrupted run; then publish.",
  flags: {
    ...account,
    ...commonLines,
    ...run,
    deadline,
    acceptDeletions: flag("accept-deletions", "Mark records deleted however many are missing; see deletions.max_share.")
  },
  examples: [
    { command: "./sluice sync", description: "The nightly run." },
    { command: "./sluice sync --only contacts,payments --again lists", description: "Read these from the beginning." }
  ],
  run: (flags) => loadFenced("sync", flags, import("./sync.ts"), (_) => _.syncCommand(flags))
})
const backfill = command({
  name: "backfill",
  summary:
    "Read a past period again, month by month. A sync goes first: a backfill leaves it enough of the day's requests, and stops when one starts. Run again, it resumes; with --again lists, it reads the period anew.",
  flags: {
    ...account,
    ...commonLines,
    ...run,
    deadline,
    from: Flag.String("from").pipe(Flag.withDescription("First day or time, in UTC: 2025-01-01.")),
    to: text("to", "Last day, or the time to stop before; without it, now.")
  },
  examples: [
    { command: "./sluice backfill --from 2025-01-01 --to 2025-06-30 --only messages,orders" },
    { command: "./sluice backfill --from 2020-01-01", description: "Everything that the API can filter by date." }
  ],
  run: (flags) => loadFenced("backfill", flags, import("./sync.ts"), (_) => _.backfillCommand(flags))
})
const publish = command({
  name: "publish",
  summary: "Publish what has changed in the warehouse, without a request.",
  flags: {
    ...common,
    ...run,
    stdout: text(
      "stdout",
      "Write this table or model to stdout, and publish nothing: contacts, crm_history.contacts, meta.runs, fct_opportunity."
    ),
    format: choice("format", formatNames, `With --stdout: ${formatNames.join(", ")}; without it, csv.`),
    columns: text("columns", "With --stdout: write these columns only, in this order: id,email."),
    where: text("where", "With --stdout: write the rows that meet this SQL condition."),
    profile: choice(
      "profile",
      ["raw", "masked", "analytics"],
      "With --stdout: the personal data of the rows; raw by default, see docs/hand-out.md."
    ),
    full: flag("full", "Write every file anew, also those whose tables have not changed.")
  },
  examples: [
    { command: "./sluice publish" },
    { command: "./sluice publish --stdout contacts > contacts.csv", description: "One table as CSV." },
    { command: "./sluice publish --stdout opportunities --where \"status = 'won'\" --columns id,name,monetary_value" }
  ],
  run: (flags) => loadRun("publish", flags, import("./publish.ts"), (_) => _.publishCommand(flags))
})
const status = command({
  name: "status",
  summary: "Show what is not read completely, how fresh the tables are, and what runs now.",
  flags: {
    ...common,
    location: account.location,
    only: account.only,
    except: account.except,
    all: flag("all", "List complete resources too."),
    check: flag("check", "End with exit code 3 if a resource was never read, or not to its end."),
    maxAge: durationFlag("max-age", "As --check, also if a resource was last read completely before this time: 26h.")
  },
  examples: [
    { command: "./sluice status" },
    { command: "./sluice status --max-age 26h", description: "For monitoring." }
  ],
  run: (flags) => load(import("./status.ts"), (_) => _.status(flags))
})
const rebuild = command({
  name: "rebuild",
  summary: "Rebuild every table from the vault, without a request.",
  flags: { ...commonLines, ...run },
  examples: [{ command: "./sluice rebuild", description: "After a definition or a type has changed." }],
  run: (flags) => loadRun("rebuild", flags, import("./rebuild.ts"), (_) => _.rebuild(flags))
})
const completions = command({
  name: "completions",
  summary: "Print a script by which a shell completes commands, flags and table names.",
  flags: { shell: Argument.Literals("shell", ["bash", "zsh", "fish"]) },
  examples: [{ command: "source <(./sluice completions bash)" }, { command: "./sluice completions fish | source" }],
  run: (flags) => load(import("./completions.ts"), (_) => _.completions({ ...flags, commands: allCommands }))
})
const serve = serveCommand(() => allCommands())
/** The annotation ends the circle of inferred types. */
export const allCommands = (): CommandDescriptor => fromCommand(sluice)

// run.ts starts the sandbox before this command is parsed: the sandbox has flags of its own.
const sandbox = group({
  name: "sandbox",
  summary: "Serve the documented API from memory, for trials and tests. See ./sluice sandbox --help.",
  examples: [{ command: "./sluice sandbox --contacts 2000" }],
  commands: []
})

export const sluice = group({
  name: "sluice",
  summary:
    "Copy an Account Platform account into tables: DuckDB, Parquet and CSV files, PostgreSQL, SQLite, buckets or a lake.",
  examples: [
    { command: "./sluice demo", description: "See it work; no account is needed." },
    { command: "./sluice sync", description: "Read what is new or changed." }
  ],
  commands: [
    { group: "To begin", commands: [demo, serve, init, doctor, config] },
    { group: "Every night", commands: [plan, sync, status, check, schedule] },
    { group: "What was read", commands: [explore, report, dictionary, publish, exportTables] },
    { group: "For other programs", commands: [mcp, models, contract, lake, fleet, pipelines, listen] },
    { group: "Personal data", commands: [subject, hold, retention, ledger] },
    { group: "Upkeep", commands: [backfill, verify, rebuild, backup, prune, location] },
    { group: "This program", commands: [completions, sandbox] }
  ]
})

/**
 * By the name in `sluice/<name>/1`, the schemas of the data that the commands print with `--json`. A function, because only
 * documents need them.
 */
export const results = () => ({
  ...runResults(),
  ...setupResults(),
  ...doctorResults(),
  ...documentResults(),
  ...locationResults(),
  ...backupResults(),
  ...pruneResults(),
  ...reportResults(),
  ...verifyResults(),
  ...exploreResults(),
  ...serveResults(),
  ...exportResults(),
  ...fleetResults(),
  ...ledgerResults(),
  ...listenResults(),
  ...nightResults(),
  ...privacyResults()
})

export interface CommandResults extends DataOf<typeof results> {}

declare module "../console/result.ts" {
  // oxlint-disable-next-line typescript/no-empty-object-type -- It adds the members of another type.
  interface Results extends CommandResults {}
}

/** With the database of a fleet, a sync that no worker has started takes the fence of its location first. */
const loadFenced = <Module, A, E, R>(
  command: string,
  flags: RunFlags & Flags,
  module: Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const environment = yield* Environment
    const isFleet = readSettings(flags, environment).values.fleet.database !== undefined
    if (environment[tetherVariable] !== undefined || !isFleet) return yield* loadRun(command, flags, module, run)
    return yield* load(import("../features/fleet/commands/task.ts"), (_) => _.fencedTask(flags))
  })
