/** Compares every copy of a table, in the warehouse and in each published format, with the manifest. */
import { Effect } from "effect"
import { join } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { manifestName, snapshotName } from "../../output/paths.ts"
import { type Content, type StoredColumn, contentOf, contentOfRows, untouched } from "../../stores/warehouse/content.ts"
import { versionOf } from "../../stages/publish/changes.ts"
import type { Reading } from "../../stores/formats/format.ts"
import { formatNames, loadFormat } from "../../stores/formats/formats.ts"
import { columnsOf } from "../../stores/warehouse/columns.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { changedSince } from "../../stores/warehouse/meta/run-resources.ts"
import { contentVersions } from "../../stores/warehouse/meta/content-versions.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type Checked, type VerifyFinding, counted, note, wrong } from "../../values/finding.ts"
import { type Known, rowsMax, smallContents } from "./existing-tables.ts"
import type { Manifest, PublishedFile, TableContent } from "../../output/manifest.ts"

/** Checks the current tables. Tables that a run or `prune` changed after the release was published may differ. */
export const checkWarehouseContent = Effect.fn("verify.warehouseContent")(function* (
  { tables }: Known,
  manifest: Manifest | undefined
): Effect.fn.Return<Checked, Failure, Warehouse> {
  const checked = (looked: string, findings: ReadonlyArray<VerifyFinding>): Checked => ({
    part: "warehouse",
    check: "content",
    looked,
    findings
  })
  if (!manifest?.tables) return checked("nothing to compare with", manifest ? [withoutSums] : [])
  const changed = yield* changedSince(manifest.run)
  const versions = yield* contentVersions()
  const isChanged = (resource: string, table: string) =>
    changed.has(resource) ||
    (manifest.state !== undefined && versionOf(versions.get(resource)?.version) !== manifest.state.versions[table])
  const findings: Array<VerifyFinding> = []
  const changedLater = new Set<string>()
  let rows = 0
  const small = yield* smallCopies(
    manifest.tables.map((one) => ({ from: `${one.schema}.${name(one.table)}`, published: one }))
  )
  for (const { table, resource } of tables)
    for (const schema of schemas) {
      const published = manifest.tables.find((one) => one.schema === schema && one.table === table.name)
      if (!published) {
        findings.push(wrong(`${schema}.${table.name}`, "the manifest of the published release does not list it"))
        continue
      }
      if (schema === "crm") rows += published.rows
      const what = yield* difference(`${schema}.${name(table.name)}`, published, { known: small })
      if (what !== undefined && isChanged(resource.table, table.name)) changedLater.add(table.name)
      else if (what !== undefined)
        findings.push(wrong(`${schema}.${table.name}`, `${what}, and no run has changed it since`))
    }
  if (changedLater.size > 0)
    findings.push(
      note(
        "published",
        `it shows run ${manifest.run}; the warehouse has newer changes in ${counted(changedLater.size, "table")}: ${[...changedLater].slice(0, 5).join(", ")}${changedLater.size > 5 ? " and others" : ""}`
      )
    )
  return checked(
    `${counted(tables.length, "table")}, ${counted(rows, "row")}, compared with the published release`,
    findings
  )
})

/** Checks each published file that is intact. */
export const checkFormats = Effect.fn("verify.formats")(function* (
  { tables }: Known,
  folder: string,
  manifest: Manifest | undefined,
  {
    wanted,
    broken
  }: {
    /** The formats in the settings. */
    readonly wanted: ReadonlyArray<string>
    /** Files in which another check has found an error. */
    readonly broken: ReadonlySet<string>
  }
): Effect.fn.Return<Checked, Failure, Warehouse> {
  const checked = (looked: string, findings: ReadonlyArray<VerifyFinding>): Checked => ({
    part: "published",
    check: "formats",
    looked,
    findings
  })
  if (!manifest?.tables || !manifest.formats) return checked("nothing", manifest ? [withoutSums] : [])
  const findings: Array<VerifyFinding> = wanted
    .filter((format) => !manifest.formats!.includes(format))
    .map((format) => wrong(manifestName, `it lists no ${format} files, although output.formats contains ${format}`))
  const known = new Set(tables.map(({ table }) => table.name))
  const published = manifest.tables.filter(({ table }) => known.has(table))
  const readings = yield* readingsOf(manifest)
  for (const format of manifest.formats) {
    if (format === "duckdb") {
      if (!manifest.files.some(({ path }) => path === snapshotName))
        findings.push(wrong(manifestName, `it does not list ${snapshotName}`))
      else if (!broken.has(snapshotName))
        findings.push(...(yield* snapshotFindings(join(folder, snapshotName), published)))
      continue
    }
    const reading = readings.get(format)
    const current = published.filter(({ schema }) => schema === "crm")
    const copies = current.flatMap((table) => {
      const files = filesOf(manifest, format, table.table)
      if (files.length === 0) findings.push(wrong(manifestName, `it lists no ${format} file of ${table.table}`))
      if (files.length === 0 || files.some(({ path }) => broken.has(path))) return []
      const paths = files.map(({ path }) => join(folder, path))
      return reading
        ? [{ paths, published: table, from: reading.from(paths, Object.keys(table.columns)), file: files[0]!.path }]
        : []
    })
    const how = { which: reading?.altersTexts ? "untouchedSum" : "sum", text: reading?.areTexts ?? false } as const
    const small = yield* smallCopies(copies, how)
    for (const { file, from, paths, published } of copies) {
      const what =
        (yield* problemOf(reading!, paths, Object.keys(published.columns))) ??
        (yield* difference(from, published, { ...how, known: small }))
      if (what !== undefined) findings.push(wrong(file, what))
    }
  }
  if (manifest.formats.includes("duckdb") && !broken.has(snapshotName))
    findings.push(...(yield* modelFindings(folder, manifest, broken, readings)))
  const uncompared = [
    ...(readings.get("csv")?.altersTexts ? ["texts in CSV, which the spreadsheet profile changes"] : []),
    ...manifest.formats.flatMap((one) => (one === "duckdb" || readings.has(one) ? [] : [`the values in ${one}`])),
    ...(manifest.files.some(({ table }) => table.endsWith("_wide")) ? ["the columns of wide tables"] : [])
  ]
  return checked(
    `${counted(known.size, "table")} in ${manifest.formats.join(", ") || "no format"}${uncompared.length > 0 ? `; not compared: ${uncompared.join("; ")}` : ""}`,
    findings
  )
})

/** The files of one table in one format, without the lists of altered cells. */
const filesOf = ({ files }: Manifest, format: string, table: string): ReadonlyArray<PublishedFile> =>
  files.filter(
    (file) => file.table === table && file.path.startsWith(`${format}/`) && !file.path.endsWith(".escaped.csv")
  )

const schemas = ["crm", "crm_history"] as const
const withoutSums = note(
  manifestName,
  "an earlier version of sluice wrote it, without checksums of the tables: ./sluice publish adds them"
)

const columnsIn = ({ columns }: TableContent): ReadonlyArray<StoredColumn> =>
  Object.entries(columns).map(([column, type]) => ({ name: column, type }))

/** The contents of the copies that should have few rows, by FROM clause. A copy that should be empty has no columns. */
const smallCopies = (
  copies: ReadonlyArray<{ readonly from: string; readonly published: TableContent }>,
  { which = "sum", text = false }: Comparison = {}
) =>
  smallContents(
    copies.flatMap(({ from, published }) => {
      if (published.rows > rowsMax) return []
      const columns = which === "sum" ? columnsIn(published) : untouched(columnsIn(published))
      return [{ from, columns: published.rows === 0 ? [] : columns, text }]
    })
  )

interface Comparison {
  readonly which?: "sum" | "untouchedSum"
  /** The copy has the texts of a CSV file. */
  readonly text?: boolean
  /** Contents that are known. */
  readonly known?: ReadonlyMap<string, Content> | undefined
}

/** How a copy differs from the manifest, if it does. */
const difference = (
  from: string,
  published: TableContent,
  { which = "sum", text = false, known }: Comparison
): Effect.Effect<string | undefined, never, Warehouse> => {
  const columns = which === "sum" ? columnsIn(published) : untouched(columnsIn(published))
  const content = known?.get(from)
  // Counting first is worth it only if the copy may be empty.
  const read = published.rows > 0 ? contentOfRows : contentOf
  return (content ? Effect.succeed(content) : read(from, columns, text)).pipe(
    Effect.map(({ rows, sum }) =>
      rows !== published.rows
        ? `it has ${counted(rows, "row")}; the manifest lists ${published.rows}`
        : sum === published[which]
          ? undefined
          : "its values differ from the manifest"
    ),
    Effect.catch(({ message }) => Effect.succeed(`it cannot be compared: ${message}`))
  )
}

const snapshotFindings = Effect.fnUntraced(function* (path: string, tables: ReadonlyArray<TableContent>) {
  const warehouse = yield* Warehouse
  return yield* Effect.acquireUseRelease(
    warehouse.run(`ATTACH ${literal(path)} AS published (READ_ONLY)`),
    () =>
      Effect.gen(function* () {
        const copyOf = (table: TableContent) =>
          `published.${table.schema === "crm" ? "main" : table.schema}.${name(table.table)}`
        const small = yield* smallCopies(tables.map((table) => ({ from: copyOf(table), published: table })))
        const found: Array<VerifyFinding> = []
        for (const table of tables) {
          const what = yield* difference(copyOf(table), table, { known: small })
          if (what !== undefined) found.push(wrong(snapshotName, `${table.schema}.${table.table}: ${what}`))
        }
        return found
      }),
    () => Effect.ignore(warehouse.run("DETACH published"))
  ).pipe(Effect.catch(({ message }) => Effect.succeed([wrong(snapshotName, `it cannot be opened: ${message}`)])))
})

/** The files of models against the tables of `crm.duckdb`, from which they were written. */
const modelFindings = Effect.fnUntraced(function* (
  folder: string,
  manifest: Manifest,
  broken: ReadonlySet<string>,
  readings: ReadonlyMap<string, Reading>
) {
  const warehouse = yield* Warehouse
  const files = manifest.files.filter(({ path, table }) => table.startsWith("bi.") && !broken.has(path))
  const readable = files.flatMap(({ path, table }) => {
    const reading = readings.get(path.slice(0, path.indexOf("/")))
    return reading && !reading.altersTexts ? [{ path, table, reading }] : []
  })
  const compare = ({ path, reading, table }: (typeof readable)[number]) =>
    Effect.gen(function* () {
      const source = `published.bi.${name(table.slice("bi.".length))}`
      const columns = yield* columnsOf(source)
      const expected = yield* contentOf(source, columns)
      const paths = [join(folder, path)]
      const names = columns.map((column) => column.name)
      const problem = yield* problemOf(reading, paths, names)
      if (problem !== undefined) return [wrong(path, problem)]
      const found = yield* contentOf(reading.from(paths, names), columns, reading.areTexts)
      return found.rows === expected.rows && found.sum === expected.sum
        ? []
        : [wrong(path, `its values differ from bi.${table.slice("bi.".length)} of ${snapshotName}`)]
    }).pipe(Effect.catch(({ message }) => Effect.succeed([wrong(path, `it cannot be compared: ${message}`)])))
  return yield* Effect.acquireUseRelease(
    warehouse.run(`ATTACH ${literal(join(folder, snapshotName))} AS published (READ_ONLY)`),
    () => Effect.map(Effect.forEach(readable, compare), (found) => found.flat()),
    () => Effect.ignore(warehouse.run("DETACH published"))
  )
})

/** How the files of each format are read, if they can be compared. */
const readingsOf = Effect.fnUntraced(function* ({ formats = [], csvProfile }: Manifest) {
  const found = new Map<string, Reading>()
  for (const name of formatNames.filter((one) => formats.includes(one))) {
    const { reading } = yield* loadFormat(name, { csvProfile: csvProfile === "spreadsheet" ? csvProfile : "machine" })
    if (reading) found.set(name, reading)
  }
  return found
})

const problemOf = Effect.fnUntraced(function* (
  { problem }: Reading,
  paths: ReadonlyArray<string>,
  columns: ReadonlyArray<string>
) {
  for (const path of problem ? paths : []) {
    const found = yield* problem!(path, columns)
    if (found !== undefined) return found
  }
  return undefined
})
