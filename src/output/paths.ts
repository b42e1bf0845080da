/** The paths in an output folder. */
import { join } from "node:path"

export const warehouseName = "warehouse.duckdb"
/** Tables store the paths of recordings relative to the output folder, so that the folder can be moved. */
export const filesName = "files"
export const lakeCatalogName = "lake.ducklake"
export const snapshotName = "crm.duckdb"
export const manifestName = "manifest.json"
/** No command but the demo uses this folder by default. */
export const demoFolder = "demo-output"
/** Folders in which `verify` replays the vault; the process id follows. */
export const verifyPrefix = "verify-"

export interface OutputPaths {
  /** Every response of the service as it was received. */
  readonly vault: string
  readonly warehouse: string
  /** Hashes by which the load recognises records that are unchanged; can be removed at any time. */
  readonly records: string
  /** The warehouse that a rebuild is writing. */
  readonly rebuilt: string
  /** A warehouse that could not be opened, and that a rebuild has set aside; its log is beside it. */
  readonly damaged: string
  /** A link to the current release. */
  readonly published: string
  /** The releases that the link points to, one at a time. */
  readonly versions: string
  /** Batches that are being loaded. */
  readonly temporary: string
  /** The embedded catalog of the lake, and its files. */
  readonly lakeCatalog: string
  readonly lake: string
  /** Recordings. */
  readonly files: string
  /** The current OAuth tokens. */
  readonly tokens: string
  /** What a sync or backfill has done so far, while it runs. */
  readonly progress: string
  /** The command that has the warehouse open to write. */
  readonly holder: string
  /** The requests of the last window, which the service still counts when the next run begins. */
  readonly recentRequests: string
  /** Exists while a backfill runs; contains its process id. */
  readonly backfillRunning: string
  /** Exists while a sync waits for the backfill to stop. */
  readonly backfillStop: string
  /** The alarms that are open. */
  readonly alarms: string
  /** Marks the folder of a demo: which service it read, and which made-up locations. */
  readonly demo: string
}

/** A clone contains the output folder with this file; other users can read it. */
export const readmeName = "README.md"

export const outputPaths = (folder: string): OutputPaths => ({
  vault: join(folder, "vault"),
  warehouse: join(folder, warehouseName),
  records: join(folder, `${warehouseName}.records`),
  rebuilt: join(folder, "rebuilt.duckdb"),
  damaged: join(folder, "warehouse.damaged.duckdb"),
  published: join(folder, "published"),
  versions: join(folder, ".published"),
  temporary: join(folder, "tmp"),
  lakeCatalog: join(folder, lakeCatalogName),
  lake: join(folder, "lake"),
  files: join(folder, filesName),
  tokens: join(folder, "tokens.json"),
  progress: join(folder, "progress.json"),
  holder: join(folder, "holder.json"),
  recentRequests: join(folder, "recent-requests.json"),
  backfillRunning: join(folder, "backfill.running"),
  backfillStop: join(folder, "backfill.stop"),
  alarms: join(folder, "alarms.json"),
  demo: join(folder, ".demo")
})

/** Whether sluice gives this name to a file or folder in an output folder. Saved queries are their user's. */
export const isOwnName = (name: string): boolean =>
  /^(vault|published|\.published|tmp|lake|lake\.ducklake|files|certificates|fleet|\.demo)$/.test(name) ||
  /^(warehouse|rebuilt)(\.damaged)?\.duckdb/.test(name) ||
  /^(tokens|progress|holder|recent-requests|alarms|holds|erasure|location-removal|suppressed|events-due)\.(json|key)(\.part)?$/.test(
    name
  ) ||
  /^(ledger\.(jsonl|lock)|lake\.ducklake\.|backfill\.(running|stop)$)/.test(name) ||
  new RegExp(`^${verifyPrefix}\\d+$`).test(name)
