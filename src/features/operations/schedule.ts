/** `sluice schedule`: the files by which a scheduler runs sluice every night, printed, or installed for this user. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { mkdir, writeFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { basename, join, resolve } from "node:path"
import { existsSync } from "node:fs"
import { onDisk } from "../../output/files.ts"
import { console, cron, launchd, systemd } from "./schedule/files.ts"
import { type Choice, install, uninstall } from "./schedule/install.ts"
import { type Schedule, oddDays } from "./schedule/schedule.ts"
import { isTimeZone, timeOf } from "../../values/time-of-day.ts"
import type { Flags } from "../../settings/read.ts"
import { outputSettings } from "../../settings/settings.ts"
import { Environment } from "../../values/environment.ts"
import { usageError } from "../../console/errors.ts"
import { Output } from "../../console/streams.ts"
import { info, shown } from "../../console/result.ts"
import { installed } from "../../values/installation.ts"

interface TimeFlags extends Flags {
  readonly at: string
  readonly timeZone: string | undefined
}

type InstallFlags = TimeFlags & Choice

export interface ScheduleFlags extends TimeFlags {
  readonly as: "systemd" | "cron" | "launchd" | "console"
  /** The folder to write the files into, instead of stdout. */
  readonly to: string | undefined
  readonly json: boolean
}

export const schedulePrint = Effect.fn("command.schedulePrint")(function* (flags: ScheduleFlags) {
  const { say } = yield* Output
  const { as: kind } = flags
  const schedule = yield* scheduleOf(flags, nextOf(kind))
  const { timeZone } = schedule
  const now = yield* Clock.currentTimeMillis
  const files = { systemd, cron, launchd, console }[kind](schedule)
  if (kind === "systemd")
    for (const { day, times } of oddDays(schedule, now))
      say(
        times === 0
          ? `On ${day}, the clock in ${timeZone} skips ${flags.at}, so the scheduler may leave that night out. Choose another time with --at.`
          : `On ${day}, the clock in ${timeZone} shows ${flags.at} twice; a second run has little to do.`,
        "warn"
      )
  const lines: Array<string> = []
  if (flags.to !== undefined) {
    const folder = resolve(flags.to)
    const written = files.map((file) => ({ ...file, target: join(folder, basename(file.path)) }))
    yield* onDisk(folder, "written", async () => {
      await mkdir(folder, { recursive: true })
      for (const { target, text, isExecutable } of written)
        await writeFile(target, text, { mode: isExecutable ? 0o755 : 0o644 })
    })
    lines.push(...written.map(({ target, path }) => `${target}\tfor ${path}`))
  } else
    for (const [index, { path, text }] of files.entries()) {
      if (files.length > 1) lines.push(`${index > 0 ? "\n" : ""}# ---- ${path}`)
      lines.push(text.trimEnd())
    }
  const data = { scheduler: kind, timeZone, files: files.map(({ path, text }) => ({ path, text })) }
  const next = "read the files, put them where they say, and see docs/operations.md."
  return shown("schedule-print", { exitCode: 0, next, data }, () => [...lines, info("Nothing was installed.")])
})

export const scheduleInstall = (flags: InstallFlags) =>
  Effect.flatMap(scheduleOf(flags, "./sluice schedule install --at 02:30"), (schedule) => install(flags, schedule))

export const scheduleUninstall = (flags: InstallFlags) =>
  Effect.flatMap(scheduleOf(flags, "./sluice schedule uninstall"), (schedule) => uninstall(flags, schedule))

/** The run that the flags describe. `next`: what to type instead of wrong flags. */
const scheduleOf = Effect.fnUntraced(function* (flags: TimeFlags, next: string) {
  const time = timeOf(flags.at)
  if (time === undefined) return yield* usageError(`--at ${flags.at}: expected a time such as 02:30.`, next)
  const timeZone = flags.timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  if (!isTimeZone(timeZone))
    return yield* usageError(`--time-zone ${timeZone}: expected a name such as Europe/Berlin.`, next)
  const { folder: output } = yield* outputSettings(flags, yield* Environment)
  return {
    ...time,
    timeZone,
    program: programPath(),
    folder: process.cwd(),
    output,
    user: userInfo().username,
    flags: [
      ...(flags.config === undefined ? [] : ["--config", resolve(flags.config)]),
      ...(flags.output === undefined ? [] : ["--output", output])
    ]
  } satisfies Schedule
})

const nextOf = (kind: string): string => `./sluice schedule print --as ${kind} --at 02:30 --time-zone Europe/Berlin`

/** The launcher, in a clone or in an installed package. */
const programPath = (): string => {
  const candidates = ["sluice", "../sluice"].map(installed)
  return candidates.find((path) => existsSync(path)) ?? "sluice"
}
