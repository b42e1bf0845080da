/** The commands for nights without a person: the files of a schedule, and the alarms. */
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import { choice, common, flag, text } from "../../command/flags.ts"
import { load } from "../../command/load.ts"
import { comparedShape, standingShape } from "../../command/result-shapes.ts"
import { ShownAlarm } from "../../console/alarm-lines.ts"
import { command, group } from "../../command/command.ts"

const schedulers = ["systemd", "cron", "launchd", "console"] as const

const times = {
  at: Flag.String("at").pipe(
    Flag.withDescription("Local time of the run; 03:30 by default."),
    Flag.withDefault("03:30")
  ),
  timeZone: text("time-zone", "Time zone of that time: Europe/Berlin; without it, the one of this machine.")
}

const print = command({
  name: "print",
  summary:
    "Print the files by which a scheduler runs sluice every night, complete and commented: time zone, nights that were missed, no overlap, and what each exit code means. Installs nothing.",
  flags: {
    ...common,
    as: Flag.Literals("as", schedulers).pipe(
      Flag.withDescription(
        "The scheduler: systemd, a service and a timer; cron, a line of a crontab and its script; launchd, a property list for macOS and its script; console, a service of systemd for ./sluice serve, which has the times in its settings."
      )
    ),
    ...times,
    to: text("to", "Write the files into this folder instead of stdout.")
  },
  examples: [
    { command: "./sluice schedule print --as systemd --at 02:30 --time-zone Europe/Berlin" },
    { command: "./sluice schedule print --as cron --to nightly", description: "Write the files into a folder." }
  ],
  run: (flags) => load(import("./schedule.ts"), (_) => _.schedulePrint(flags))
})
const ofUser = {
  as: choice(
    "as",
    ["systemd", "launchd"],
    "Units of systemd for this user, the default on Linux; or an agent of launchd, the default on macOS."
  )
}

const install = command({
  name: "install",
  summary:
    "Let systemd or launchd of this user run sluice every night. Prints first what it would write, and the commands that start it; --apply does so. Needs no root.",
  flags: { ...common, ...ofUser, ...times, apply: flag("apply", "Write the files and start the schedule.") },
  examples: [
    { command: "./sluice schedule install --at 02:30 --time-zone Europe/Berlin" },
    { command: "./sluice schedule install --at 02:30 --apply", description: "Write the files, and start the timer." }
  ],
  run: (flags) => load(import("./schedule.ts"), (_) => _.scheduleInstall(flags))
})

const uninstall = command({
  name: "uninstall",
  summary: "Stop the nightly run that this folder installed, and remove its files. Prints first what it would remove.",
  flags: { ...common, ...ofUser, apply: flag("apply", "Stop it and remove its files.") },
  examples: [{ command: "./sluice schedule uninstall" }, { command: "./sluice schedule uninstall --apply" }],
  run: (flags) =>
    load(import("./schedule.ts"), (_) => _.scheduleUninstall({ ...flags, at: "03:30", timeZone: undefined }))
})

export const schedule = group({
  name: "schedule",
  summary: "Run sluice every night: install a schedule for this user, or print the files for another scheduler.",
  commands: [install, uninstall, print]
})

export const check = command({
  name: "check",
  summary:
    "Print the alarms: late tables, unusual nights, rejects, requests, disk, token. Ends with exit code 4 if there are any. Sends no request to the service.",
  flags: {
    ...common,
    as: choice("as", ["nagios"], "Print one line, and end with the exit code 0, 1 or 2, as plugins of Nagios do.")
  },
  examples: [
    { command: "./sluice check" },
    { command: "./sluice check --as nagios", description: "For a monitoring system." }
  ],
  run: (flags) => load(import("./check.ts"), (_) => _.check(flags))
})

/** What the commands print with `--json`. */
export const nightResults = () => ({
  /** The files of a schedule, and where the scheduler expects each. */
  "schedule-print": Schema.Struct({
    scheduler: Schema.Literals(schedulers),
    timeZone: Schema.String,
    files: Schema.Array(Schema.Struct({ path: Schema.String, text: Schema.String }))
  }),
  "schedule-install": Schema.Struct({
    scheduler: Schema.Literals(["systemd", "launchd"]),
    /** Whether files were written or removed. */
    applied: Schema.Boolean,
    files: Schema.Array(Schema.String),
    commands: Schema.Array(Schema.String)
  }),
  check: Schema.Struct({
    compared: comparedShape(),
    /** Those that count for the exit code come first. */
    alarms: Schema.Array(ShownAlarm),
    standingRejects: standingShape(),
    /** Alarms that began since the last check or run, by name. */
    opened: Schema.Array(Schema.String),
    /** Alarms that ended since then. */
    recovered: Schema.Array(Schema.String)
  })
})
