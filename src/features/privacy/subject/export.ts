/** Writes everything that the account holds about a person into a folder, and beside it as a zip file. */
import { itemAt } from "../../../catalog/present.ts"
import type { Recorded } from "../../../command/recorded.ts"
import { Array as Arr, Clock, Effect } from "effect"
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises"
import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Catalogue } from "../../../catalog/discover.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { counted } from "../../../values/finding.ts"
import { writeArchive } from "../../../output/archive.ts"
import { onDisk } from "../../../output/files.ts"
import { fileNamesOf } from "../../../output/names.ts"
import type { OptionalSettings } from "../../../catalog/optional-settings.ts"
import { locationNames } from "../../../stores/warehouse/locations.ts"
import { exportedName, isStoredPath } from "../../../output/stored-files.ts"
import { removeBelow } from "../../../output/remove.ts"
import { columnWithRole } from "../../../catalog/tables.ts"
import { linkSql } from "../../../stores/warehouse/file-links.ts"
import { rowsOfEach } from "../../../stores/warehouse/groups.ts"
import { queryTexts } from "../../../stores/warehouse/query.ts"
import { name } from "../../../stores/warehouse/sql.ts"
import { findBelongings, findPossibleRecords, linkedResources } from "./belongings.ts"
import { findCandidates } from "./candidates.ts"
import { conversationsOf, threadOf } from "./conversations.ts"
import { type PersonTable, personTables, writeRows } from "./collect.ts"
import { coverageOf, limits } from "./coverage.ts"
import type { FoundContact } from "./find.ts"
import { pageOf } from "./page.ts"

export interface ExportOptions {
  readonly catalogue: Catalogue
  readonly enabled: ReadonlyArray<Resource>
  readonly optional: OptionalSettings
  readonly locations: ReadonlyArray<string>
  /** The output folder, below which files are. */
  readonly output: string
  /** The folder to write; it must not exist. */
  readonly target: string
  /** Of this export, as the ledger has it. */
  readonly id: string
  readonly contacts: ReadonlyArray<FoundContact>
  /** Contacts that may be the person. */
  readonly possible: ReadonlyArray<FoundContact>
  /** As given. */
  readonly addresses: ReadonlyArray<string>
  readonly withHistory: boolean
  readonly searchText: boolean
  /** Records it, before it has its name. */
  readonly record: (records: number) => Recorded
}

/** Rows of a table in `index.html`; the files have all. */
const shownRowsMax = 500

export const exportSubject = Effect.fn("subject.export")(function* (options: ExportOptions) {
  const { catalogue, contacts, target, withHistory } = options
  const all = linkedResources(catalogue.resources)
  const schemas = withHistory ? (["crm", "crm_history"] as const) : (["crm"] as const)
  yield* findBelongings(all, schemas)
  const possibleRecords = yield* findPossibleRecords(all, schemas)
  // The person comes before what is about the person.
  const isOther = ({ resource }: (typeof all)[number]) => Number(resource.table !== "contacts")
  const linked = all.toSorted((one, other) => isOther(one) - isOther(other))
  const coverage = yield* coverageOf(linked, options, options.locations, {
    contacts: options.possible.length,
    records: possibleRecords
  })
  const having = new Set(coverage.flatMap(({ records, resource }) => (records > 0 ? [resource] : [])))
  const tables = yield* personTables(
    linked.flatMap(({ resource }) => (having.has(resource.table) ? [resource] : [])),
    withHistory
  )
  const candidates = options.searchText ? yield* findCandidates(catalogue, contacts, options.addresses) : undefined

  const part = `${target}.part`
  yield* onDisk(part, "written", async () => {
    await removeBelow(dirname(target), part)
    await mkdir(join(part, "data"), { recursive: true, mode: 0o700 })
    await mkdir(join(part, "files"), { mode: 0o700 })
    await mkdir(join(part, "conversations"), { mode: 0o700 })
  })
  const write = (file: string, text: string) =>
    onDisk(join(part, file), "written", () => writeFile(join(part, file), text, { mode: 0o600 }))
  const shown = yield* writeRows(tables, join(part, "data"), shownRowsMax)
  const pageTables = tables.map(({ definition: { columns, description }, name: table, rows, schema }, place) => ({
    name: table,
    description: schema === "crm" ? description : `Earlier versions. ${description}`,
    rows,
    columns: new Map(columns.map((column) => [column.name, column])),
    shown: itemAt(shown, place)
  }))
  const files = yield* copyFiles(tables, options.output, part)
  const conversations = yield* conversationsOf(catalogue.resources, files)
  const links = yield* linksOf(tables)
  const sum = (counts: ReadonlyArray<number>) => counts.reduce((total, one) => total + one, 0)
  const records = sum(coverage.map((one) => one.records))
  // A record may have rows in child tables, and earlier versions.
  const held = `${counted(records, "record")}, ${counted(sum(tables.map(({ rows }) => rows)), "row")} in ${counted(tables.length, "table")}`
  const asOf =
    coverage
      .map(({ completeAt }) => completeAt ?? "")
      .toSorted()
      .at(-1) || "the last sync"
  const person = contacts.find(({ name }) => name !== null)?.name ?? options.addresses[0] ?? contacts[0]?.id
  const names = yield* locationNames()
  yield* write("coverage.json", json({ sources: coverage, limits }))
  yield* write(
    "person.json",
    json({
      export: options.id,
      contacts,
      possible: options.possible,
      possibleRecords,
      addresses: options.addresses,
      asOf
    })
  )
  yield* write("columns.json", json(columnsOf(tables)))
  if (links.length > 0) yield* write("links.json", json(links))
  if (candidates !== undefined) yield* write("candidates.json", json(candidates))
  const conversationPaths = fileNamesOf(conversations).map((file) => `conversations/${file}.html`)
  for (const [path, conversation] of Arr.zip(conversationPaths, conversations))
    yield* write(path, threadOf(conversation))
  yield* write(
    "index.html",
    pageOf({
      title: `Data about ${person}`,
      asOf,
      contacts,
      // A location that no sync has read has its id for a name.
      placeOf: (location) => names.get(location) ?? location,
      addresses: options.addresses,
      coverage,
      tables: pageTables,
      held,
      links,
      conversations: conversationPaths,
      files: files.map((file) => `files/${file}`),
      candidates,
      limits
    })
  )
  const time = new Date(yield* Clock.currentTimeMillis)
  yield* onDisk(target, "removed", () => rm(`${target}.zip.part`, { force: true }))
  yield* writeArchive(`${target}.zip.part`, part, { format: "zip", root: basename(target), time })
  // Nobody gets an export of which the ledger knows nothing.
  yield* options.record(records)
  yield* onDisk(target, "written", async () => {
    await rename(part, target)
    await rename(`${target}.zip.part`, `${target}.zip`)
  })
  return {
    records,
    held,
    tables: tables.map((table) => ({ name: table.name, rows: table.rows })),
    coverage,
    possibleRecords,
    files: files.length,
    candidates: candidates?.length
  }
}, withoutParts)

/** What was not handed out is not left behind. */
function withoutParts<A, E, R>(work: Effect.Effect<A, E, R>, { target }: Pick<ExportOptions, "target">) {
  const parts = [`${target}.part`, `${target}.zip.part`]
  const remove = async () => {
    for (const part of parts) await removeBelow(dirname(target), part)
  }
  return Effect.onError(work, () => Effect.ignore(onDisk(target, "removed", remove)))
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`

const columnsOf = (tables: ReadonlyArray<PersonTable>) =>
  Object.fromEntries(
    tables.map(({ definition, name: table }) => [
      table,
      {
        description: definition.description,
        columns: Object.fromEntries(
          definition.columns.map((column) => [
            column.name,
            { type: column.sql, description: column.description, personalData: column.personal }
          ])
        )
      }
    ])
  )

/** Copies the files; their paths are relative to the output folder. Returns the names of the copies. */
const copyFiles = Effect.fnUntraced(function* (tables: ReadonlyArray<PersonTable>, output: string, part: string) {
  const found = yield* Effect.forEach(tables, ({ definition, from }) => {
    const column = columnWithRole(definition, "storedFile")
    return column === undefined
      ? Effect.succeed([])
      : queryTexts(`SELECT DISTINCT ${name(column)} FROM (${from}) WHERE ${name(column)} IS NOT NULL ORDER BY ALL`)
  })
  const paths = [...new Set(found.flat())].filter(isStoredPath)
  const existing = paths.map((path) => join(output, path)).filter((path) => existsSync(path))
  yield* Effect.forEach(existing, (path) => {
    const copy = join(part, "files", exportedName(path))
    return onDisk(copy, "written", () => copyFile(path, copy))
  })
  return existing.map(exportedName)
})

/** The links to files that stay with the service: those that were not fetched. */
const linksOf = Effect.fnUntraced(function* (tables: ReadonlyArray<PersonTable>) {
  const links = tables.flatMap(({ definition, from, name: table, rows }) =>
    definition.columns.flatMap((column) =>
      column.role === "file" && column.type === "text" ? [{ column: name(column.name), from, table, size: rows }] : []
    )
  )
  const found = yield* rowsOfEach(
    { url: String },
    links,
    ({ column, from }) =>
      `SELECT DISTINCT ${column} AS url FROM (${from}) WHERE ${column} <> '' AND ${linkSql(column)} NOT IN (SELECT link FROM crm.files WHERE path IS NOT NULL AND link IS NOT NULL)`
  )
  return found.map(([{ table }, { url }]) => ({ table, url }))
})
