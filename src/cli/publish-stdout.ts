/** `sluice publish --stdout`: writes the rows of one table to stdout. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { type PublishedTable, publishedTables } from "../catalog/published-tables.ts"
import { firstWide } from "../catalog/tables.ts"
import { partsOf, rangesOf } from "../stores/warehouse/parts.ts"
import { columnsOf } from "../stores/warehouse/columns.ts"
import { type FormatName, loadFormat } from "../stores/formats/formats.ts"
import { writeToPipe } from "../stores/formats/pipe.ts"
import type { Masking } from "../settings/masking.ts"
import { definePseudonyms } from "../stages/publish/masking/pseudonyms.ts"
import { maskedParts } from "../stages/publish/masking/relation.ts"
import { type PublishSettings, maskingOf } from "../settings/targets.ts"
import { readManifest } from "../output/manifest.ts"
import { outputPaths, snapshotName } from "../output/paths.ts"
import { closest, suggestion } from "../settings/closest.ts"
import { commaSeparated } from "../values/setting.ts"
import type { OutputSettings } from "../settings/settings.ts"
import { publishedMetaTables } from "../stores/warehouse/meta/tables.ts"
import { name } from "../stores/warehouse/sql.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"
import { wideViews } from "../stores/warehouse/wide-views.ts"
import { failedError, usageError } from "../console/errors.ts"
import { Output } from "../console/streams.ts"
import { openReadable, sayHolder } from "../command/readable.ts"

export interface StdoutFlags {
  /** The table; with a schema or without: `contacts`, `crm_history.contacts`, `meta.runs`. */
  readonly stdout: string
  readonly format: FormatName | undefined
  readonly columns: string | undefined
  /** SQL condition. */
  readonly where: string | undefined
  /** What personal data the rows contain; everything by default. */
  readonly profile: "raw" | "masked" | "analytics" | undefined
}

/** If another program has the warehouse open, the rows are those of the last release, as a message says. */
export const publishToStdout = Effect.fn("command.publishToStdout")(function* (
  flags: StdoutFlags,
  catalogue: Catalogue,
  output: Pick<OutputSettings, "folder" | "memoryMb"> & {
    readonly publishing: PublishSettings
  },
  now: number
) {
  const { stdout } = yield* Output
  const table = yield* tableOf(catalogue, flags.stdout, yield* releasedModels(output.folder))
  const masking = yield* maskingOf(output.publishing, flags.profile ?? "raw")
  if (table.schema === "bi" && masking)
    return yield* usageError(
      `--stdout ${flags.stdout} --profile ${masking.profile}: a model is made of tables that are masked already.`,
      "Name a folder for this profile with [[publish]] in the settings: it gets the models too."
    )
  if (table.schema === "bi") return yield* modelToStdout(table.name, flags, output)
  const readable = yield* openReadable(output)
  if (readable.source === "none") return yield* readable.locked
  yield* sayHolder(readable, now)
  const format = yield* loadFormat(flags.format ?? "csv")
  yield* Effect.gen(function* () {
    if (masking?.profile === "analytics") yield* definePseudonyms(masking.key)
    yield* writeToPipe(yield* rowsOf(catalogue, table, flags, masking), format, stdout)
  }).pipe(Effect.provide(readable.tables))
  return 0
}, Effect.scoped)

const rowsOf = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  { schema, name: table, isWide }: Effect.Success<ReturnType<typeof tableOf>>,
  flags: StdoutFlags,
  masking: Masking | undefined
) {
  const { where } = flags
  const views = schema === "meta" ? [] : yield* wideViews(catalogue)
  const wide = isWide ? views.find(({ view }) => view === table) : undefined
  if (isWide && !wide) {
    const known = views.map(({ view }) => view)
    const several = known.filter((view) => firstWide(view) === table)
    if (several.length === 0) return yield* notFound(`--stdout ${table}`, "no such table or model", table, known)
    return yield* usageError(
      `--stdout ${table}: each object has a table of its own: ${several.join(", ")}`,
      `./sluice publish --stdout ${several[0]}`
    )
  }
  const plain = wide ? yield* partsOf({ name: table, wide }, schema) : yield* rangesOf(`${schema}.${name(table)}`)
  // A condition sees masked values only, because the rows that it selects would tell the others.
  const all = masking
    ? yield* maskedParts(catalogue, views, masking, { schema, name: table, parts: plain, wide })
    : plain
  if (where !== undefined) yield* checkCondition(all[0]!, where)
  const parts = where === undefined ? all : all.map((part) => `(FROM ${part} WHERE (${where}\n))`)
  return yield* chosenRows(table, parts, flags)
})

/** The rows of a model are in the release. */
const modelToStdout = Effect.fnUntraced(function* (
  model: string,
  flags: StdoutFlags,
  { folder, memoryMb }: Pick<OutputSettings, "folder" | "memoryMb">
) {
  const { stdout } = yield* Output
  const release = join(outputPaths(folder).published, snapshotName)
  if (!existsSync(release))
    return yield* failedError(
      `The release in ${outputPaths(folder).published} has no DuckDB file, which contains the models.`,
      'add "duckdb" to output.formats, then ./sluice publish'
    )
  const format = yield* loadFormat(flags.format ?? "csv")
  yield* Effect.gen(function* () {
    const path = `bi.${name(model)}`
    if (flags.where !== undefined) yield* checkCondition(path, flags.where)
    const part = flags.where === undefined ? path : `(FROM ${path} WHERE (${flags.where}\n))`
    yield* writeToPipe(yield* chosenRows(model, [part], flags), format, stdout)
  }).pipe(Effect.provide(Warehouse.layer(release, { memoryMb, access: "read", isRelease: true })))
  return 0
})

const chosenRows = Effect.fnUntraced(function* (table: string, parts: ReadonlyArray<string>, flags: StdoutFlags) {
  const existing = yield* columnsOf(parts[0]!)
  const wanted = flags.columns === undefined ? existing.map((column) => column.name) : commaSeparated(flags.columns)
  const columns = wanted.map((one) => existing.find((column) => column.name === one) ?? one)
  const unknown = columns.find((column) => typeof column === "string")
  if (unknown !== undefined || columns.length === 0)
    return yield* notFound(
      `--columns ${unknown ?? '""'}`,
      `no such column in ${table}`,
      unknown ?? "",
      existing.map((column) => column.name)
    )
  return { table, parts, columns: columns.filter((column) => typeof column !== "string") }
})

/** The models of the release: a user has some of his own. */
const releasedModels = (folder: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.tryPromise(() => readManifest(outputPaths(folder).published)).pipe(
    Effect.map(({ files, state }) => [
      ...Object.keys(state?.models ?? {}),
      ...files.flatMap(({ table }) => (table.startsWith("bi.") ? [table.slice("bi.".length)] : []))
    ]),
    Effect.orElseSucceed(() => [])
  )

/** A table, wide view or model that is published, with or without its schema. */
const tableOf = (catalogue: Catalogue, written: string, models: ReadonlyArray<string>) => {
  const [, schema = "crm", table = ""] = /^(?:(crm|crm_history|meta|bi)\.)?(.*)$/s.exec(written)!
  const isView = ({ definition, name }: PublishedTable) => name !== definition.name
  const published = publishedTables(catalogue).filter((one) => schema === "crm" || !isView(one))
  const names = schema === "meta" ? publishedMetaTables : published.map((one) => one.name)
  const named = [table, firstWide(table)].find((one) => names.includes(one))
  // How many wide tables there are, the warehouse knows.
  const isWide = published.some((one) => one.name === named && isView(one))
  if (schema !== "bi" && (isWide || named === table)) return Effect.succeed({ schema, name: table, isWide })
  return models.includes(table) && (schema === "bi" || !written.includes("."))
    ? Effect.succeed({ schema: "bi", name: table, isWide: false })
    : Effect.fail(notFound(`--stdout ${written}`, "no such table or model", table, [...names, ...models]))
}

const notFound = (flag: string, what: string, written: string, names: ReadonlyArray<string>) => {
  return usageError(`${flag}: there is ${what}${suggestion(closest(written, names))}`, "./sluice dictionary")
}

const checkCondition = Effect.fnUntraced(function* (part: string, where: string) {
  yield* (yield* Warehouse)
    .rows(`EXPLAIN SELECT 1 FROM ${part} WHERE (${where}\n)`)
    .pipe(
      Effect.mapError(({ message }) =>
        usageError(
          `--where ${where}: ${message.split("\n")[0]}`,
          "Write an SQL condition over the columns of the table, such as --where \"status = 'won'\"."
        )
      )
    )
})
