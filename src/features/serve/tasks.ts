/**
 * What the page can start: commands with the flags that each has, described as the command describes them. What removes
 * something shows its plan only, with the command that applies it.
 */
import type { CommandDescriptor, FlagDescriptor } from "effect/cli/Completions"
import { join } from "node:path"
import { type Body, HttpError } from "../explore/http.ts"
import type { Order } from "./jobs.ts"

interface Task {
  readonly command: string
  readonly title: string
  /** Flags that the page does not offer, beside those of `hidden`. */
  readonly without?: ReadonlyArray<string>
  readonly hasEvents?: true
  readonly isWriting?: true
  /** It only prints what it would remove; --apply is for a terminal. */
  readonly isPlanOnly?: true
  /** Its flags name a person, so nothing of it is kept. */
  readonly isPrivate?: true
  /** The ending of the file that it writes below the exports. */
  readonly ending?: string
  /** What is usual, in the place of an argument. */
  readonly preset?: Readonly<Record<string, string>>
}

const tasks = {
  sync: { command: "sync", title: "Sync", without: ["accept-deletions"], hasEvents: true, isWriting: true },
  plan: { command: "plan", title: "Plan" },
  check: { command: "check", title: "Check the alarms", without: ["nagios"] },
  doctor: { command: "doctor", title: "Check settings, token and targets" },
  backfill: { command: "backfill", title: "Read a past period again", hasEvents: true, isWriting: true },
  publish: {
    command: "publish",
    title: "Publish",
    without: ["stdout", "format", "columns", "where", "profile"],
    isWriting: true
  },
  "export-excel": { command: "export excel", title: "Export to Excel", ending: ".xlsx" },
  "export-bundle": {
    command: "export bundle",
    title: "Bundle for an auditor",
    without: ["sign", "encrypt-to"],
    ending: ".zip"
  },
  verify: { command: "verify", title: "Verify" },
  backup: { command: "backup", title: "Back up", without: ["tokens"] },
  prune: { command: "prune", title: "Free disk space: the plan", isPlanOnly: true },
  "subject-erase": { command: "subject erase", title: "Erase a person: the plan", isPlanOnly: true, isPrivate: true },
  retention: { command: "retention", title: "Retention: the plan", isPlanOnly: true },
  "location-remove": { command: "location remove", title: "Remove a location: the plan", isPlanOnly: true }
} satisfies Readonly<Record<string, Task>>

const taskOf = (name: unknown): Task => {
  if (typeof name !== "string" || !Object.hasOwn(tasks, name))
    throw new HttpError(400, "request", "This work cannot be started from the page.")
  return tasks[name as keyof typeof tasks]
}

/** The server gives them itself, or a page has no use for them. */
const hidden = new Set([
  ..."config,output,json,base-url,apply,force,quiet,verbose,log-format,log-level,wait,reason,help,version".split(","),
  ..."completions,wizard".split(",")
])

const entryOf = (root: CommandDescriptor, { command }: Task): CommandDescriptor =>
  command.split(" ").reduce((at, name) => at.subcommands.find((one) => one.name === name)!, root)

const flagsOf = (root: CommandDescriptor, task: Task): ReadonlyArray<FlagDescriptor> =>
  entryOf(root, task).flags.filter(({ name }) => !hidden.has(name) && !task.without?.includes(name))

export const formsOf = (root: CommandDescriptor) =>
  Object.entries<Task>(tasks).map(([task, one]) => {
    const entry = entryOf(root, one)
    return {
      task,
      title: one.title,
      summary: entry.description ?? "",
      line: `./sluice ${one.command}`,
      isPlanOnly: one.isPlanOnly === true,
      isWriting: one.isWriting === true,
      fields: [
        ...entry.arguments.map(({ name, description, required }) => ({
          name,
          flag: name.toUpperCase(),
          kind: "text",
          description: one.ending
            ? `Name of the file below exports in the output folder; ${one.ending} is added.`
            : (description ?? ""),
          required
        })),
        ...flagsOf(root, one).map(({ name, description, type }) => ({
          name,
          flag: `--${name}`,
          kind: type._tag === "Boolean" ? "flag" : type._tag === "Choice" ? "choice" : "text",
          ...(type._tag === "Choice" && { choices: type.values }),
          // Variables are for terminals.
          description: (description ?? "").replace(/ \[[^\]]*\]$/, ""),
          required: one.command === "backfill" && name === "from"
        }))
      ]
    }
  })

/** `exports`: the folder of files that the page makes. Throws for anything that the form does not offer. */
export const orderOf = (root: CommandDescriptor, body: Body, exports: string): Order => {
  const name = String(body["task"])
  const task = taskOf(name)
  const values = (body["values"] ?? {}) as Readonly<Record<string, unknown>>
  const entry = entryOf(root, task)
  const flags = flagsOf(root, task)
  for (const given of Object.keys(values))
    if (![...flags, ...entry.arguments].some((one) => one.name === given))
      throw new HttpError(400, "request", `${given} is no field of this form.`)
  const textOf = (field: string): string | undefined => {
    const value = values[field]
    if (value === undefined || value === "" || value === false) return undefined
    if (typeof value !== "string" || value.length > 10_000 || /[\0\n]/.test(value))
      throw new HttpError(400, "request", `${field} is not a text of one line.`)
    return value
  }
  let document: string | undefined
  const args = entry.arguments.map(({ name: field, required }) => {
    const value = textOf(field)
    if (value === undefined && required) throw new HttpError(400, "request", `${field} is missing.`)
    if (task.ending === undefined) return value ?? ""
    if (!/^[\w][\w .-]{0,100}$/.test(value!))
      throw new HttpError(
        400,
        "request",
        `${field} has other characters than letters, digits, blanks, dots and hyphens.`
      )
    document = `${value!.replace(new RegExp(`\\${task.ending}$`), "")}${task.ending}`
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
