/** The settings on the page: each with its value and its place, and those that a page can change without guessing. */
import * as Result from "effect/Result"
import { hash, randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { type Body, HttpError } from "../explore/http.ts"
import { withChanges, withItem } from "../../settings/edit.ts"
import { fileFormats } from "../../settings/targets.ts"
import { writePrivately } from "../../settings/new-file.ts"
import { type SettingSource, readSettings } from "../../settings/read.ts"
import { type ListName, allSettings, listNames, listOf } from "../../settings/sections.ts"
import type { Ask } from "./ask.ts"

interface Options {
  /** The settings file. */
  readonly path: string
  /** Of the command line, without the settings file. */
  readonly output: string | undefined
  readonly ask: Ask
  readonly environment: Readonly<Record<string, string | undefined>>
}

type Edit = { readonly kind: "text" | "boolean" | "list" | "choices"; readonly choices?: ReadonlyArray<string> }

const editable: Readonly<Record<string, Edit>> = {
  "schedule.times": { kind: "list" },
  "schedule.time_zone": { kind: "text" },
  "schedule.paused": { kind: "boolean" },
  "schedule.prune": { kind: "boolean" },
  "output.formats": { kind: "choices", choices: fileFormats },
  "models.build": { kind: "boolean" },
  "files.fetch": { kind: "list" },
  "personal_data.exclude_classes": { kind: "list" },
  "alarms.warn_after": { kind: "text" },
  "alarms.error_after": { kind: "text" },
  "signals.mail_to": { kind: "text" },
  "signals.webhook_url": { kind: "text" }
}

/** What a new item of a list has on the page. A location has a page of its own, which tests it. */
const itemKeys: Partial<Readonly<Record<ListName, ReadonlyArray<string>>>> = {
  publish: ["name", "folder", "postgres", "sqlite", "profile"],
  tables: ["exclude", "only"],
  silence: ["alarm", "reason", "until"]
}
/** The name of an item of a list whose items are named. */
const nameKey = "table"
const addedTo = (list: ListName) => {
  const { isNamed, required, settings } = listOf(list)
  const name = { key: nameKey, description: "Name of the table, such as contacts.", required: true, secret: false }
  const fields = (itemKeys[list] ?? []).map((key) => {
    const { description, secret } = settings[key]!
    return { key, description, required: required.includes(key), secret: secret === true }
  })
  return isNamed ? [name, ...fields] : fields
}

export const settingsOf = ({ environment, output, path }: Options) => {
  const { sources } = readSettings({ config: existsSync(path) ? path : undefined, output }, environment)
  const sourceOf = new Map(sources.map((source) => [source.path, source]))
  return {
    file: path,
    exists: existsSync(path),
    settings: allSettings.map(({ description, path: setting, section, secret }) => ({
      path: setting,
      section,
      description,
      ...shownSource(sourceOf.get(setting)),
      ...(editable[setting] && {
        edit: { ...editable[setting], ...(!secret && { value: writtenOf(setting, sourceOf.get(setting)) }) }
      })
    })),
    lists: listNames.map((list) => ({
      list,
      description: listOf(list).description,
      items: sources.flatMap((source) =>
        source.path.startsWith(`${list}[`) || source.path.startsWith(`${list}.`)
          ? [{ place: source.path, ...shownSource(source) }]
          : []
      ),
      add: addedTo(list)
    }))
  }
}

const shownSource = (source: SettingSource | undefined) =>
  source ? { shown: source.shown, from: source.from, name: source.name } : { shown: "", from: "default", name: "" }

/** The value as a form shows it. */
const writtenOf = (path: string, source: SettingSource | undefined): unknown => {
  const text = source?.shown ?? ""
  const { kind } = editable[path]!
  if (kind === "boolean") return text === "true"
  return kind === "text"
    ? text
    : text.split(",").flatMap((one) => (one.trim() === "" || one === "none" ? [] : [one.trim()]))
}

/** Shows the difference that changes make in the file, and with `apply` writes them. */
export const changeSettings = async (options: Options, body: Body) => {
  const { path } = options
  if (!existsSync(path)) throw new HttpError(409, "missing", `${path} does not exist yet.`)
  const before = readFileSync(path, "utf8")
  const basis = hash("sha256", before)
  const versions = [before]
  for (const edit of editsOf(body)) {
    const edited = Result.flatMap(edit, (run) => run(versions.at(-1)!))
    if (Result.isFailure(edited)) return { diff: [], problems: [edited.failure], written: false }
    versions.push(edited.success)
  }
  const after = versions.at(-1)!
  const problems = await problemsOf(options, after)
  const diff = versions.slice(1).flatMap((version, index) => differenceOf(versions[index]!, version))
  if (problems.length > 0 || body["apply"] !== true) return { diff, problems, written: false, basis }
  if (body["basis"] !== undefined && body["basis"] !== basis)
    throw new HttpError(409, "changed", "The file has changed meanwhile. Look at the difference again.")
  await writePrivately(path, after)
  return { diff, problems: [], written: true }
}

type Values = Readonly<Record<string, unknown>>
type Edited = Result.Result<string, string>

/** One for each value that changes, and one for a new item of a list. */
const editsOf = ({ add, changes = {} }: Body): ReadonlyArray<Result.Result<(content: string) => Edited, string>> => [
  ...Object.entries(changes as Values).map(([path, value]) => {
    const { secret } = allSettings.find((one) => one.path === path) ?? {}
    if (!Object.hasOwn(editable, path)) return Result.fail(`${path} is changed in the file, not here.`)
    return secret && value !== null && !isReference(value)
      ? Result.fail(referenceExpected(path))
      : Result.succeed((content: string) => withChanges(content, { [path]: value }))
  }),
  ...(add === undefined ? [] : [editOfItem(add as { readonly list?: unknown; readonly values?: Values })])
]

const editOfItem = ({ list: given, values = {} }: { readonly list?: unknown; readonly values?: Values }) => {
  const list = listNames.find((one) => one === given && itemKeys[one] !== undefined)
  if (list === undefined) return Result.fail("An item of this list is added in the file, not here.")
  const written: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(values).filter(([, one]) => one !== "")) {
    const known = addedTo(list).find((one) => one.key === key)
    if (known === undefined || typeof value !== "string") return Result.fail(`${key} is no setting of ${list}.`)
    if (known.secret && !isReference(value)) return Result.fail(referenceExpected(key))
    written[key] = known.secret || key === nameKey ? value : listOf(list).settings[key]!.fromText(value)
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
const problemsOf = async ({ ask, output, path }: Options, content: string): Promise<ReadonlyArray<string>> => {
  const name = `.${randomBytes(6).toString("hex")}.toml`
  const draft = join(dirname(resolve(path)), name)
  await writePrivately(draft, content)
  try {
    const flags = ["--config", draft, ...(output === undefined ? [] : ["--output", output])]
    const { data, error } = await ask.json(["config", "validate"], flags)
    const problems = (data as { readonly problems?: ReadonlyArray<string> } | undefined)?.problems ?? []
    return [...problems, ...(error ? [error.message] : [])].map((one) =>
      one.replaceAll(draft, path).replaceAll(name, path)
    )
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
