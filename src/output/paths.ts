/** The paths in an output folder, and the names of its releases. */
import { basename, dirname, join } from "node:path"
import { type OutputFile, outputFiles } from "./contents.ts"
import * as Effect from "effect/Effect"
import { realpath } from "node:fs/promises"

export const warehouseName = outputFiles.warehouse.name
/** Tables store the paths of files relative to the output folder, so that the folder can be moved. */
export const filesName = outputFiles.files.name
export const snapshotName = "crm.duckdb"
export const manifestName = "manifest.json"
/** The documents of a release. */
export const packageName = "datapackage.json"
export const maskingName = "masked-columns.json"
/** No command but the demo uses this folder by default. */
export const demoFolder = "demo-output"
/** A clone contains the output folder with this file; other users can read it. */
export const readmeName = "README.md"

export type OutputPaths = Readonly<Record<keyof typeof outputFiles, string>>

export const outputPaths = (folder: string): OutputPaths =>
  Object.fromEntries(
    Object.entries<OutputFile>(outputFiles).map(([key, { name }]) => [key, join(folder, name)])
    // The keys are those of the table.
  ) as unknown as OutputPaths

/** The folder of the releases, beside the link. */
export const releasesOf = (published: string): string => join(dirname(published), `.${basename(published)}`)

export const releaseNameOf = (number: number, run: string): string =>
  `${String(number).padStart(6, "0")}-${run.replace(/[^A-Za-z0-9_-]/g, "_")}`

/** Follows the name of a release that is being written. */
export const buildingEnd = ".building"

/** Whether it is the name of a complete release. */
export const isRelease = (name: string): boolean => /^\d{6,}-[A-Za-z0-9_-]*$/.test(name)

export const isBuilding = (name: string): boolean =>
  name.endsWith(buildingEnd) && isRelease(name.slice(0, -buildingEnd.length))

/** Whether it is the name of a release, or of what a crash has left of one. */
export const isOfRelease = (name: string): boolean => /^\d{6,}-.*$/.test(name)

/** The folder in a release. */
export const reportName = "report"
const fileName = "index.html"

/** The path that readers know, through the link to the current release. */
export const linkedPath = (output: string): string => join(outputPaths(output).published, reportName, fileName)

/**
 * The file of the report in the release that is current now; `undefined` before the first release. It has the name of the
 * release, not of the link, so that a release which is published meanwhile does not get the report of another one.
 */
export const reportPath = (output: string): Effect.Effect<string | undefined> =>
  Effect.promise(() =>
    realpath(outputPaths(output).published).then(
      (release) => join(release, reportName, fileName),
      () => undefined
    )
  )
