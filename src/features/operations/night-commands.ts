/** The commands for nights without a person: the files of a schedule, and the alarms. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { common, flag, text } from "../../run/flags.ts"
import { load } from "../../run/load.ts"

const print = Command.make(
  "print",
  {
    ...common,
    systemd: flag("systemd", "A service and a timer."),
    cron: flag("cron", "A line of a crontab, and the script that it calls."),
    k8s: flag("k8s", "A CronJob for Kubernetes."),
    github: flag("github", "A workflow for GitHub Actions."),
    launchd: flag("launchd", "A property list for macOS, and the script that it starts."),
    at: Flag.String("at").pipe(
      Flag.withDescription("Local time of the run; 03:30 by default."),
      Flag.withDefault("03:30")
    ),
    timeZone: text("time-zone", "Time zone of that time: Europe/Berlin; without it, the one of this machine."),
    into: text("into", "Write the files into this folder instead of stdout.")
  },
  (flags) => load(import("./schedule.ts"), (_) => _.schedulePrint(flags))
).pipe(
  Command.withDescription(
    "Print the files by which a scheduler runs sluice every night, complete and commented: time zone, nights that were missed, no overlap, and what each exit code means. Installs nothing."
  ),
  Command.withExamples([
    { command: "./sluice schedule print --systemd --at 02:30 --time-zone Europe/Berlin" },
    { command: "./sluice schedule print --cron --into nightly", description: "Write the files into a folder." }
  ])
)
export const schedule = Command.make("schedule").pipe(
  Command.withDescription("Print the files by which a scheduler runs sluice every night."),
  Command.withExamples([{ command: "./sluice schedule print --systemd --at 02:30" }]),
  Command.withSubcommands([print])
)

export const check = Command.make(
  "check",
  {
    ...common,
    nagios: flag("nagios", "Print one line, and end with the exit code 0, 1 or 2, as plugins of Nagios do.")
  },
  (flags) => load(import("./check.ts"), (_) => _.check(flags))
).pipe(
  Command.withDescription(
    "Print the alarms: late tables, unusual nights, rejects, requests, disk, token. Ends with exit code 4 if there are any. Sends no request to the service."
  ),
  Command.withExamples([
    { command: "./sluice check" },
    { command: "./sluice check --nagios", description: "For a monitoring system." }
  ])
)
