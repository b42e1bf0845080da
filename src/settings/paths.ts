/** Where everything is in an output folder. */
import { join } from "node:path"

export const warehouseName = "warehouse.duckdb"
/** Tables name recordings relative to the output folder, so that it can be moved. */
export const filesName = "files"
export const snapshotName = "crm.duckdb"
export const manifestName = "manifest.json"
/** A folder of what `verify` compares with, with the number of its process behind it. */
export const verifyPrefix = "verify-"

export interface OutputPaths {
  /** Every answer of the service as it was received. */
  readonly vault: string
  readonly warehouse: string
  /** The warehouse that a rebuild is writing. */
  readonly rebuilt: string
  /** A link to the current version. */
  readonly published: string
  /** The versions that it links to, by turns. */
  readonly versions: string
  /** Batches that are being loaded. */
  readonly temporary: string
  /** Recordings. */
  readonly files: string
  /** The current OAuth tokens. */
  readonly tokens: string
  /** A backfill is running, and the number of its process. */
  readonly backfillRunning: string
  /** A sync waits for that backfill to stop. */
  readonly backfillStop: string
  /** The folder belongs to a demo, which may empty it. */
  readonly demo: string
}

/** A clone brings the folder with a page about it, and open to others. */
export const readmeName = "README.md"

export const outputPaths = (folder: string): OutputPaths => ({
  vault: join(folder, "vault"),
  warehouse: join(folder, warehouseName),
  rebuilt: join(folder, "rebuilt.duckdb"),
  published: join(folder, "published"),
  versions: join(folder, ".published"),
  temporary: join(folder, "tmp"),
  files: join(folder, filesName),
  tokens: join(folder, "tokens.json"),
  backfillRunning: join(folder, "backfill.running"),
  backfillStop: join(folder, "backfill.stop"),
  demo: join(folder, ".demo")
})
