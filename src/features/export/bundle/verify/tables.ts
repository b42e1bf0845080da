/** Compares the tables of a bundle with `datapackage.json` and `control-totals.json`, by reading every file of a table. */
import { maskingName } from "../../../../output/paths.ts"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { type Ask, type TableTotals, ControlTotals, measure, parquetRelation, withDatabase } from "../control-totals.ts"
import { readRows } from "../../../../values/rows.ts"
import { csvReading } from "../../../../stores/formats/csv/format.ts"
import { type BundleFinding, type FoundFile, shown, textOf } from "./files.ts"
import { ledgerPath } from "./ledger.ts"
import { notCompared, wrong } from "../../../../values/finding.ts"

const Package = Schema.Struct({
  resources: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      bytes: Schema.optionalKey(Schema.Int),
      hash: Schema.optionalKey(Schema.String),
      "sluice:rows": Schema.optionalKey(Schema.Int)
    })
  )
})

interface Bag {
  readonly folder: string
  readonly files: ReadonlyMap<string, FoundFile>
  /** The SHA-256 of each file. */
  readonly sha256: ReadonlyMap<string, string>
  /** Files that differ from a manifest: they are not read any further. */
  readonly damaged: ReadonlySet<string>
}

const packagePath = "data/datapackage.json"
const totalsPath = "data/control-totals.json"
/** The files of the payload that are not tables. */
const documents = new Set([
  packagePath,
  totalsPath,
  "data/runs.json",
  "data/README.md",
  ledgerPath,
  `data/${maskingName}`
])

/** `compared`: the number of tables whose control totals were computed from every file. */
export const checkTables = async (bag: Bag, signal: AbortSignal) => {
  const described = await readDocument(bag, packagePath, Package)
  const totals = await readDocument(bag, totalsPath, ControlTotals)
  const findings: Array<BundleFinding> = []
  if (typeof described === "string") findings.push(notCompared(packagePath, described))
  if (typeof totals === "string") findings.push(notCompared(totalsPath, totals))
  const rowsByPath = new Map<string, number>()
  if (typeof described !== "string") for (const one of packageFindings(bag, described, rowsByPath)) findings.push(one)
  const tables = typeof totals === "string" ? [] : totals.tables
  const named = new Set<string>()
  const checked = await withDatabase(bag.folder, async (ask) => {
    let compared = 0
    for (const table of tables) {
      signal.throwIfAborted()
      const found = await tableFindings(ask, bag, table, rowsByPath)
      for (const one of found) findings.push(one)
      if (found.length === 0) compared++
    }
    for (const [path, sha256] of await namedFiles(ask, bag)) {
      named.add(path)
      const found = bag.sha256.get(path)
      if (found !== undefined && found !== sha256) findings.push(wrong(shown(path), "its SHA-256 differs from its row"))
    }
    return compared
  })
  const known = new Set([
    ...documents,
    ...named,
    ...tables.flatMap(({ table }) => pathsOf(table)),
    ...rowsByPath.keys()
  ])
  for (const path of bag.files.keys())
    if (path.startsWith("data/") && !known.has(path))
      findings.push(notCompared(shown(path), "no document of the bundle describes its content"))
  return { compared: checked, findings }
}

/** The files of the account that rows of the bundle name, with their checksums. */
const namedFiles = async (ask: Ask, { damaged, files, folder }: Bag) => {
  const tables = ["files", "recordings"].map((table) => pathsOf(table)[1])
  const rows = tables
    .filter((path) => files.has(path) && !damaged.has(path))
    .map((path) => `SELECT path, sha256 FROM ${parquetRelation(join(folder, path))} WHERE path IS NOT NULL`)
    .map((sql) => ask(sql).catch(() => []))
  const found = readRows({ path: String, sha256: String }, (await Promise.all(rows)).flat())
  return found.map(({ path, sha256 }) => [`data/${path}`, sha256] as const)
}

const documentBytesMax = 8 * 1024 * 1024

const readDocument = async <A>({ folder, files, damaged }: Bag, path: string, schema: Schema.Codec<A, unknown>) => {
  const file = files.get(path)
  if (file === undefined) return "missing, so the tables cannot be compared with it"
  if (damaged.has(path)) return "it differs from a manifest, so the tables were not compared with it"
  // What sluice writes has some hundred kB; decoding takes twenty times the size of a document.
  if (file.bytes > documentBytesMax) return `it has ${file.bytes} bytes; more than ${documentBytesMax} are not read`
  const read = await textOf(folder, file)
  if ("problem" in read) return read.problem
  const decoded = Schema.decodeUnknownExit(Schema.fromJsonString(schema))(read.text)
  return Exit.isSuccess(decoded)
    ? decoded.value
    : "it is not the document that sluice writes, so the tables were not compared with it"
}

/** Compares size and checksum; the rows are counted with the control totals. */
const packageFindings = ({ files, sha256 }: Bag, { resources }: typeof Package.Type, rowsByPath: Map<string, number>) =>
  resources.flatMap((resource): ReadonlyArray<BundleFinding> => {
    const path = `data/${resource.path}`
    const file = files.get(path)
    if (file === undefined) return [wrong(shown(path), `missing; ${packagePath} describes it`)]
    const { bytes, hash, "sluice:rows": rows } = resource
    if (rows !== undefined) rowsByPath.set(path, rows)
    if (bytes === undefined || hash === undefined || rows === undefined)
      return [notCompared(shown(path), `${packagePath} has no size, checksum or number of rows for it`)]
    if (bytes !== file.bytes) return [wrong(shown(path), `it has ${file.bytes} bytes; ${packagePath} names ${bytes}`)]
    return hash === `sha256:${sha256.get(path)}` ? [] : [wrong(shown(path), `its SHA-256 differs from ${packagePath}`)]
  })

const pathsOf = (table: string): readonly [csv: string, parquet: string] => [
  `data/csv/${table}.csv`,
  `data/parquet/${table}/part-0.parquet`
]

/** Computes the totals from both files of a table. */
const tableFindings = async (
  ask: Ask,
  { folder, files, damaged }: Bag,
  expected: TableTotals,
  rowsByPath: ReadonlyMap<string, number>
): Promise<ReadonlyArray<BundleFinding>> => {
  const findings: Array<BundleFinding> = []
  for (const path of pathsOf(expected.table)) {
    if (!files.has(path)) {
      findings.push(wrong(shown(path), `missing; ${totalsPath} has its totals`))
      continue
    }
    if (damaged.has(path)) {
      findings.push(notCompared(shown(path), "it differs from a manifest, so its control totals were not computed"))
      continue
    }
    const file = join(folder, path)
    try {
      const relation = path.endsWith(".csv") ? csvReading.from([file], await headerOf(file)) : parquetRelation(file)
      const { currencyColumn, decimalColumns, table, time } = expected
      const measured = await measure(ask, relation, { currencyColumn, decimalColumns, table, timeColumn: time?.column })
      findings.push(...differences(path, expected, measured))
      const rows = rowsByPath.get(path)
      if (rows === undefined) findings.push(notCompared(shown(path), `${packagePath} does not describe it`))
      else if (rows !== measured.rows)
        findings.push(wrong(shown(path), `it has ${measured.rows} rows; ${packagePath} names ${rows}`))
    } catch (error) {
      const [reason = ""] = String(error instanceof Error ? error.message : error).split("\n")
      findings.push(wrong(shown(path), `its control totals cannot be computed: ${shown(reason)}`))
    }
  }
  return findings
}

const differences = (path: string, expected: TableTotals, measured: Awaited<ReturnType<typeof measure>>) => {
  const figures = (totals: typeof measured): ReadonlyMap<string, string | number | null> =>
    new Map<string, string | number | null>([
      ["rows", totals.rows],
      ["current rows", totals.currentRows],
      ...(totals.time ? [["first " + totals.time.column, totals.time.min] as const] : []),
      ...(totals.time ? [["last " + totals.time.column, totals.time.max] as const] : []),
      ...totals.sums.flatMap(({ column, currency, sum, values }) => [
        [`sum of ${column}${currency === null ? "" : ` in ${currency}`}`, sum] as const,
        [`number of values of ${column}${currency === null ? "" : ` in ${currency}`}`, values] as const
      ])
    ])
  const [there, here] = [figures(expected), figures(measured)]
  return [...new Set([...there.keys(), ...here.keys()])]
    .filter((figure) => there.get(figure) !== here.get(figure))
    .map((figure) =>
      wrong(
        shown(path),
        shown(`${figure}: ${here.get(figure) ?? "none"}; control-totals.json names ${there.get(figure) ?? "none"}`)
      )
    )
}

/** The names in the first line of a CSV file. No column of sluice has a comma or a quote in its name. */
const headerOf = async (path: string): Promise<ReadonlyArray<string>> => {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytesMax), 0, headerBytesMax, 0)
  const end = buffer.subarray(0, bytesRead).indexOf("\r\n")
  if (end < 0) throw new Error(`it has no header of at most ${headerBytesMax} bytes`)
  return buffer.toString("utf8", 0, end).split(",")
}
const headerBytesMax = 1024 * 1024
