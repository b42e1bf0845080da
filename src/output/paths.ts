/** The paths in an output folder. */
import { join } from "node:path"
import { type OutputFile, outputFiles } from "./contents.ts"

export const warehouseName = outputFiles.warehouse.name
/** Tables store the paths of recordings relative to the output folder, so that the folder can be moved. */
export const filesName = outputFiles.files.name
export const lakeCatalogName = outputFiles.lakeCatalog.name
export const snapshotName = "crm.duckdb"
export const manifestName = "manifest.json"
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
