/**
 * The commands and their flags. What a command does is loaded only when it runs, so that help comes at once; nor does
 * anything that help or `status` load ask for the whole of `effect`, which is 80 modules more (bench/startup.ts).
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrUndefined))
const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const common = {
  config: text("config", "settings file (default config/sluice.toml where there is one)"),
  output: text("output", "folder of the vault, the warehouse and the published files (default output)"),
  json: flag("json", "print the result as JSON")
}
const account = {
  ...common,
  baseUrl: text("base-url", "address of the API (SLUICE_BASE_URL)"),
  location: text("location", "location to read (SLUICE_LOCATION_ID)"),
  only: text("only", "tables or families, with commas: contacts,payments"),
  except: text("except", "tables or families to leave out, with commas"),
  full: flag("full", "read everything again, whatever is known")
}

const demo = Command.make("demo", { output: common.output }, (flags) =>
  load(import("./demo.ts"), (_) => _.demo(flags))
).pipe(
  Command.withDescription("Sync a made-up account, change it, sync again, publish."),
  Command.withExamples([{ command: "./sluice demo", description: "needs no account and no settings" }])
)
const plan = Command.make("plan", account, (flags) => load(import("./plan.ts"), (_) => _.plan(flags))).pipe(
  Command.withDescription(
    "Say what a sync would read, in requests and time. Costs one request per list never read before."
  ),
  Command.withExamples([{ command: "./sluice plan" }])
)
const sync = Command.make(
  "sync",
  { ...account, acceptDeletions: flag("accept-deletions", "believe it, however many records vanished at once") },
  (flags) => load(import("./sync.ts"), (_) => _.syncCommand(flags))
).pipe(
  Command.withDescription("Read what is new or changed, or go on where a run was stopped; then publish."),
  Command.withExamples([
    { command: "./sluice sync", description: "the nightly run" },
    { command: "./sluice sync --only contacts,payments --full", description: "read these again from the beginning" }
  ])
)
const backfill = Command.make(
  "backfill",
  {
    ...account,
    full: flag("full", "read windows again that were read by an earlier backfill"),
    from: Flag.String("from").pipe(Flag.withDescription("first day, or a moment, UTC: 2025-01-01")),
    to: text("to", "last day, or the moment before which to stop (default now)")
  },
  (flags) => load(import("./backfill.ts"), (_) => _.backfill(flags))
).pipe(
  Command.withDescription(
    "Read a stretch of the past again, month by month, behind everything else: it leaves the day's requests that a sync needs, makes way for one that starts, and goes on where it was stopped."
  ),
  Command.withExamples([
    { command: "./sluice backfill --from 2025-01-01 --to 2025-06-30 --only messages,orders" },
    { command: "./sluice backfill --from 2020-01-01", description: "everything that can be asked for by date" }
  ])
)
const publish = Command.make(
  "publish",
  {
    ...common,
    stdout: text("stdout", "write one table as CSV to stdout instead"),
    csvProfile: Flag.Literals("csv-profile", ["machine", "spreadsheet"]).pipe(
      Flag.withDescription("for programs, or safe to open in a spreadsheet"),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    )
  },
  (flags) => load(import("./publish.ts"), (_) => _.publishCommand(flags))
).pipe(
  Command.withDescription("Make the published files anew from the warehouse, without a request."),
  Command.withExamples([
    { command: "./sluice publish" },
    {
      command: "./sluice publish --stdout contacts --csv-profile spreadsheet > contacts.csv",
      description: "one table, with formulas made harmless"
    }
  ])
)
const status = Command.make("status", common, (flags) => load(import("./status.ts"), (_) => _.status(flags))).pipe(
  Command.withDescription("Say what the last run did, how fresh each table is, and what is left."),
  Command.withExamples([{ command: "./sluice status" }])
)
const rebuild = Command.make("rebuild", common, (flags) => load(import("./rebuild.ts"), (_) => _.rebuild(flags))).pipe(
  Command.withDescription("Make every table again from the vault, without a request."),
  Command.withExamples([{ command: "./sluice rebuild", description: "after a definition or a type was changed" }])
)
const verify = Command.make(
  "verify",
  {
    ...common,
    baseUrl: account.baseUrl,
    location: account.location,
    sample: Flag.Int("sample").pipe(
      Flag.withDescription("read so many rows again, one request each, and compare them with ours"),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    ),
    all: flag("all", "make every row again from the vault and compare it, not a sample of 200 records")
  },
  (flags) => load(import("./verify.ts"), (_) => _.verifyCommand(flags))
).pipe(
  Command.withDescription("Check that vault, tables and files are whole and agree with each other; changes nothing."),
  Command.withExamples([
    { command: "./sluice verify", description: "without a request" },
    { command: "./sluice verify --sample 50", description: "and compare 50 rows with the service" }
  ])
)
const doctor = Command.make("doctor", { ...common, baseUrl: account.baseUrl, location: account.location }, (flags) =>
  load(import("./doctor.ts"), (_) => _.doctor(flags))
).pipe(
  Command.withDescription("Check settings, machine, token, scopes and budget. Costs some 30 small requests."),
  Command.withExamples([
    { command: "./sluice doctor", description: "before the first sync, or when one ends in trouble" }
  ])
)
const dictionary = Command.make(
  "dictionary",
  { json: common.json, coverage: flag("coverage", "what became of every read operation of the API") },
  (flags) => load(import("./dictionary.ts"), (_) => _.dictionary(flags))
).pipe(
  Command.withDescription("Print every table and column with its meaning."),
  Command.withExamples([
    { command: "./sluice dictionary > dictionary.md" },
    { command: "./sluice dictionary --coverage", description: "what is read, what is not, and why" }
  ])
)
// Answered before the flags are read (run.ts): the sandbox has flags of its own.
const sandbox = Command.make("sandbox").pipe(
  Command.withDescription("Serve the documented API from memory, to try things on. See ./sluice sandbox --help.")
)

export const sluice = Command.make("sluice").pipe(
  Command.withDescription("Copies an Account Platform account into tables: DuckDB, Parquet, CSV."),
  Command.withExamples([
    { command: "./sluice demo", description: "see it work, no account needed" },
    { command: "./sluice sync", description: "read what changed since the last time" }
  ]),
  Command.withSubcommands([demo, sync, plan, backfill, status, publish, rebuild, verify, doctor, dictionary, sandbox])
)

const load = <Module, A, E, R>(module: Promise<Module>, run: (module: Module) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.promise(() => module),
    run
  )
