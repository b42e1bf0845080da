/**
 * The report: one HTML file about how the copying went and what the account's figures are. It reads the warehouse and the
 * current release, and writes nothing but its own file.
 */
import * as Effect from "effect/Effect"
import { mkdir, realpath } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Resource } from "../../catalog/resource.ts"
import { type Failure, failure } from "../../values/failure.ts"
import { onDisk, writeAtomically } from "../../output/files.ts"
import { outputPaths, snapshotName } from "../../output/paths.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { business, withoutModels } from "./business/business.ts"
import { counted, listed } from "./format.ts"
import { operations } from "./operations/operations.ts"
import type { Period } from "./operations/period.ts"
import { page } from "./page.ts"
import type { Html } from "../../pages/html.ts"
import { tableSection } from "./section.ts"
import { text } from "../../pages/html-table.ts"

export interface ReportOptions {
  /** The output folder. */
  readonly folder: string
  readonly memoryMb: number
  readonly resources?: ReadonlyArray<Resource>
  /** Those that the settings ask for, if they are known. */
  readonly locations?: ReadonlyArray<string>
  /** What the settings keep out, and what of it was stored before. */
  readonly withheld?: { readonly names: ReadonlyArray<string>; readonly earlier: ReadonlyArray<string> }
}

/** Equal data make equal texts. Fails with WarehouseNotFound before the first run. */
export const makeReport = Effect.fn("report.make")(function* (options: ReportOptions) {
  const { folder, locations = [], resources = [], withheld = { names: [], earlier: [] } } = options
  const found = yield* operations(folder, resources, withheldSection(withheld.names, withheld.earlier), locations)
  if (found === undefined) return yield* failure({ _tag: "WarehouseNotFound", path: outputPaths(folder).warehouse })
  const { period, overview, content } = found
  return {
    text: page({
      overview,
      asOf: period.asOf,
      // A rebuild since has read nothing of the service.
      readAt: period.sync?.finishedAt ?? period.asOf,
      account: listed(period.locations.map(period.placeOf)),
      operations: content,
      business: yield* businessOf(options, period)
    }),
    state: overview.state,
    run: period.run.id,
    /** Epoch milliseconds. */
    asOf: period.asOf
  }
})

/** From the release, because the warehouse has no models. */
const businessOf = Effect.fnUntraced(function* ({ folder, memoryMb }: ReportOptions, period: Period) {
  const link = join(outputPaths(folder).published, snapshotName)
  // Another release may replace this one meanwhile.
  const path = yield* Effect.promise(() => realpath(link).catch(() => undefined))
  if (path === undefined) return withoutModels("There is no published DuckDB file")
  return yield* business(period.asOf, period).pipe(
    Effect.provide(Warehouse.layer(path, { access: "read", isRelease: true, memoryMb }))
  )
})

/** Readers see the whole old report or the whole new one. */
export const writeReport = (path: string, { text }: { readonly text: string }): Effect.Effect<void, Failure> =>
  onDisk(path, "written", async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeAtomically(path, text)
  })

/** `earlier`: those of the names whose values were stored before. */
const withheldSection = (names: ReadonlyArray<string>, earlier: ReadonlyArray<string>): Html | undefined =>
  tableSection(names, {
    id: "withheld",
    title: "Kept out",
    lead: `The settings keep ${counted(names.length, "column or table", "columns and tables")} out. ${
      earlier.length === 0
        ? "Nothing of it was stored before."
        : "What was stored before is still in the output folder."
    }`,
    table: {
      id: "withheld-table",
      caption: "What the settings keep out",
      folded: 12,
      columns: [text("What", (name) => name), text("Stored before", (name) => (earlier.includes(name) ? "yes" : "no"))]
    }
  })
