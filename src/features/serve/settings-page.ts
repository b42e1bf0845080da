/** The settings on the page: each with its value and its place, and those that a page can change without guessing. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { hash, randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { findIn, present } from "../../catalog/present.ts"
import { HttpError } from "../../network/server.ts"
import { withChanges, withItem, withoutItem } from "../../settings/edit.ts"
import { FileChanged, inTurn, writePrivately } from "../../settings/new-file.ts"
import { type SettingSource, readSettings } from "../../settings/read.ts"
import { type ListName, allSettings, listNames, listOf } from "../../settings/sections.ts"
import { commaSeparated } from "../../values/setting.ts"
import type { Ask } from "./ask.ts"
import { type Field, fieldOf } from "./fields.ts"

/** Where the settings are. */
export interface Options {
  /** The settings file. */
  readonly path: string
  /** Of the command line, without the settings file. */
  readonly output: string | undefined
  readonly ask: Ask
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** What a person sets, by what it is about. A change of any other setting is made in the file. */
const things: ReadonlyArray<{
  readonly title: string
  readonly settings: Readonly<Record<string, string>>
  readonly lists: ReadonlyArray<ListName>
}> = [
  {
    title: "When",
    settings: {
      "schedule.times": "Times",
      "schedule.time_zone": "Time zone",
      "schedule.paused": "Paused",
      "schedule.prune": "Free disk space"
    },
    lists: []
  },
  {
    title: "Where to",
    settings: { "output.formats": "Formats", "models.build": "Models", "files.fetch": "Files" },
    lists: ["publish"]
  },
  {
    title: "Who is told",
    settings: {
      "signals.mail_to": "Mail to",
      "signals.webhook_url": "Webhook",
      "alarms.warn_after": "Warning after",
      "alarms.error_after": "Error after"
    },
    lists: ["silence"]
  },
  {
    title: "What is left out",
    settings: { "personal_data.exclude_classes": "Classes of personal data" },
    lists: ["tables"]
  }
]
const editable: ReadonlySet<string> = new Set(things.flatMap(({ settings }) => Object.keys(settings)))

/** What a new item of a list has on the page. A location has a page of its own, which tests it. */
const itemKeys: Partial<Readonly<Record<ListName, ReadonlyArray<string>>>> = {
  publish: ["name", "folder", "postgres", "sqlite", "profile"],
  tables: ["exclude", "only"],
  silence: ["alarm", "reason", "until"]
}
const list = Schema.Literals(["publish", "tables", "silence"])
const optional = Schema.optionalKey
export const SettingsChange = Schema.Struct({
  changes: optional(Schema.Record(Schema.String, Schema.Unknown)),
  add: optional(Schema.Struct({ list, values: Schema.Record(Schema.String, Schema.String) })),
  remove: optional(Schema.Struct({ list, item: Schema.String })),
  apply: optional(Schema.Boolean),
  /** What the file was when the difference was shown. */
  basis: optional(Schema.String)
})
/** The name of an item of a list whose items are named. */
const nameKey = "table"
const addedTo = (list: ListName): ReadonlyArray<Field & { readonly secret: boolean }> => {
  const { isNamed, required, settings } = listOf(list)
  const description = "Name of the table, such as contacts."
  const name = { name: nameKey, kind: "table", description, required: true, secret: false } as const
  const fields = (itemKeys[list] ?? []).map((key) => {
    const setting = present(settings[key], `setting ${key} of ${list}`)
    return { ...fieldOf(key, setting), required: required.includes(key), secret: setting.secret === true }
  })
  return isNamed ? [name, ...fields] : fields
}

export const settingsOf = ({ environment, output, path }: Options) => {
  const { sources } = readSettings({ config: existsSync(path) ? path : undefined, output }, environment)
  const sourceOf = new Map(sources.map((source) => [source.path, source]))
  const itemsOf = (list: ListName) =>
    sources.flatMap((source) =>
      source.path.startsWith(`${list}[`) || source.path.startsWith(`${list}.`)
        ? [{ path: source.path, ...shownSource(source) }]
        : []
    )
  return {
    file: path,
    exists: existsSync(path),
    things: things.map(({ lists, settings, title }) => ({
      title,
      fields: Object.entries(settings).map(([one, name]) => {
        const setting = findIn(allSettings, (other) => other.path === one, `setting ${one}`)
        const field = fieldOf(one, setting)
        return { ...field, title: name, value: setting.secret ? "" : writtenOf(field, sourceOf.get(one)) }
      }),
      lists: lists.map((list) => ({
        list,
        description: listOf(list).description,
        items: Array.from(
          Map.groupBy(itemsOf(list), ({ path: place }) => place.replace(/^\w+[[.]([^\].]+).*/s, "$1")),
          ([item, settings]) => ({ item, settings })
        ),
        fields: addedTo(list)
      }))
    })),
    settings: [
      ...allSettings.map(({ description, path: setting }) => ({
        path: setting,
        description,
        ...shownSource(sourceOf.get(setting))
      })),
      ...listNames.flatMap(itemsOf)
    ]
  }
}

const shownSource = (source: SettingSource | undefined) =>
  source ? { shown: source.shown, from: source.from, name: source.name } : { shown: "", from: "default", name: "" }

/** The value as a form shows it. */
const writtenOf = ({ kind }: Field, source: SettingSource | undefined): unknown => {
  const text = source?.shown ?? ""
  if (kind === "flag") return text === "true"
  return kind === "several" || kind === "list" ? commaSeparated(text).filter((one) => one !== "none") : text
}

/** Shows the difference that changes make in the file, and with `apply` writes them. */
export const changeSettings = (options: Options, body: typeof SettingsChange.Type) =>
  inTurn(() => changed(options, body))

const changed = async (options: Options, { apply, basis: seen, ...edits }: typeof SettingsChange.Type) => {
  const { path } = options
  if (!existsSync(path)) throw new HttpError(409, "missing", `${path} does not exist yet.`)
  const before = readFileSync(path, "utf8")
  const basis = hash("sha256", before)
  const diff: Array<ReturnType<typeof differenceOf>[number]> = []
  let after = before
  for (const edit of editsOf(edits)) {
    const edited = Result.flatMap(edit, (run) => run(after))
    if (Result.isFailure(edited)) return { diff: [], problems: [{ message: edited.failure }], written: false }
    diff.push(...differenceOf(after, edited.success))
    after = edited.success
  }
  const problems = await problemsOf(options, after)
  if (problems.length > 0 || apply !== true) return { diff, problems, written: false, basis }
  if (seen !== undefined && seen !== basis) throw changedMeanwhile()
  await writePrivately(path, after, before).catch((cause: unknown) => {
    throw cause instanceof FileChanged ? changedMeanwhile() : cause
  })
  return { diff, problems: [], written: true }
}

const changedMeanwhile = () =>
  new HttpError(409, "changed", "The file has changed meanwhile. Look at the difference again.")

/** One for each value that changes, and one for a new item of a list. What is added here can be taken back here. */
const editsOf = ({ add, changes = {}, remove }: typeof SettingsChange.Type) => [
  ...Object.entries(changes).map(([path, value]) => {
    const { secret } = allSettings.find((one) => one.path === path) ?? {}
    if (!editable.has(path)) return Result.fail(`${path} is changed in the file, not here.`)
    return secret && value !== null && !isReference(value)
      ? Result.fail(referenceExpected(path))
      : Result.succeed((content: string) => withChanges(content, { [path]: value }))
  }),
  ...(add === undefined ? [] : [editOfItem(add)]),
  ...(remove === undefined ? [] : [Result.succeed((content: string) => withoutItem(content, remove.list, remove.item))])
]

const editOfItem = ({ list, values }: NonNullable<(typeof SettingsChange.Type)["add"]>) => {
  const written: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(values).filter(([, one]) => one !== "")) {
    const known = addedTo(list).find((one) => one.name === key)
    if (known === undefined) return Result.fail(`${key} is no setting of ${list}.`)
    if (known.secret && !isReference(value)) return Result.fail(referenceExpected(key))
    written[key] =
      known.secret || key === nameKey ? value : present(listOf(list).settings[key], `setting ${key}`).fromText(value)
  }
  const { [nameKey]: name, ...own } = written
  if (listOf(list).isNamed && typeof name !== "string")
    return Result.fail(`The name of the ${listOf(list).item} is missing.`)
  return Result.succeed((content: string) => withItem(content, list, own, name as string | undefined))
}

/** A command that the server would run is written by whoever can write the file. */
const isReference = (value: unknown): boolean => typeof value === "string" && /^(env|file):/.test(value)
const referenceExpected = (path: string): string =>
  `${path} may contain a secret: write a reference to it, env:NAME or file:PATH.`

/** What `./sluice config validate` says of the new content, in a file beside the real one, for paths that are relative. */
const problemsOf = async ({ ask, output, path }: Options, content: string) => {
  const name = `.${randomBytes(6).toString("hex")}.toml`
  const draft = join(dirname(resolve(path)), name)
  await writePrivately(draft, content)
  try {
    const flags = ["--config", draft, ...(output === undefined ? [] : ["--output", output])]
    const { data, error } = await ask.json(["config", "validate"], flags)
    const { problems = [], settings = [] } = (data ?? {}) as {
      readonly problems?: ReadonlyArray<string>
      readonly settings?: ReadonlyArray<string>
    }
    // Who sees the field needs neither the line of the file nor the name of the setting.
    const messageOf = (message: string, field?: string) => {
      const text = message.replaceAll(draft, path).replaceAll(name, path)
      const [, about] = field === undefined ? [] : text.split(`: ${field} `)
      return about ?? text
    }
    return [
      ...problems.map((message, index) => ({ message: messageOf(message, settings[index]), field: settings[index] })),
      ...(error ? [{ message: messageOf(error.message) }] : [])
    ]
  } finally {
    await rm(draft, { force: true })
  }
}

/** The lines around the first and the last difference; the edit touches one place. */
const differenceOf = (before: string, after: string) => {
  const [old, now] = [before.split("\n"), after.split("\n")]
  let first = 0
  while (first < old.length && old[first] === now[first]) first++
  let last = 0
  while (last < old.length - first && last < now.length - first && old.at(-1 - last) === now.at(-1 - last)) last++
  const same = (texts: ReadonlyArray<string>) => texts.map((text) => ({ kind: "same", text }))
  return [
    ...same(old.slice(Math.max(0, first - 2), first)),
    ...old.slice(first, old.length - last).map((text) => ({ kind: "removed", text })),
    ...now.slice(first, now.length - last).map((text) => ({ kind: "added", text })),
    ...same(old.slice(old.length - last, old.length - last + 2))
  ]
}
