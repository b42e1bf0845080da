/** Compares the published files with their manifest. No publish runs meanwhile, as it would open the warehouse for writing. */
import { Effect } from "effect"
import { lstat, readdir, realpath } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import { CsvCounter, checksumIfPresent, onDisk, succeeds } from "../../output/files.ts"
import { manifestName, reportName } from "../../output/paths.ts"
import { query, queryNumber } from "../../stores/warehouse/query.ts"
import { literal } from "../../stores/warehouse/sql.ts"
import { runsNewestFirst } from "../../stores/warehouse/meta/runs.ts"
import { type VerifyFinding, counted, note, wrong } from "../../values/finding.ts"
import { type Manifest, type PublishedFile, readManifest } from "../../output/manifest.ts"

export const checkPublished = Effect.fn("verify.published")(function* (folder: string) {
  const exists = (path: string) => succeeds(() => lstat(path))
  if (!(yield* exists(folder)))
    return (yield* exists(join(dirname(folder), `.${basename(folder)}`)))
      ? {
          looked: "nothing",
          findings: [wrong(folder, `missing; its releases are in the folder .${basename(folder)}`)]
        }
      : { looked: "nothing published", findings: [] }
  const manifest = yield* Effect.promise(() => readManifest(folder).catch((cause: Error) => cause))
  if (manifest instanceof Error) {
    const why = "code" in manifest ? `it cannot be read: ${manifest.message}` : manifest.message
    return { looked: "no manifest", findings: [wrong(manifestName, why)] }
  }
  const findings: Array<VerifyFinding> = [...(yield* runFindings(manifest.run))]
  const parquetRows = yield* parquetRowsIn(folder, manifest)
  for (const file of manifest.files) {
    const what = yield* problemOf(folder, file, parquetRows)
    if (what !== undefined) findings.push(wrong(file.path, what))
  }
  const named = new Set([manifestName, ...manifest.files.map(({ path }) => path)])
  for (const path of yield* onDisk(folder, "read", () => filesIn(folder)))
    if (!named.has(path)) findings.push(wrong(path, "no manifest names it"))
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  const size = counted(Math.round(bytes / 1e6), "MB", "MB")
  const looked = `${counted(manifest.files.length, "file")} of run ${manifest.run}, ${size}`
  return { looked, findings, manifest }
})

/** Every file of a release, relative to it, except the report, which describes later runs too. */
const filesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const release = await realpath(folder)
  const entries = await readdir(release, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(release, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith(`${reportName}/`))
    .sort()
}

/** Checks that a known run published the release, and that it was the latest one. */
const runFindings = Effect.fnUntraced(function* (run: string) {
  const ids = (yield* runsNewestFirst()).map(({ id }) => id)
  if (!ids.includes(run)) return [wrong(manifestName, `it names run ${run}, which is not in meta.runs`)]
  return ids[0] === run ? [] : [note(manifestName, `run ${run} published it; the latest run is ${ids[0]}`)]
})

const problemOf = Effect.fnUntraced(function* (
  folder: string,
  { path, rows, bytes, sha256 }: PublishedFile,
  parquetRows: ReadonlyMap<string, number>
) {
  const file = join(folder, path)
  const csv = path.endsWith(".csv") ? new CsvCounter() : undefined
  const found = yield* onDisk(file, "read", () => checksumIfPresent(file, csv?.take))
  if (found === undefined) return "missing"
  if (found.bytes !== bytes) return `it has ${counted(found.bytes, "byte")}; the manifest lists ${bytes}`
  if (found.sha256 !== sha256) return "its SHA-256 differs from the manifest"
  const count = path.endsWith(".parquet") ? (parquetRows.get(file) ?? (yield* rowsOf(file))) : csv && csv.lines - 1
  if (count === "unreadable") return "it is not a readable Parquet file"
  return count === undefined || count === rows
    ? undefined
    : `it has ${counted(count, "row")}; the manifest lists ${rows}`
})

/** The rows of all Parquet files by their paths; none if one of them cannot be read. */
const parquetRowsIn = Effect.fnUntraced(function* (folder: string, { files }: Manifest) {
  const paths = files.filter(({ path }) => path.endsWith(".parquet")).map(({ path }) => literal(join(folder, path)))
  const found =
    paths.length === 0
      ? []
      : yield* Effect.orElseSucceed(
          query(
            { path: String, rows: Number },
            `SELECT file_name AS path, num_rows AS rows FROM parquet_file_metadata([${paths.join(", ")}])`
          ),
          () => []
        )
  return new Map(found.map(({ path, rows }) => [path, rows]))
})

const rowsOf = (file: string) =>
  Effect.orElseSucceed(queryNumber(`SELECT count(*) FROM read_parquet(${literal(file)})`), () => "unreadable" as const)
