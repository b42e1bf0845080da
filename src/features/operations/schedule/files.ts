/** The files of a schedule: templates in `deploy/schedules`, whose words between two @ are filled in. */
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { exitCodes } from "../../../values/failure.ts"
import { installed } from "../../../values/installation.ts"
import { shellText } from "../../../console/given-flags.ts"
import { personCodes } from "./outcomes.ts"
import { type Schedule, offsetsOf } from "./schedule.ts"
import { timeText, twoDigits } from "../../../values/time-of-day.ts"

export interface ScheduleFile {
  /** Where the scheduler expects it, or its name if the place is free. */
  readonly path: string
  readonly isExecutable?: true
  readonly text: string
}

type Values = Readonly<Record<string, string | number>>

const scriptName = "sluice-nightly"

const fill = (path: string, schedule: Schedule, values: Values): string => {
  const all: Values = {
    TIME: timeText(schedule),
    TIME_ZONE: schedule.timeZone,
    USER: schedule.user,
    LATER: exitCodes.later,
    LOCKED: exitCodes.locked,
    ALARMS: exitCodes.alarms,
    PERSON: personCodes.map(([code, text]) => `${code} ${text}`).join(", "),
    PERSON_CODES: personCodes.map(([code]) => code).join(" "),
    ...values
  }
  const template = readFileSync(installed(join("deploy/schedules", `${basename(path)}.template`)), "utf8")
  return template.replaceAll(/@([A-Z_]+)@/g, (_, name: string) => {
    const value = all[name]
    if (value === undefined) throw new Error(`${path}: nothing fills ${name}`)
    return String(value)
  })
}

export const systemd = (schedule: Schedule): ReadonlyArray<ScheduleFile> =>
  units(schedule, ["sluice.service", "sluice.timer", "sluice-failed.service"])

/** The console starts the runs itself. */
export const console = (schedule: Schedule): ReadonlyArray<ScheduleFile> => units(schedule, ["sluice-console.service"])

/** The paths of units and pages of settings are single values; words of an Exec line are quoted as systemd reads them. */
const units = (schedule: Schedule, names: ReadonlyArray<string>): ReadonlyArray<ScheduleFile> => {
  const values = {
    FOLDER: schedule.folder.replaceAll("%", "%%"),
    PROGRAM: systemdWord(schedule.program),
    FLAGS: schedule.flags.map((flag) => ` ${systemdWord(flag)}`).join("")
  }
  return names.map((name) => {
    const path = `/etc/systemd/system/${name}`
    return { path, text: fill(path, schedule, values) }
  })
}

/** Quoted, without the meaning that systemd gives to % and $. */
const systemdWord = (value: string): string => {
  const escaped = value.replaceAll("%", "%%").replaceAll("$", "$$$$")
  return /^[\w./:@%+,=$-]+$/.test(escaped) ? escaped : `"${escaped.replaceAll(/["\\]/g, (one) => `\\${one}`)}"`
}

/**
 * A shell script for schedulers that know neither time zones nor missed nights: called every 15 minutes, it decides whether a
 * run is due.
 */
export const nightlyScript = (schedule: Schedule, now = Date.now()): ScheduleFile => {
  const path = join(schedule.folder, scriptName)
  return {
    path,
    isExecutable: true,
    text: fill(path, schedule, {
      TIME_ZONE: shellText(schedule.timeZone),
      DIGITS: timeText(schedule).replace(":", ""),
      OFFSETS: offsetsOf(schedule.timeZone, now).map(offsetText).join(" "),
      FOLDER: shellText(schedule.folder),
      OUTPUT: shellText(schedule.output),
      STATE: shellText(join(schedule.output, "nightly")),
      ENVIRONMENT: shellText(join(schedule.folder, "config/environment")),
      PROGRAM: shellText(schedule.program),
      FLAGS: schedule.flags.map((flag) => ` ${shellText(flag)}`).join("")
    })
  }
}

export const cron = (schedule: Schedule): ReadonlyArray<ScheduleFile> => {
  const script = nightlyScript(schedule)
  const path = join(schedule.folder, "sluice.crontab")
  // In a crontab, % is a line end unless it has a backslash before it.
  return [
    script,
    { path, text: fill(path, schedule, { SCRIPT: shellText(script.path).replaceAll("%", String.raw`\%`) }) }
  ]
}

export const launchd = (schedule: Schedule): ReadonlyArray<ScheduleFile> => {
  const script = nightlyScript(schedule)
  const path = "Library/LaunchAgents/local.sluice.plist"
  const text = fill(path, schedule, {
    TIME_ZONE: xmlText(schedule.timeZone),
    SCRIPT: xmlText(script.path),
    FOLDER: xmlText(schedule.folder),
    LOG: xmlText(join(schedule.output, "nightly.launchd.log"))
  })
  return [script, { path, text }]
}

const xmlText = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** As `date +%z` prints it. */
const offsetText = (offset: number): string => {
  const size = Math.abs(offset)
  return `${offset < 0 ? "-" : "+"}${twoDigits(Math.floor(size / 60))}${twoDigits(size % 60)}`
}
