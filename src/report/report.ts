/**
 * The report: one HTML file about how the copying went and what the account's figures are. It reads the warehouse and the
 * current release, and writes nothing but its own file.
 */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Failure, failure } from "../failure.ts"
import { onDisk, writeAtomically } from "../io/files.ts"
import { outputPaths, snapshotName } from "../settings/paths.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { withoutModels } from "./business/business.ts"
import { counted } from "./format.ts"
import type { Html } from "./html.ts"
import { operations } from "./operations/operations.ts"
import { page } from "./page.ts"

export interface ReportOptions {
  /** The output folder. */
  readonly folder: string
  readonly memoryMb: number
  /** The scope that a resource or its children need. */
  readonly scopeOf: (label: string) => string | undefined
}

export interface Report {
  readonly text: string
  readonly state: string
  readonly run: string
  /** Epoch milliseconds. */
  readonly asOf: number
}

/** Equal data make equal texts. Fails with WarehouseNotFound before the first run. */
export const makeReport = Effect.fn("report.make")(function* (
  options: ReportOptions
): Effect.fn.Return<Report, Failure, Warehouse> {
  const { folder, scopeOf } = options
  const found = yield* operations(folder, scopeOf)
  if (found === undefined) return yield* failure({ _tag: "WarehouseNotFound", path: outputPaths(folder).warehouse })
  const { period, overview, content } = found
  const { locations, locationCount } = period
  const account = locationCount === 1 ? `Location ${locations[0]}` : counted(locationCount, "location")
  return {
    text: page({
      state: overview.state,
      asOf: period.asOf,
      account,
      operations: content,
      business: businessOf(options)
    }),
    state: overview.state,
    run: period.run.id,
    asOf: period.asOf
  }
})

const businessOf = ({ folder }: ReportOptions): Html =>
  withoutModels(
    existsSync(join(outputPaths(folder).published, snapshotName))
      ? "The published DuckDB file has no schema bi"
      : "There is no published DuckDB file"
  )

/** Readers see the whole old report or the whole new one. */
export const writeReport = (path: string, { text }: Report): Effect.Effect<void, Failure> =>
  onDisk(path, "written", async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeAtomically(path, text)
  })
