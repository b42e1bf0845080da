/** Compares every copy of a table, in the warehouse and in each published format, with the manifest. */
import { Effect } from "effect"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { manifestName, snapshotName } from "../../output/paths.ts"
import {
  type Content,
  type StoredColumn,
  contentOf,
  contentOfRows,
  contentOfTexts,
  forEachRowOf,
  jsonOfRow,
  untouched
} from "../../stores/warehouse/content.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { changedSince } from "../../stores/warehouse/meta/run-resources.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type Checked, type Finding, counted, note, wrong } from "../../values/finding.ts"
import type { Known } from "./existing-tables.ts"
import { type Manifest, type PublishedTable, filesOf } from "./manifest.ts"

/** Checks the current tables. Tables that a run changed after the release was published may differ. */
export const checkWarehouseContent = Effect.fn("verify.warehouseContent")(function* (
  { tables }: Known,
  manifest: Manifest | undefined
): Effect.fn.Return<Checked, Failure, Warehouse> {
  const checked = (looked: string, findings: ReadonlyArray<Finding>): Checked => ({
    part: "warehouse",
    check: "content",
    looked,
    findings
  })
  if (!manifest?.tables) return checked("nothing to compare with", manifest ? [withoutSums] : [])
  const changed = yield* changedSince(manifest.run)
  const findings: Array<Finding> = []
  const changedLater = new Set<string>()
  let rows = 0
  const small = yield* smallContents(manifest.tables.map((one) => [`${one.schema}.${name(one.table)}`, one]))
  for (const { table, resource } of tables)
    for (const schema of schemas) {
      const published = manifest.tables.find((one) => one.schema === schema && one.table === table.name)
      if (!published) {
        findings.push(wrong(`${schema}.${table.name}`, "the manifest of the published release does not list it"))
        continue
      }
      if (schema === "crm") rows += published.rows
      const what = yield* difference(`${schema}.${name(table.name)}`, published, { known: small })
      if (what !== undefined && changed.has(resource.table)) changedLater.add(table.name)
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
  const checked = (looked: string, findings: ReadonlyArray<Finding>): Checked => ({
    part: "published",
    check: "formats",
    looked,
    findings
  })
  if (!manifest?.tables || !manifest.formats) return checked("nothing", manifest ? [withoutSums] : [])
  const findings: Array<Finding> = wanted
    .filter((format) => !manifest.formats!.includes(format))
    .map((format) => wrong(manifestName, `it lists no ${format} files, although output.formats contains ${format}`))
  const known = new Set(tables.map(({ table }) => table.name))
  const published = manifest.tables.filter(({ table }) => known.has(table))
  const spreadsheet = manifest.csvProfile === "spreadsheet"
  for (const format of manifest.formats) {
    if (format === "duckdb") {
      if (!manifest.files.some(({ path }) => path === snapshotName))
        findings.push(wrong(manifestName, `it does not list ${snapshotName}`))
      else if (!broken.has(snapshotName))
        findings.push(...(yield* snapshotFindings(join(folder, snapshotName), published)))
      continue
    }
    const current = published.filter(({ schema }) => schema === "crm")
    const pathsOf = (files: ReadonlyArray<{ readonly path: string }>) => files.map(({ path }) => join(folder, path))
    const intact = current.flatMap((table) => {
      const files = filesOf(manifest, format, table.table)
      return files.length === 0 || files.some(({ path }) => broken.has(path))
        ? []
        : [[parquetFrom(pathsOf(files)), table] as const]
    })
    const small = format === "parquet" ? yield* smallContents(intact) : undefined
    for (const table of current) {
      const files = filesOf(manifest, format, table.table)
      if (files.length === 0) findings.push(wrong(manifestName, `it lists no ${format} file of ${table.table}`))
      if (files.length === 0 || files.some(({ path }) => broken.has(path))) continue
      const paths = pathsOf(files)
      const what =
        format === "parquet"
          ? yield* difference(parquetFrom(paths), table, { known: small })
          : ((yield* headerProblem(paths, table)) ??
            (yield* difference(csvFrom(paths, table), table, {
              which: spreadsheet ? "untouchedSum" : "sum",
              text: true
            })))
      if (what !== undefined) findings.push(wrong(files[0]!.path, what))
    }
  }
  if (manifest.formats.includes("duckdb") && !broken.has(snapshotName))
    findings.push(...(yield* modelFindings(folder, manifest, broken)))
  const uncompared = [
    ...(spreadsheet && manifest.formats.includes("csv") ? ["texts in CSV, which the spreadsheet profile changes"] : []),
    ...(manifest.files.some(({ table }) => table.endsWith("_wide")) ? ["the columns of wide tables"] : [])
  ]
  return checked(
    `${counted(known.size, "table")} in ${manifest.formats.join(", ") || "no format"}${uncompared.length > 0 ? `; not compared: ${uncompared.join("; ")}` : ""}`,
    findings
  )
})

const schemas = ["crm", "crm_history"] as const
const withoutSums = note(
  manifestName,
  "an earlier version of sluice wrote it, without checksums of the tables: ./sluice publish adds them"
)

const columnsIn = ({ columns }: PublishedTable): ReadonlyArray<StoredColumn> =>
  Object.entries(columns).map(([column, type]) => ({ name: column, type }))

/**
 * The contents of copies that should have few rows, by FROM clause: planning a statement for each takes longer than all of
 * them. Those that cannot be read together, or have more rows, are left to a statement each.
 */
const smallContents = Effect.fnUntraced(function* (
  copies: ReadonlyArray<readonly [from: string, published: PublishedTable]>
): Effect.fn.Return<ReadonlyMap<string, Content>, never, Warehouse> {
  const small = copies
    .filter(([, { rows }]) => rows <= rowsMax)
    .map(([from, published]) => ({ from, published, columns: columnsIn(published), rows: 0, sum: 0n }))
  const contents = new Map<string, Content>()
  for (let first = 0; first < small.length; first += relationsMax) {
    const some = small.slice(first, first + relationsMax)
    const isRead = yield* forEachRowOf(
      some.map(({ columns, from, published }) =>
        published.rows === 0
          ? { row: "NULL::VARCHAR", from: `${from} LIMIT 1` }
          : { row: jsonOfRow(columns), from: `${from} LIMIT ${rowsMax + 1}` }
      ),
      (place, row) => {
        const one = some[place]!
        one.rows += row === null ? rowsMax + 1 : 1
        if (row !== null) one.sum += BigInt(contentOfTexts(one.columns, [row]).sum)
      }
    ).pipe(
      Effect.as(true),
      Effect.catch(() => Effect.succeed(false))
    )
    for (const { from, rows, sum } of isRead ? some : [])
      if (rows <= rowsMax) contents.set(from, { rows, sum: String(sum) })
  }
  return contents
})

const rowsMax = 250
/** Bounds the memory for the plan of a statement. */
const relationsMax = 50

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
  published: PublishedTable,
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

const snapshotFindings = Effect.fnUntraced(function* (
  path: string,
  tables: ReadonlyArray<PublishedTable>
): Effect.fn.Return<ReadonlyArray<Finding>, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  return yield* Effect.acquireUseRelease(
    warehouse.run(`ATTACH ${literal(path)} AS published (READ_ONLY)`),
    () =>
      Effect.gen(function* () {
        const copyOf = (table: PublishedTable) =>
          `published.${table.schema === "crm" ? "main" : table.schema}.${name(table.table)}`
        const small = yield* smallContents(tables.map((table) => [copyOf(table), table]))
        const found: Array<Finding> = []
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
  broken: ReadonlySet<string>
): Effect.fn.Return<ReadonlyArray<Finding>, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const files = manifest.files.filter(({ path, table }) => table.startsWith("bi.") && !broken.has(path))
  const readable = files.filter(
    ({ path }) => path.endsWith(".parquet") || (path.endsWith(".csv") && manifest.csvProfile !== "spreadsheet")
  )
  const compare = ({ path, table }: (typeof files)[number]) =>
    Effect.gen(function* () {
      const source = `published.bi.${name(table.slice("bi.".length))}`
      const described = yield* warehouse.rows(`DESCRIBE ${source}`)
      const columns = described.map((row) => ({ name: String(row["column_name"]), type: String(row["column_type"]) }))
      const expected = yield* contentOf(source, columns)
      const isText = path.endsWith(".csv")
      const paths = [join(folder, path)]
      const names = Object.fromEntries(columns.map((column) => [column.name, column.type]))
      const header = isText ? yield* headerProblem(paths, { columns: names }) : undefined
      if (header !== undefined) return [wrong(path, header)]
      const found = yield* contentOf(isText ? csvFrom(paths, { columns: names }) : parquetFrom(paths), columns, isText)
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

const listed = (paths: ReadonlyArray<string>) => `[${paths.map(literal).join(", ")}]`
const parquetFrom = (paths: ReadonlyArray<string>) => `read_parquet(${listed(paths)}, hive_partitioning = false)`

/** Reads texts: NULL is an empty cell, an empty text is quoted. */
const csvFrom = (paths: ReadonlyArray<string>, { columns }: Pick<PublishedTable, "columns">) =>
  `read_csv(${listed(paths)}, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
     nullstr = '', allow_quoted_nulls = false, parallel = false, max_line_size = ${lineBytesMax}, buffer_size = ${lineBytesMax},
     columns = {${Object.keys(columns)
       .map((column) => `${literal(column)}: 'VARCHAR'`)
       .join(", ")}})`
/** A row has at most 4 MB of JSON; CSV doubles its quotes. */
const lineBytesMax = 16 * 1024 * 1024

/** DuckDB accepts any line as the header. */
const headerProblem = (paths: ReadonlyArray<string>, { columns }: Pick<PublishedTable, "columns">) =>
  Effect.promise(async () => {
    const header = `${Object.keys(columns).join(",")}\r\n`
    for (const path of paths) {
      await using file = await open(path)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(header.length + 3), 0, header.length + 3, 0)
      const beginning = buffer.toString("utf8", 0, bytesRead).replace(/^\uFEFF/, "")
      if (!beginning.startsWith(header)) return "its header does not name the columns"
    }
    return undefined
  })
