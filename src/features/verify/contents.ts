/** Compares every copy of a table, in the warehouse and in each published format, with the manifest. */
import { Effect } from "effect"
import { join } from "node:path"
import { Failure } from "../../values/failure.ts"
import { manifestName, snapshotName } from "../../output/paths.ts"
import { type Content, type StoredColumn, contentsIfReadable, empty } from "../../stores/warehouse/content.ts"
import { versionOf } from "../../stages/publish/changes.ts"
import type { Reading } from "../../stores/formats/format.ts"
import { formatNames, loadFormat } from "../../stores/formats/formats.ts"
import { tableSizes } from "../../stores/warehouse/columns.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { changedSince } from "../../stores/warehouse/meta/run-resources.ts"
import { contentVersions } from "../../stores/warehouse/meta/content-versions.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type VerifyFinding, counted, note, wrong } from "../../values/finding.ts"
import type { Known } from "./existing-tables.ts"
import type { Manifest, TableContent } from "../../output/manifest.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { derivedFindings, filesOf, problemOf, unchangedViews } from "./derived.ts"

/**
 * Checks the current tables. Tables that a run or `prune` changed after the last publish may differ, but not after a publish that
 * said that nothing has changed. `isPublished`: the settings name formats, so every publish looks at this release.
 */
export const checkWarehouseContent = Effect.fn("verify.warehouseContent")(function* (
  { tables }: Known,
  manifest: Manifest | undefined,
  isPublished: boolean
) {
  const equal = new Map<string, string>()
  if (!manifest?.tables) return { looked: "nothing to compare with", findings: manifest ? [withoutSums] : [], equal }
  const changed = yield* changedSince(manifest.run)
  const versions = yield* contentVersions()
  /** Whether the table has changed since a publish last said that the release shows it. */
  const isChanged = (resource: string, table: string) => {
    const isLater = changed.includes(resource)
    if (manifest.state === undefined) return isLater
    const { base, version } = versions.get(resource) ?? {}
    if (versionOf(version) === manifest.state.versions[table]) return false
    // What a publish has recorded as shown, and the release does not show, no later run explains.
    return !(isPublished && isLater && base === version)
  }
  const findings: Array<VerifyFinding> = []
  const changedLater = new Set<string>()
  let rows = 0
  const tablesOfManifest = new Map(manifest.tables.map((one) => [whereIn(one), one]))
  const copies = tables.flatMap(({ hasVersions, isEmpty: noRows, resource, table }) =>
    schemas.map((schema) => {
      const published = tablesOfManifest.get(`${schema}.${table.name}`)
      const isEmpty = schema === "crm" ? noRows : !hasVersions
      return {
        from: `${schema}.${name(table.name)}`,
        where: `${schema}.${table.name}`,
        published,
        resource,
        table,
        isEmpty
      }
    })
  )
  for (const [{ from, published, resource, table, where }, what] of yield* differences(copies)) {
    if (!published) {
      findings.push(wrong(where, "the manifest of the published release does not list it"))
      continue
    }
    if (published.schema === "crm") rows += published.rows
    if (what === undefined) equal.set(where, from)
    else if (isChanged(resource.table, table.name)) changedLater.add(table.name)
    else findings.push(wrong(where, `${what}, and no run has changed it since`))
  }
  if (changedLater.size > 0)
    findings.push(
      note(
        "published",
        `it shows run ${manifest.run}; the warehouse has newer changes in ${counted(changedLater.size, "table")}: ${[...changedLater].slice(0, 5).join(", ")}${changedLater.size > 5 ? " and others" : ""}`
      )
    )
  return {
    looked: `${counted(tables.length, "table")}, ${counted(rows, "row")}, compared with the published release`,
    findings,
    equal
  }
})

/** Checks each published file that is intact. */
export const checkFormats = Effect.fn("verify.formats")(function* (
  { tables }: Known,
  folder: string,
  manifest: Manifest | undefined,
  {
    wanted,
    broken,
    equal,
    catalogue
  }: {
    /** The formats in the settings. */
    readonly wanted: ReadonlyArray<string>
    /** Files in which another check has found an error. */
    readonly broken: ReadonlySet<string>
    readonly equal: Equal
    readonly catalogue: Catalogue
  }
) {
  if (!manifest?.tables || !manifest.formats) return { looked: "nothing", findings: manifest ? [withoutSums] : [] }
  const { files, formats, tables: contents } = manifest
  const findings: Array<VerifyFinding> = wanted
    .filter((format) => !formats.includes(format))
    .map((format) => wrong(manifestName, `it lists no ${format} files, although output.formats contains ${format}`))
  const known = new Set(tables.map(({ table }) => table.name))
  const published = contents.filter(({ table }) => known.has(table))
  const readings = yield* readingsOf(manifest)
  const hasSnapshot = manifest.files.some(({ path }) => path === snapshotName) && !broken.has(snapshotName)
  const failed = hasSnapshot ? yield* openSnapshot(join(folder, snapshotName)) : undefined
  const isOpen = hasSnapshot && failed === undefined
  for (const format of formats) {
    if (format === "duckdb") {
      if (!manifest.files.some(({ path }) => path === snapshotName))
        findings.push(wrong(manifestName, `it does not list ${snapshotName}`))
      else if (failed !== undefined) findings.push(wrong(snapshotName, `it cannot be opened: ${failed}`))
      else if (isOpen) findings.push(...(yield* snapshotFindings(published, equal)))
      continue
    }
    const reading = readings.get(format)
    const current = published.filter(({ schema }) => schema === "crm")
    const copies = current.flatMap((table) => {
      const files = filesOf(manifest, format, table.table)
      const [first] = files
      if (first === undefined) findings.push(wrong(manifestName, `it lists no ${format} file of ${table.table}`))
      if (first === undefined || !reading || files.some(({ path }) => broken.has(path))) return []
      const paths = files.map(({ path }) => join(folder, path))
      // The check of the published files has counted the rows of these.
      const isEmpty = files.every(({ path, rows }) => rows === 0 && /\.(csv|parquet)$/.test(path))
      const columns = Object.keys(table.columns)
      const problem = problemOf(reading, paths, columns)
      return [{ problem, published: table, from: reading.from(paths, columns), file: first.path, isEmpty }]
    })
    for (const [{ file, problem }, differs] of yield* differences(copies, { equal, text: reading?.areTexts })) {
      const what = (yield* problem) ?? differs
      if (what !== undefined) findings.push(wrong(file, what))
    }
  }
  const views = yield* unchangedViews(catalogue, manifest)
  findings.push(...(yield* derivedFindings(folder, { files, tables: contents }, { broken, isOpen, readings, views })))
  const uncompared = manifest.formats.flatMap((one) =>
    one === "duckdb" || readings.has(one) ? [] : [`the values in ${one}`]
  )
  return {
    looked: `${counted(known.size, "table")} in ${manifest.formats.join(", ") || "no format"}${uncompared.length > 0 ? `; not compared: ${uncompared.join("; ")}` : ""}`,
    findings
  }
}, Effect.scoped)

const schemas = ["crm", "crm_history"] as const
const withoutSums = note(
  manifestName,
  "an earlier version of sluice wrote it, without checksums of the tables: ./sluice publish adds them"
)

const columnsIn = ({ columns }: TableContent): ReadonlyArray<StoredColumn> =>
  Object.entries(columns).map(([column, type]) => ({ name: column, type }))

/** The tables of the warehouse, by name, whose content is that in the manifest. */
type Equal = ReadonlyMap<string, string>

const whereIn = ({ schema, table }: TableContent): string => `${schema}.${table}`

interface Copy {
  readonly from: string
  readonly published: TableContent | undefined
  /** It is known to have no rows: if the manifest says so too, there is nothing to read. */
  readonly isEmpty?: boolean
}

/** How each copy differs from the manifest, if it does and the manifest lists it. `text`: it has the texts of a CSV file. */
const differences = Effect.fnUntraced(function* <One extends Copy>(
  copies: ReadonlyArray<One>,
  { equal, text = false }: { readonly equal?: Equal; readonly text?: boolean | undefined } = {}
) {
  const listed = copies.flatMap(({ from, isEmpty, published }) => {
    if (!published || (isEmpty && published.rows === 0)) return []
    const { rows, sum } = published
    const stored = equal?.get(whereIn(published))
    const source = stored === undefined ? undefined : { from: stored, content: { rows, sum } }
    return [{ from, columns: columnsIn(published), text, size: rows, source }]
  })
  const contents = yield* contentsIfReadable(listed)
  return copies.map(
    (copy) => [copy, copy.published && difference(contents.get(copy.from) ?? empty, copy.published)] as const
  )
})

const difference = (content: Content | Failure, published: TableContent) => {
  if (content instanceof Failure) return `it cannot be compared: ${content.message}`
  if (content.rows !== published.rows)
    return `it has ${counted(content.rows, "row")}; the manifest lists ${published.rows}`
  return content.sum === published.sum ? undefined : "its values differ from the manifest"
}

/** Attaches the DuckDB file as `published` for the scope, or returns why it cannot be opened. */
const openSnapshot = Effect.fnUntraced(function* (path: string) {
  const warehouse = yield* Warehouse
  return yield* Effect.acquireRelease(warehouse.run(`ATTACH ${literal(path)} AS published (READ_ONLY)`), () =>
    Effect.ignore(warehouse.run("DETACH published"))
  ).pipe(
    Effect.as(undefined),
    Effect.catch(({ message }) => Effect.succeed(message))
  )
})

/** The DuckDB file. */
const snapshotFindings = Effect.fnUntraced(function* (tables: ReadonlyArray<TableContent>, equal: Equal) {
  const sizes = yield* tableSizes("'published'")
  const copies = tables.map((published) => {
    const schema = published.schema === "crm" ? "main" : published.schema
    const isEmpty = sizes.get(`${schema}.${published.table}`) === 0
    return { from: `published.${schema}.${name(published.table)}`, published, isEmpty }
  })
  return (yield* differences(copies, { equal })).flatMap(([{ published }, what]) =>
    what === undefined ? [] : [wrong(snapshotName, `${published.schema}.${published.table}: ${what}`)]
  )
})

/** How the files of each format are read, if they can be compared. */
const readingsOf = Effect.fnUntraced(function* ({ formats = [], csvProfile }: Manifest) {
  const found = new Map<string, Reading>()
  for (const name of formatNames.filter((one) => formats.includes(one))) {
    const { reading } = yield* loadFormat(name)
    if (reading && !(name === "csv" && csvProfile === "spreadsheet")) found.set(name, reading)
  }
  return found
})
