/**
 * Everything that sluice makes in an output folder. What may happen to a file follows from its kind: leftovers remove scratch, a
 * snapshot for another machine leaves out what is derived, scratch or of a run, and a demo removes nothing that is not here.
 */

type Kind =
  /** Lost for ever without a backup, unless the service still has it. */
  | "state"
  /** Gives access to something. */
  | "secret"
  /** Made again from the state by the next command. */
  | "derived"
  /** What is being written; of use to nobody once its process has ended. */
  | "scratch"
  /** Says what a process of this machine does now. */
  | "run"
  /** Given to people. */
  | "export"

export interface OutputFile {
  /** A file, a link, or a folder. */
  readonly name: string
  readonly kind: Kind
  readonly what: string
  /** What else may follow the name: files that belong to it. */
  readonly suffix?: RegExp
}

const file = (name: string, kind: Kind, what: string, suffix?: RegExp): OutputFile => ({
  name,
  kind,
  what,
  ...(suffix && { suffix })
})

/** Logs and temporary files of DuckDB. */
const ofDatabase = /\.(wal|tmp)/

export const outputFiles = {
  vault: file("vault", "state", "every response as received"),
  warehouse: file("warehouse.duckdb", "state", "the tables, their history and the state of syncs", ofDatabase),
  /** Can be removed at any time, but a snapshot keeps it: with it, the next full reading takes half the time. */
  records: file("warehouse.duckdb.records", "state", "hashes by which a load recognises unchanged records"),
  copies: file("warehouse.duckdb.copy", "scratch", "a masked copy of the warehouse", /(-[0-9a-f]+)?(\.wal|\.tmp)?/),
  erased: file("warehouse.duckdb.erased", "scratch", "the warehouse that an erasure is writing", ofDatabase),
  rebuilt: file("rebuilt.duckdb", "scratch", "the warehouse that a rebuild is writing", ofDatabase),
  damaged: file("warehouse.damaged.duckdb", "state", "a warehouse that could not be opened", ofDatabase),
  published: file("published", "derived", "a link to the current release"),
  versions: file(".published", "derived", "the releases that the link points to, one at a time"),
  temporary: file("tmp", "scratch", "batches that are being loaded"),
  verified: file("verify-", "scratch", "what verify makes of the vault; a process id follows", /\d+/),
  lakeCatalog: file("lake.ducklake", "state", "the embedded catalog of the lake", ofDatabase),
  newLakeCatalog: file("lake.ducklake.new", "scratch", "the catalog that an erasure is writing"),
  lake: file("lake", "state", "the files of the lake"),
  files: file("files", "state", "recordings of calls"),
  tokens: file("tokens.json", "secret", "the current OAuth tokens"),
  progress: file("progress.json", "run", "what a sync or backfill has done so far"),
  holder: file("holder.json", "run", "the command that has the warehouse open to write"),
  recentRequests: file(
    "recent-requests.json",
    "state",
    "the requests of the last window, which the service still counts"
  ),
  backfillRunning: file("backfill.running", "run", "exists while a backfill runs; its process id"),
  backfillStop: file("backfill.stop", "run", "exists while a sync waits for the backfill to stop"),
  alarms: file("alarms.json", "state", "the alarms that are open"),
  eventsDue: file("events-due.json", "state", "what events of the service say is due"),
  holds: file("holds.json", "state", "what must not be erased"),
  suppressed: file("suppressed.json", "state", "hashes of erased people"),
  suppressedKey: file("suppressed.key", "secret", "the key of these hashes"),
  erasure: file("erasure.json", "state", "an erasure that is not complete"),
  locationRemoval: file("location-removal.json", "state", "a removal of a location that is not complete"),
  ledger: file("ledger.jsonl", "state", "the record of every command", /\.torn-.+/),
  ledgerLock: file("ledger.lock", "run", "the lock of the ledger", ofDatabase),
  certificates: file("certificates", "export", "the certificates of erasures"),
  fleet: file("fleet", "state", "the locations of the fleet of a demo"),
  demo: file(".demo", "state", "marks the folder of a demo: its service, and the locations that it made up")
} as const satisfies Readonly<Record<string, OutputFile>>

const all: ReadonlyArray<OutputFile> = Object.values(outputFiles)

const escaped = (name: string): string => name.replaceAll(".", "\\.")
/** `.part`: a file that is being replaced. */
const patterns = all.map((one) => ({
  ...one,
  pattern: new RegExp(`^${escaped(one.name)}(${one.suffix?.source ?? ""})?(\\.part)?$`)
}))

/** The file or folder of sluice with this name in an output folder; saved queries and all others are their user's. */
export const outputFileOf = (name: string): OutputFile | undefined => patterns.find(({ pattern }) => pattern.test(name))

/** Whether a killed run may have left it, and nobody needs it. */
export const isScratch = (name: string): boolean => outputFileOf(name)?.kind === "scratch"

/** Whether another machine can do without a file, given by its path in the output folder. */
export const isLocal = (path: string): boolean =>
  path.endsWith(".part") || /^(derived|scratch|run)$/.test(outputFileOf(path.split("/")[0]!)?.kind ?? "")
