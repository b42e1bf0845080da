/** Saved queries: one .sql file each, in a folder of the user. Saving one is the only thing that the explorer writes. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Dirent, constants } from "node:fs"
import { lstat, mkdir, open, readFile, readdir } from "node:fs/promises"
import { join } from "node:path"
import { ifMissing } from "../../output/files.ts"
import { FileChanged, writePrivately } from "../../settings/new-file.ts"
import { docsPage } from "../../values/installation.ts"
import { HttpError } from "../../network/server.ts"
import { SavedChart } from "./chart-order.ts"
import { limits } from "./limits.ts"

export interface SavedQuery {
  readonly name: string
  readonly sql: string
  /** Saved with it, as the last line of the file. */
  readonly chart?: typeof SavedChart.Type | undefined
}

/** A comment, so that the file is SQL for every program. JSON has no line breaks. */
const chartLine = /\n-- chart: (\{.*\})\s*$/

const withoutChart = (text: string): Pick<SavedQuery, "sql" | "chart"> => {
  const [line, json] = chartLine.exec(text) ?? []
  if (line === undefined) return { sql: text }
  const chart = Option.getOrUndefined(decodeChart(json))
  return { sql: `${text.slice(0, -line.length)}\n`, ...(chart && { chart }) }
}
const decodeChart = Schema.decodeUnknownOption(Schema.fromJsonString(SavedChart))

/** The ten questions of docs/models.md: each has its name before its query, and its chart in it. */
export const questions = async (): Promise<ReadonlyArray<SavedQuery>> => {
  const text = await readFile(docsPage("models.md"), "utf8")
  const ten = text.slice(text.indexOf("## Ten questions"), text.indexOf("## Your own"))
  return Array.from(ten.matchAll(/([^\n]+(?:\n[^\n]+)*)\n+```sql\n(.*?)```/gs), ([, said = "", sql = ""]) => {
    const [name = ""] = /^[^.?:]+\??/.exec(said.replaceAll("\n", " ")) ?? []
    return { name, ...withoutChart(sql) }
  })
}

const filesMax = 500

/** Letters, digits, spaces, hyphens and underscores: no name can lead to another folder, or be hidden. */
const validName = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} _-]{0,79}$/u
const isName = (name: string): boolean => validName.test(name) && name === name.trim()

/** The queries by name. Other files of the folder, and links, are left out. */
export const savedQueries = async (folder: string): Promise<ReadonlyArray<SavedQuery>> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(ifMissing([]))
  const names = entries.flatMap(nameOf).sort().slice(0, filesMax)
  const queries = await Promise.all(names.map((name) => readQuery(folder, name)))
  return queries.filter((query) => query !== undefined)
}

const nameOf = (entry: Dirent): ReadonlyArray<string> => {
  const name = entry.name.replace(/\.sql$/, "")
  return entry.isFile() && name !== entry.name && isName(name) ? [name] : []
}

const readQuery = async (folder: string, name: string): Promise<SavedQuery | undefined> => {
  try {
    await using file = await open(pathOf(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW)
    const { size } = await file.stat()
    // Beside the SQL there are a line break and a chart of four names.
    return size > limits.sqlBytes + 6000 ? undefined : { name, ...withoutChart(await file.readFile("utf8")) }
  } catch {
    // Removed in the meantime, or not readable for this user: the other queries are still of use.
    return undefined
  }
}

/** Fails if the name is not valid, or is taken and `replace` is not set. */
export const saveQuery = async (folder: string, { name, sql, chart }: SavedQuery, replace: boolean): Promise<void> => {
  if (!isName(name))
    throw new HttpError(400, "name", "A name has at most 80 letters, digits, spaces, hyphens and underscores.")
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = pathOf(folder, name)
  const found = await lstat(path).catch(() => undefined)
  if (found && !found.isFile()) throw new HttpError(400, "name", `${name} is not a file that can be replaced.`)
  const text = sql.endsWith("\n") ? sql : `${sql}\n`
  const content = chart === undefined ? text : `${text}-- chart: ${JSON.stringify(chart)}\n`
  // Of two browsers that choose one name at once, one is refused.
  await writePrivately(path, content, replace ? undefined : null).catch((cause: unknown) => {
    throw cause instanceof FileChanged ? new HttpError(409, "exists", `There is a query ${name} already.`) : cause
  })
}

const pathOf = (folder: string, name: string): string => join(folder, `${name}.sql`)
