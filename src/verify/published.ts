/** The published files against their manifest. Nobody can publish meanwhile: that takes the warehouse for writing. */
import { Effect } from "effect"
import { lstat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { Failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import { manifestName } from "../settings/paths.ts"
import { literal } from "../warehouse/sql.ts"
import { runsNewestFirst } from "../warehouse/meta/runs.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Checked, type Finding, counted, note, wrong } from "./finding.ts"
import { type Manifest, type PublishedFile, readManifest } from "./manifest.ts"
import { CsvCounter, checksumIfThere } from "./checksum.ts"

export interface PublishedCheck {
  readonly checked: Checked
  /** Where there is one that can be read. */
  readonly manifest?: Manifest
}

export const checkPublished = Effect.fn("verify.published")(function* (
  folder: string
): Effect.fn.Return<PublishedCheck, Failure, Warehouse> {
  const checked = (looked: string, findings: ReadonlyArray<Finding>): Checked => ({
    part: "published",
    check: "published",
    looked,
    findings
  })
  const isThere = (path: string) =>
    Effect.promise(() =>
      lstat(path).then(
        () => true,
        () => false
      )
    )
  if (!(yield* isThere(folder)))
    return {
      checked: (yield* isThere(join(dirname(folder), `.${basename(folder)}`)))
        ? checked("nothing", [wrong(folder, "it is gone; its versions are beside it, in a hidden folder")])
        : checked("nothing published", [])
    }
  const manifest = yield* readManifest(folder)
  if (typeof manifest === "string") return { checked: checked("no manifest", [wrong(manifestName, manifest)]) }
  const findings: Array<Finding> = [...(yield* runFindings(manifest.run))]
  for (const file of manifest.files) {
    const what = yield* whatIsWrong(folder, file)
    if (what !== undefined) findings.push(wrong(file.path, what))
  }
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  const size = counted(Math.round(bytes / 1e6), "MB", "MB")
  return {
    checked: checked(`${counted(manifest.files.length, "file")} of run ${manifest.run}, ${size}`, findings),
    manifest
  }
})

/** Published by a run we know, and by the last one that changed the tables. */
const runFindings = Effect.fnUntraced(function* (
  run: string
): Effect.fn.Return<ReadonlyArray<Finding>, Failure, Warehouse> {
  const ids = (yield* runsNewestFirst()).map(({ id }) => id)
  if (!ids.includes(run)) return [wrong(manifestName, `it names run ${run}, which the warehouse does not know`)]
  return ids[0] === run ? [] : [note(manifestName, `published by run ${run}; the last one is ${ids[0]}`)]
})

const whatIsWrong = Effect.fnUntraced(function* (
  folder: string,
  { path, rows, bytes, sha256 }: PublishedFile
): Effect.fn.Return<string | undefined, Failure, Warehouse> {
  const file = join(folder, path)
  const csv = path.endsWith(".csv") ? new CsvCounter() : undefined
  const found = yield* onDisk(file, "read", () => checksumIfThere(file, csv?.take))
  if (found === undefined) return "missing"
  if (found.bytes !== bytes) return `${counted(found.bytes, "byte")}, and the manifest says ${bytes}`
  if (found.sha256 !== sha256) return "its content is not what the manifest says (sha256)"
  const held = path.endsWith(".parquet") ? yield* parquetRows(file) : csv && csv.lines - 1
  if (held === "unreadable") return "no Parquet reader can read it"
  return held === undefined || held === rows ? undefined : `${counted(held, "row")}, and the manifest says ${rows}`
})

const parquetRows = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<number | "unreadable", never, Warehouse> {
  return yield* (yield* Warehouse).rows(`SELECT count(*) AS n FROM read_parquet(${literal(file)})`).pipe(
    Effect.map(([row]) => Number(row?.["n"])),
    Effect.catch(() => Effect.succeed("unreadable" as const))
  )
})
