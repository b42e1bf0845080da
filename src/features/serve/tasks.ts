/**
 * What the page can start: commands with the flags that each has, described as the command describes them. What removes
 * something shows its plan only, with the command that applies it.
 */
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type { CommandDescriptor, FlagDescriptor } from "effect/cli/Completions"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { findIn } from "../../catalog/present.ts"
import { HttpError } from "../../network/server.ts"
import type { Order } from "../../run/work.ts"
import { fieldOfFlag } from "./fields.ts"

interface Task {
  readonly command: string
  readonly group: "Read" | "Check" | "Give to others" | "Keep" | "Personal data"
  readonly title: string
  /** Flags that the page does not offer, beside those of `hidden`. */
  readonly without?: ReadonlyArray<string>
  readonly hasEvents?: true
  readonly isWriting?: true
  /** It only prints what it would remove; --apply is for a terminal. */
  readonly isPlanOnly?: true
  /** Its flags name a person, so nothing of it is kept. */
  readonly isPrivate?: true
  /** The ending of the file that it writes below the exports; empty for a folder, which it writes beside the output folder. */
  readonly ending?: string
  /** A flag that others do not offer. */
  readonly with?: string
}

const tasks = {
  sync: {
    group: "Read",
    command: "sync",
    title: "Sync",
    without: ["accept-deletions"],
    hasEvents: true,
    isWriting: true
  },
  plan: { group: "Read", command: "plan", title: "Plan" },
  check: { group: "Check", command: "check", title: "Check the alarms", without: ["as"] },
  doctor: { group: "Check", command: "doctor", title: "Check settings, token and targets" },
  backfill: { group: "Read", command: "backfill", title: "Read a past period again", hasEvents: true, isWriting: true },
  publish: {
    group: "Give to others",
    command: "publish",
    title: "Publish",
    without: ["stdout", "format", "columns", "where", "profile"],
    isWriting: true
  },
  "export-excel": { group: "Give to others", command: "export excel", title: "Export to Excel", ending: ".xlsx" },
  "export-bundle": {
    group: "Give to others",
    command: "export bundle",
    title: "Bundle for an auditor",
    without: ["sign"],
    ending: ".zip"
  },
  verify: { group: "Check", command: "verify", title: "Verify" },
  backup: { group: "Keep", command: "backup", title: "Back up", without: ["tokens"], ending: "" },
  prune: { group: "Keep", command: "prune", title: "Free disk space: the plan", isPlanOnly: true },
  "subject-export": {
    group: "Personal data",
    command: "subject export",
    title: "Give a person their data",
    without: ["to", "refresh"],
    isPrivate: true,
    // Only an earlier export is replaced.
    with: "force"
  },
  "subject-erase": {
    group: "Personal data",
    command: "subject erase",
    title: "Erase a person: the plan",
    isPlanOnly: true,
    isPrivate: true
  },
  retention: { group: "Personal data", command: "retention", title: "Retention: the plan", isPlanOnly: true },
  "location-remove": {
    group: "Personal data",
    command: "location remove",
    title: "Remove a location: the plan",
    isPlanOnly: true
  }
} satisfies Readonly<Record<string, Task>>

export const Start = Schema.Struct({
  task: Schema.Literals(Struct.keys(tasks)),
  values: Schema.Record(Schema.String, Schema.Unknown)
})

/** Names what is written, so that no value is a path. */
export interface Places {
  readonly exports: string
  readonly backups: string
}

/** The server gives them itself, or a page has no use for them. */
const hidden = new Set(
  "config,output,json,base-url,apply,force,quiet,verbose,log-format,wait,reason,help,version,completions".split(",")
)

const entryOf = (root: CommandDescriptor, { command }: Task): CommandDescriptor =>
  command.split(" ").reduce((at, name) => findIn(at.subcommands, (one) => one.name === name, `command ${name}`), root)

const flagsOf = (root: CommandDescriptor, task: Task): ReadonlyArray<FlagDescriptor> =>
  entryOf(root, task).flags.filter(
    ({ name }) => name === task.with || (!hidden.has(name) && !task.without?.includes(name))
  )

export const formsOf = (root: CommandDescriptor) =>
  Object.entries<Task>(tasks).map(([task, one]) => {
    const entry = entryOf(root, one)
    return {
      task,
      title: one.title,
      group: one.group,
      // What is about flags and exit codes is for a terminal.
      summary: (entry.description ?? "").replaceAll(/ [^.]*(--[a-z]|exit code)[^.]*\./g, ""),
      line: `./sluice ${one.command}`,
      isPlanOnly: one.isPlanOnly === true,
      isWriting: one.isWriting === true,
      fields: [
        ...entry.arguments.map(({ name, description = "", required }) => ({
          name,
          kind: "text",
          description: one.ending === undefined ? description : fileText(one.ending),
          required
        })),
        ...flagsOf(root, one).map((flag) => ({
          ...fieldOfFlag(flag),
          flag: `--${flag.name}`,
          required: one.command === "backfill" && flag.name === "from"
        }))
      ]
    }
  })

const fileText = (ending: string): string =>
  ending === ""
    ? "Name of the folder, which is made in the folder backups beside the output folder."
    : `Name of the file below exports in the output folder; ${ending} is added.`

/** Throws for anything that the form does not offer, and for a file that is there. */
export const orderOf = (
  root: CommandDescriptor,
  { task: name, values }: typeof Start.Type,
  { backups, exports }: Places
): Order => {
  const task: Task = tasks[name]
  const entry = entryOf(root, task)
  const flags = flagsOf(root, task)
  for (const given of Object.keys(values))
    if (![...flags, ...entry.arguments].some((one) => one.name === given))
      throw new HttpError(400, "request", `${given} is no field of this form.`)
  const textOf = (field: string): string | undefined => {
    const value = values[field]
    if (value === undefined || value === "" || value === false) return undefined
    if (typeof value !== "string" || value.length > 10_000 || /[\0\n]/.test(value))
      throw new HttpError(400, "request", "It is not a text of one line.", field)
    return value
  }
  let document: string | undefined
  const args = entry.arguments.map(({ name: field, required }) => {
    const value = textOf(field) ?? ""
    if (value === "" && required) throw new HttpError(400, "request", "It is missing.", field)
    if (task.ending === undefined) return value
    if (!/^[\w][\w .-]{0,100}$/.test(value))
      throw new HttpError(
        400,
        "request",
        "It has other characters than letters, digits, blanks, dots and hyphens.",
        field
      )
    if (task.ending === "") return join(backups, value)
    document = `${value.replace(new RegExp(`\\${task.ending}$`), "")}${task.ending}`
    if (existsSync(join(exports, document)))
      throw new HttpError(409, "exists", `${document} exists already: choose another name.`, field)
    return join(exports, document)
  })
  const given = flags.flatMap(({ name: flag, type }) => {
    if (type._tag === "Boolean") return values[flag] === true ? [`--${flag}`] : []
    const value = textOf(flag)
    // One word, so that no value can be a flag.
    return value === undefined ? [] : [`--${flag}=${value}`]
  })
  return {
    task: name,
    title: task.title,
    by: "console",
    isWriting: task.isWriting === true,
    hasEvents: task.hasEvents === true,
    isPrivate: task.isPrivate === true,
    isPlanOnly: task.isPlanOnly === true,
    // Behind --, an argument cannot be a flag.
    args: [
      ...task.command.split(" "),
      ...given,
      ...args.filter(Boolean).map((arg) => (arg.startsWith("-") ? `./${arg}` : arg))
    ],
    ...(document !== undefined && { document })
  }
}
