/** Writes a bundle: tables of the current release with everything that an auditor needs to check them without sluice. */
import type { Recorded } from "../../../command/recorded.ts"
import { Effect } from "effect"
import { dirname, join } from "node:path"
import type { Catalogue } from "../../../catalog/discover.ts"
import { onDisk } from "../../../output/files.ts"
import { ledgerOf } from "../../../stores/ledger/file.ts"
import { ledgerUntil } from "../../../stores/ledger/release.ts"
import { outputPaths, maskingName } from "../../../output/paths.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { type ArchiveFormat, writeArchive } from "../../../output/archive.ts"
import { removeBelow } from "../../../output/remove.ts"
import { readmeText, writeTagFiles } from "./bag.ts"
import { putFiles } from "./files.ts"
import { type TableTotals, measure, measuredOf, parquetRelation, withDatabase } from "./control-totals.ts"
import { type TableFile, putTable } from "./payload.ts"
import { type ApiTotal, apiTotals, runLedger } from "./runs.ts"
import { type Building, jsonText, sealFolders, sealText } from "./sealed-files.ts"
import type { Release } from "./source.ts"
import { type BundledTable, bundledTables, packageOf, resourcesOf } from "./tables.ts"
import { type Signer, sign } from "./sign.ts"
import { beginTarget, commitTarget } from "./target.ts"

export interface BundleOptions {
  readonly output: { readonly folder: string; readonly memoryMb: number }
  readonly release: Release
  /** Records it, before it has its name. */
  readonly record: (written: { readonly manifestSha256: string }) => Recorded
  readonly catalogue: Catalogue
  /** The names of base tables of the release. */
  readonly tables: ReadonlyArray<string>
  /** An absolute path. */
  readonly target: string
  readonly format: "folder" | ArchiveFormat
  readonly signer?: Signer | undefined
}

/** Makes the bundle beside its target, and gives it its name when it is complete. */
export const writeBundle = Effect.fn("bundle.write")(function* (options: BundleOptions) {
  const { target, format, release } = options
  const folder = yield* onDisk(target, "written", () => beginTarget(target))
  const bag = join(folder, "bag")
  return yield* Effect.gen(function* () {
    const time = new Date(release.writtenAt)
    const written = yield* writeBag(options, { folder: bag, time })
    const made = format === "folder" ? bag : join(folder, "archive")
    // The folder in the archive has the name of the release, so that the bytes do not depend on the name of the archive.
    if (format !== "folder") yield* writeArchive(made, bag, { format, root: `sluice-${release.run}`, time })
    // Nobody gets a bundle of which the ledger knows nothing.
    yield* options.record(written)
    yield* onDisk(target, "written", () => commitTarget(made, target)).pipe(Effect.uninterruptible)
    return written
  }).pipe(Effect.ensuring(Effect.promise(() => removeBelow(dirname(target), folder).catch(() => {}))))
})

const writeBag = Effect.fnUntraced(function* (options: BundleOptions, building: Building) {
  const { release, catalogue, output } = options
  const { snapshot, run, writtenAt } = release
  const text = (path: string, content: string) =>
    onDisk(join(building.folder, path), "written", () => sealText(building, path, content)).pipe(Effect.uninterruptible)
  const tables = bundledTables(catalogue, release, options.tables)
  const resources = resourcesOf(catalogue, tables)
  return yield* Effect.gen(function* () {
    const files: Array<TableFile> = []
    for (const { published } of tables) files.push(...(yield* putTable(release, published, building)))
    const scope = { run, writtenAt, resources: [...new Set([...resources.values()].flat())] }
    const ledger = yield* runLedger(scope)
    const totals = yield* totalsOf(tables, building, resources, yield* apiTotals(scope))
    const locations = [...new Set(ledger.resources.map((row) => String(row["location_id"])))].sort()
    const excerpt = yield* onDisk(ledgerOf(output.folder), "read", () => ledgerUntil(output.folder, release))
    const payload = [
      ...files,
      yield* text("data/datapackage.json", jsonText(packageOf(catalogue, tables, files))),
      yield* text("data/control-totals.json", jsonText({ run, tables: totals })),
      yield* text("data/runs.json", jsonText(ledger)),
      ...(release.maskedColumns === undefined ? [] : [yield* text(`data/${maskingName}`, release.maskedColumns)]),
      yield* text("data/README.md", readmeText(release, totals)),
      ...(excerpt === undefined ? [] : [yield* text("data/ledger.jsonl", excerpt.text)]),
      ...(yield* putFiles(tables, release, output.folder, building))
    ]
    const description = `${tables.length} tables of an account on the Account Platform, published at ${writtenAt}`
    const manifestSha256 = yield* onDisk(building.folder, "written", async () => {
      const info = { run, writtenAt, locations, description, ledgerHead: excerpt?.head }
      const sha256 = await writeTagFiles(building, info, payload)
      if (options.signer) await sign(building, options.signer, run)
      await sealFolders(building)
      return sha256
    }).pipe(Effect.uninterruptible)
    return {
      files: payload.length,
      bytes: payload.reduce((sum, { bytes }) => sum + bytes, 0),
      rows: totals.reduce((sum, { rows }) => sum + rows, 0),
      tables: tables.length,
      /** Identifies the content. */
      manifestSha256
    }
  }).pipe(Effect.provide(stateOf(snapshot, output)))
})

/** The runs and totals are those in the DuckDB file of the release; without one, those in the warehouse. */
const stateOf = (snapshot: string | undefined, { folder, memoryMb }: BundleOptions["output"]) =>
  snapshot === undefined
    ? Warehouse.layer(outputPaths(folder).warehouse, { memoryMb, access: "read" })
    : Warehouse.layer(snapshot, { memoryMb, access: "read", isRelease: true })

/** From the files of the bundle, as a reader would compute them. */
const totalsOf = (
  tables: ReadonlyArray<BundledTable>,
  { folder }: Building,
  resources: ReadonlyMap<string, ReadonlyArray<string>>,
  fromApi: ReadonlyArray<ApiTotal>
) =>
  onDisk(folder, "read", () =>
    withDatabase(folder, async (ask) => {
      const totals: Array<TableTotals> = []
      for (const table of tables) {
        const { released } = table
        const { timeColumn, ...measured } = measuredOf(table)
        const file = join(folder, "data", "parquet", released.name, "part-0.parquet")
        totals.push({
          ...measured,
          ...(await measure(ask, parquetRelation(file), { ...measured, timeColumn })),
          apiTotals: fromApi.filter(({ resource }) => resources.get(released.name)?.includes(tableIn(resource)))
        })
      }
      return totals
    })
  ).pipe(Effect.uninterruptible)

/** The table of a resource in a total, which may name a part of it as well. */
const tableIn = (resource: string): string => resource.replace(/\/.*/s, "")
