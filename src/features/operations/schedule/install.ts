/** `sluice schedule install` and `uninstall`: the nightly run of one user, by systemd or launchd, without root. */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { homedir, userInfo } from "node:os"
import { basename, dirname, isAbsolute, join } from "node:path"
import { isDeepStrictEqual, promisify } from "node:util"
import { itemAt } from "../../../catalog/present.ts"
import { failedError, usageError } from "../../../console/errors.ts"
import { info, shown } from "../../../console/result.ts"
import { Output } from "../../../console/streams.ts"
import { onDisk } from "../../../output/files.ts"
import { Environment } from "../../../values/environment.ts"
import { type ScheduleFile, launchd, systemd } from "./files.ts"
import type { Schedule } from "./schedule.ts"

export interface Choice {
  readonly as: "systemd" | "launchd" | undefined
  readonly apply: boolean
}

type Words = ReadonlyArray<string>

/** What a scheduler of the user gets, and the commands that make it known and let it go. */
interface Installation {
  readonly scheduler: "systemd" | "launchd"
  readonly files: ReadonlyArray<ScheduleFile>
  readonly start: ReadonlyArray<Words>
  readonly stop: ReadonlyArray<Words>
  /** After the files are gone. */
  readonly afterwards: ReadonlyArray<Words>
  readonly hint?: string
}

const anyMark = "Written by ./sluice schedule install for"
/** A line that says which files are ours, and for which folder. */
const markOf = ({ folder }: Schedule): string => `${anyMark} ${folder}`
/** A comment of XML has no two hyphens. Two folders have two texts. */
const inXml = (mark: string): string => mark.replaceAll("%", "%25").replaceAll("--", "-%2D")

const chosen = Effect.fnUntraced(function* (choice: Choice) {
  if (choice.as !== undefined) return choice.as
  if (process.platform === "darwin") return "launchd" as const
  if (process.platform === "linux") return "systemd" as const
  return yield* usageError(`${process.platform} has neither systemd nor launchd.`, "./sluice serve")
})

const installationOf = Effect.fnUntraced(function* (choice: Choice, schedule: Schedule) {
  const scheduler = yield* chosen(choice)
  const { HOME: home = homedir(), XDG_CONFIG_HOME: config = join(home, ".config") } = yield* Environment
  const mark = markOf(schedule)
  if (scheduler === "systemd") {
    const system = (...words: Words) => ["systemctl", "--user", ...words]
    return {
      scheduler,
      files: systemd(schedule).map(({ path, text }): ScheduleFile => ({
        path: join(config, "systemd/user", basename(path)),
        text: `# ${mark}\n${ofUser(text)}`
      })),
      start: [system("daemon-reload"), system("enable", "--now", "sluice.timer")],
      stop: [system("disable", "--now", "sluice.timer")],
      afterwards: [system("daemon-reload")],
      hint: `So that it runs while nobody is logged in: loginctl enable-linger ${userInfo().username}`
    } satisfies Installation
  }
  const own = `gui/${userInfo().uid}`
  const files = launchd(schedule).map(({ text, ...file }): ScheduleFile => ({
    ...file,
    path: isAbsolute(file.path) ? file.path : join(home, file.path),
    text: text.startsWith("#!")
      ? text.replace("\n", `\n# ${mark}\n`)
      : text.replace(/<!-- Copy this file to .*\n/, `<!-- ${inXml(mark)}\n`)
  }))
  return {
    scheduler,
    files,
    start: [["launchctl", "bootstrap", own, ...files.slice(-1).map(({ path }) => path)]],
    stop: [["launchctl", "bootout", `${own}/local.sluice`]],
    afterwards: []
  } satisfies Installation
})

/** What only the manager of the system can do is left out: the user is the one whose manager it is. */
const ofUser = (text: string): string =>
  text
    .split("\n")
    .filter(
      (line) => !/^(User|ProtectSystem|PrivateTmp|Wants|After)=|^# (The nightly run\. After|Try it with)/.test(line)
    )
    .join("\n")

/** The lines that say which folder has installed a file. */
const marksIn = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => /^(?:# |<!-- )Written by \.\/sluice schedule install for /.test(line))

/** A file is ours if its one mark is, to the letter, the one that it would get: a part of it may be another folder. */
const stateOf = async ({ path, text }: ScheduleFile): Promise<"absent" | "ours" | "foreign"> => {
  const found = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined
    throw cause
  })
  if (found === undefined) return "absent"
  return isDeepStrictEqual(marksIn(found), marksIn(text)) ? "ours" : "foreign"
}

/** What somebody else wrote, or another folder installed, is neither replaced nor removed. */
const foreignIn = (files: ReadonlyArray<ScheduleFile>) =>
  onDisk(dirname(itemAt(files, 0).path), "read", async () => {
    const states = await Promise.all(files.map(async (file) => ({ path: file.path, state: await stateOf(file) })))
    return {
      foreign: states.find(({ state }) => state === "foreign"),
      ours: states.filter(({ state }) => state === "ours")
    }
  })

const shownCommand = (words: Words): string => words.join(" ")
const run = promisify(execFile)

/** Returns the commands that did not work, with what they said. */
const runAll = Effect.fnUntraced(function* (commands: ReadonlyArray<Words>) {
  const env = { ...(yield* Environment) }
  const failed: Array<string> = []
  for (const [program = "", ...words] of commands)
    yield* Effect.promise(() =>
      run(program, words, { timeout: 60_000, env }).catch((cause: Error & { readonly stderr?: string }) => {
        failed.push(`${shownCommand([program, ...words])}: ${(cause.stderr || cause.message).trim()}`)
      })
    )
  return failed
})

export const install = Effect.fnUntraced(function* (choice: Choice, schedule: Schedule) {
  const { say } = yield* Output
  const { files, hint, scheduler, start } = yield* installationOf(choice, schedule)
  const { foreign } = yield* foreignIn(files)
  if (foreign)
    return yield* failedError(
      `${foreign.path} exists, and this folder did not install it. Nothing was written.`,
      `Read it. If it may go, remove it, or run ./sluice schedule uninstall in the folder that it names.`
    )
  const data = {
    scheduler,
    applied: choice.apply,
    files: files.map(({ path }) => path),
    commands: start.map(shownCommand)
  }
  if (!choice.apply)
    return shown("schedule-install", { exitCode: 0, next: "the same command with --apply", data }, () => [
      ...files.flatMap(({ path, text }) => [`# ---- ${path}`, text.trimEnd(), ""]),
      ...start.map((words) => `$ ${shownCommand(words)}`),
      info("Nothing was written.")
    ])
  yield* onDisk(dirname(itemAt(files, 0).path), "written", async () => {
    for (const { isExecutable, path, text } of files) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text, { mode: isExecutable ? 0o755 : 0o644 })
    }
  })
  const failed = yield* runAll(start)
  for (const one of failed) say(one, "warn")
  if (hint !== undefined) say(hint)
  return shown("schedule-install", { exitCode: failed.length > 0 ? 1 : 0, next: "./sluice status", data }, () => [
    ...files.map(({ path }) => path),
    info(failed.length > 0 ? "Written, and not started." : "Written and started.")
  ])
})

export const uninstall = Effect.fnUntraced(function* (choice: Choice, schedule: Schedule) {
  const { say } = yield* Output
  const { afterwards, files, scheduler, stop } = yield* installationOf(choice, schedule)
  const { foreign, ours } = yield* foreignIn(files)
  if (foreign)
    return yield* failedError(
      `${foreign.path} was not installed from this folder. Nothing was removed.`,
      `Look for "${anyMark}" in it, and run the command in the folder that it names.`
    )
  const paths = ours.map(({ path }) => path)
  const commands = [...stop, ...afterwards].map(shownCommand)
  const data = { scheduler, applied: choice.apply && paths.length > 0, files: paths, commands }
  if (paths.length === 0) return shown("schedule-install", { exitCode: 0, data }, () => [info("Nothing is installed.")])
  if (!choice.apply)
    return shown("schedule-install", { exitCode: 0, next: "the same command with --apply", data }, () => [
      ...stop.map((words) => `$ ${shownCommand(words)}`),
      ...paths.map((path) => `would be removed: ${path}`),
      info("Nothing was removed. Settings, tables and releases stay in any case.")
    ])
  const failed = yield* runAll(stop)
  yield* onDisk(dirname(itemAt(files, 0).path), "removed", async () => {
    for (const path of paths) await rm(path, { force: true })
  })
  failed.push(...(yield* runAll(afterwards)))
  for (const one of failed) say(one, "warn")
  return shown("schedule-install", { exitCode: failed.length > 0 ? 1 : 0, data }, () =>
    paths.map((path) => `removed: ${path}`)
  )
})
