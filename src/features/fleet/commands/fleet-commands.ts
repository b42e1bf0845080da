/** The commands of a fleet: many locations on many workers. */
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { common, flag, list, run, setting, text } from "../../../run/flags.ts"
import { load, loadRun } from "../../../run/load.ts"

const base = { config: common.config, json: common.json }
const chosen = {
  ...base,
  all: flag("all", "All locations of the fleet."),
  location: list("location", "These locations, separated by commas.")
}

const worker = Command.make(
  "worker",
  {
    config: base.config,
    logFormat: run.logFormat,
    logLevel: run.logLevel,
    quiet: run.quiet,
    verbose: run.verbose,
    host: text("host", "Address at which the other workers reach this one; without it, 127.0.0.1."),
    port: Flag.Int("port").pipe(
      Flag.withDescription("Port for the other workers; without it, a free one."),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    )
  },
  (flags) =>
    loadRun("fleet worker", { ...flags, wait: undefined }, import("./fleet-worker.ts"), (_) => _.fleetWorker(flags))
).pipe(
  Command.withDescription(
    "Run the syncs of the fleet until it is stopped. Start as many workers as you like, on any machines that reach the database and the state."
  ),
  Command.withExamples([
    { command: "./sluice fleet worker" },
    { command: "./sluice fleet worker --host 10.0.0.7 --port 7400", description: "With workers on other machines." }
  ])
)
const enqueue = Command.make(
  "enqueue",
  {
    ...chosen,
    full: flag("full", "Read everything again, not the changes alone."),
    from: text("from", "Backfill from this day or time, in UTC: 2025-01-01."),
    to: text("to", "Last day of the backfill, or the time to stop before; without it, now.")
  },
  (flags) => load(import("./fleet.ts"), (_) => _.fleetEnqueue(flags))
).pipe(
  Command.withDescription("Queue a sync of the locations. One that has an open run keeps it."),
  Command.withExamples([
    { command: "./sluice fleet enqueue --all" },
    { command: "./sluice fleet enqueue --location northLocationId --full" }
  ])
)
const status = Command.make(
  "status",
  {
    ...base,
    location: chosen.location,
    all: flag("all", "List the locations too whose last run is done."),
    check: flag("check", "End with exit code 4 if the last run of a location has failed.")
  },
  (flags) => load(import("./fleet.ts"), (_) => _.fleetStatus(flags))
).pipe(
  Command.withDescription(
    "Show each location of the fleet: its last run, how fresh its tables are, its worker, the requests left today, and what failed."
  ),
  Command.withExamples([{ command: "./sluice fleet status" }])
)
const pause = Command.make("pause", chosen, (flags) => load(import("./fleet.ts"), (_) => _.fleetPause(flags))).pipe(
  Command.withDescription("Begin no more runs of the locations. A run that has begun continues."),
  Command.withExamples([{ command: "./sluice fleet pause --all" }])
)
const resume = Command.make("resume", chosen, (flags) => load(import("./fleet.ts"), (_) => _.fleetResume(flags))).pipe(
  Command.withDescription("Begin runs of paused locations again."),
  Command.withExamples([{ command: "./sluice fleet resume --all" }])
)
const cancel = Command.make("cancel", chosen, (flags) => load(import("./fleet.ts"), (_) => _.fleetCancel(flags))).pipe(
  Command.withDescription("End the open runs of the locations. What they have read is kept."),
  Command.withExamples([{ command: "./sluice fleet cancel --location northLocationId" }])
)

const ids = Argument.String("locations").pipe(Argument.withDescription("Their ids."), Argument.atLeast(1))
const add = Command.make(
  "add",
  { ...base, ids, token: text("token-ref", "Where their token is: env:NAME or file:/path; without it, fleet.token.") },
  (flags) => load(import("./fleet-locations.ts"), (_) => _.locationsAdd(flags))
).pipe(
  Command.withDescription("Add locations to the fleet."),
  Command.withExamples([{ command: "./sluice fleet locations add northLocationId --token-ref env:NORTH_TOKEN" }])
)
const remove = Command.make("remove", { ...base, ids }, (flags) =>
  load(import("./fleet-locations.ts"), (_) => _.locationsRemove(flags))
).pipe(
  Command.withDescription("Remove locations from the fleet. Their folders stay."),
  Command.withExamples([{ command: "./sluice fleet locations remove northLocationId" }])
)
const importLocations = Command.make(
  "import",
  {
    ...base,
    baseUrl: setting("baseUrl"),
    file: Argument.String("file").pipe(
      Argument.withDescription("CSV with the column location, and optionally name and token; without it, the API."),
      Argument.optional,
      Argument.map(Option.getOrUndefined)
    )
  },
  (flags) => load(import("./fleet-locations.ts"), (_) => _.locationsImport(flags))
).pipe(
  Command.withDescription(
    "Add all locations of a CSV file, or of the agency if fleet.agency_token lists them. Removes none."
  ),
  Command.withExamples([
    { command: "./sluice fleet locations import" },
    { command: "./sluice fleet locations import locations.csv" }
  ])
)
const locations = Command.make("locations").pipe(
  Command.withDescription("Add locations to the fleet, or remove them."),
  Command.withExamples([{ command: "./sluice fleet locations import" }]),
  Command.withSubcommands([add, remove, importLocations])
)

export const fleet = Command.make("fleet").pipe(
  Command.withDescription("Sync many locations on many workers, which share a PostgreSQL database."),
  Command.withExamples([
    { command: "./sluice fleet worker", description: "Run syncs until it is stopped." },
    { command: "./sluice fleet enqueue --all", description: "Queue a sync of every location." }
  ]),
  Command.withSubcommands([worker, enqueue, status, pause, resume, cancel, locations])
)
