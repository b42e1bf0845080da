/** The commands of a fleet: many locations on many workers. */
import * as Argument from "effect/cli/Argument"
import { account, common, flag, list, optionalArgument, run, setting, text } from "../../command/flags.ts"
import { load, loadRun } from "../../command/load.ts"
import { command, group } from "../../command/command.ts"

const base = { config: common.config, json: common.json }
const chosen = {
  ...base,
  all: flag("all", "All locations of the fleet."),
  location: list("location", "These locations, separated by commas.")
}

const worker = command({
  name: "worker",
  serves: true,
  summary:
    "Run the syncs of the fleet until it is stopped. Start as many workers as you like, on any machines that reach the database and the state.",
  flags: {
    config: base.config,
    logFormat: run.logFormat,
    logLevel: run.logLevel,
    quiet: run.quiet,
    verbose: run.verbose
  },
  examples: [{ command: "./sluice fleet worker" }],
  run: (flags) =>
    loadRun("fleet worker", { ...flags, wait: undefined }, import("./commands/fleet-worker.ts"), (_) =>
      _.fleetWorker(flags)
    )
})
const enqueue = command({
  name: "enqueue",
  summary: "Queue a sync of the locations. One that has an open run keeps it.",
  flags: {
    ...chosen,
    again: account.again,
    from: text("from", "Backfill from this day or time, in UTC: 2025-01-01."),
    to: text("to", "Last day of the backfill, or the time to stop before; without it, now.")
  },
  examples: [
    { command: "./sluice fleet enqueue --all" },
    { command: "./sluice fleet enqueue --location northLocationId --again lists" }
  ],
  run: (flags) => load(import("./commands/fleet.ts"), (_) => _.fleetEnqueue(flags))
})
const status = command({
  name: "status",
  summary:
    "Show each location of the fleet: its last run, how fresh its tables are, its worker, the requests left today, and what failed.",
  flags: {
    ...base,
    location: chosen.location,
    all: flag("all", "List the locations too whose last run is done."),
    check: flag("check", "End with exit code 4 if the last run of a location has failed.")
  },
  examples: [{ command: "./sluice fleet status" }],
  run: (flags) => load(import("./commands/fleet.ts"), (_) => _.fleetStatus(flags))
})
/** A command that changes something of the chosen locations. */
const change = (name: "pause" | "resume" | "cancel", summary: string) =>
  command({
    name,
    summary,
    flags: chosen,
    examples: [{ command: `./sluice fleet ${name} ${name === "cancel" ? "--location northLocationId" : "--all"}` }],
    run: (flags) => load(import("./commands/fleet.ts"), ({ changes }) => changes[name](flags))
  })
const pause = change("pause", "Begin no more runs of the locations. A run that has begun continues.")
const resume = change("resume", "Begin runs of paused locations again.")
const cancel = change("cancel", "End the open runs of the locations. What they have read is kept.")

const ids = Argument.String("locations").pipe(Argument.withDescription("Their ids."), Argument.atLeast(1))
const add = command({
  name: "add",
  summary: "Add locations to the fleet.",
  flags: {
    ...base,
    ids,
    token: text("token-ref", "Where their token is: env:NAME or file:/path; without it, fleet.token.")
  },
  examples: [{ command: "./sluice fleet locations add northLocationId --token-ref env:NORTH_TOKEN" }],
  run: (flags) => load(import("./commands/fleet-locations.ts"), (_) => _.locationsAdd(flags))
})
const remove = command({
  name: "remove",
  summary: "Remove locations from the fleet. Their folders stay.",
  flags: { ...base, ids },
  examples: [{ command: "./sluice fleet locations remove northLocationId" }],
  run: (flags) => load(import("./commands/fleet-locations.ts"), (_) => _.locationsRemove(flags))
})
const importLocations = command({
  name: "import",
  summary: "Add all locations of a CSV file, or of the agency if fleet.agency_token lists them. Removes none.",
  flags: {
    ...base,
    baseUrl: setting("baseUrl"),
    file: optionalArgument("file", "CSV with the column location, and optionally name and token; without it, the API.")
  },
  examples: [
    { command: "./sluice fleet locations import" },
    { command: "./sluice fleet locations import locations.csv" }
  ],
  run: (flags) => load(import("./commands/fleet-locations.ts"), (_) => _.locationsImport(flags))
})
const locations = group({
  name: "locations",
  summary: "Add locations to the fleet, or remove them.",
  commands: [add, remove, importLocations]
})

export const fleet = group({
  name: "fleet",
  summary: "Sync many locations on many workers, which share a PostgreSQL database.",
  commands: [worker, enqueue, status, pause, resume, cancel, locations]
})
