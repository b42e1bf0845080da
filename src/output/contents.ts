/**
 * Everything that sluice makes in an output folder. What may happen to a file follows from its kind: leftovers remove scratch, a
 * snapshot for another machine leaves out what is derived, scratch or of a run, and a demo removes nothing that is not here.
 * The check of modes and the search of an erasure read every file of the folder, whether it is in the table or not.
 */
import { readdir } from "node:fs/promises"
import { join, relative } from "node:path"

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

/** What takes space in an output folder. */
export const parts = {
  vault: "every response as received, once",
  warehouse: "the tables, their history and the state of syncs",
  published: "the current release and the one before",
  destinations: "the releases that databases and buckets are brought up to date from",
  lake: "the lake and its catalog",
  files: "attachments, pictures and recordings",
  exports: "what was exported about people",
  fleet: "the locations of the fleet of a demo",
  tmp: "what a command is writing, or could not finish"
}
export type Part = keyof typeof parts

export interface OutputFile {
  /** A file, a link, or a folder. */
  readonly name: string
  readonly kind: Kind
  /** The part to which its space is counted. */
  readonly part: Part | undefined
  readonly what: string
  /** What else may follow the name: files that belong to it. */
  readonly suffix?: RegExp
}

const file = (name: string, kind: Kind, part: Part | undefined, what: string, suffix?: RegExp): OutputFile => ({
  name,
  kind,
  part,
  what,
  ...(suffix && { suffix })
})

/** One that takes so little space that no part is named after it. */
const small = (name: string, kind: Kind, what: string, suffix?: RegExp): OutputFile =>
  file(name, kind, undefined, what, suffix)

/** Logs and temporary files of DuckDB. */
const ofDatabase = /\.(wal|tmp)/

export const outputFiles = {
  vault: file("vault", "state", "vault", parts.vault),
  warehouse: file("warehouse.duckdb", "state", "warehouse", parts.warehouse, ofDatabase),
  copies: file(
    "warehouse.duckdb.copy",
    "scratch",
    "tmp",
    "a masked copy of the warehouse",
    /(-[0-9a-f]+)?(\.wal|\.tmp)?/
  ),
  erased: file("warehouse.duckdb.erased", "scratch", "tmp", "the warehouse that an erasure is writing", ofDatabase),
  rebuilt: file("rebuilt.duckdb", "scratch", "tmp", "the warehouse that a rebuild is writing", ofDatabase),
  damaged: file("warehouse.damaged.duckdb", "state", "warehouse", "a warehouse that could not be opened", ofDatabase),
  published: small("published", "derived", "a link to the current release"),
  versions: file(".published", "derived", "published", "the releases that the link points to, one at a time"),
  temporary: file("tmp", "scratch", "tmp", "batches that are being loaded"),
  verified: file("verify-", "scratch", "tmp", "what verify makes of the vault; a process id follows", /\d+/),
  destinations: file(
    "destinations",
    "derived",
    "destinations",
    "the releases of databases and buckets, and what each of these has"
  ),
  owner: small("owner.json", "state", "the id by which databases and buckets know what is of this folder"),
  lakeCatalog: file("lake.ducklake", "state", "lake", "the embedded catalog of the lake", ofDatabase),
  newLakeCatalog: file("lake.ducklake.new", "scratch", "tmp", "the catalog that an erasure is writing"),
  lake: file("lake", "state", "lake", "the files of the lake"),
  files: file("files", "state", "files", parts.files),
  exports: file("exports", "derived", "exports", parts.exports),
  tokens: small("tokens.json", "secret", "the current OAuth tokens"),
  progress: small("progress.json", "run", "what a sync or backfill has done so far"),
  holder: small("holder.json", "run", "the command that has the warehouse open to write"),
  recentRequests: small(
    "recent-requests.json",
    "state",
    "the requests of the last window, which the service still counts, and its rate limit"
  ),
  backfillRunning: small("backfill.running", "run", "exists while a backfill runs; its process id"),
  backfillStop: small("backfill.stop", "run", "exists while a sync waits for the backfill to stop"),
  withheld: small("withheld.json", "state", "since when the settings keep which columns out"),
  alarms: small("alarms.json", "state", "the alarms that are open"),
  console: small("console", "run", "what ./sluice serve has started, with its output, and the state of its schedule"),
  eventsDue: small("events-due.json", "state", "what events of the service say is due"),
  holds: small("holds.json", "state", "what must not be erased"),
  suppressed: small("suppressed.json", "state", "hashes of erased people"),
  suppressedKey: small("suppressed.key", "secret", "the key of these hashes"),
  erasure: small("erasure.json", "state", "an erasure that is not complete"),
  locationRemoval: small("location-removal.json", "state", "a removal of a location that is not complete"),
  ledger: small("ledger.jsonl", "state", "the record of every command", /\.torn-.+/),
  ledgerLock: small("ledger.lock", "run", "the lock of the ledger", /(\.[0-9a-f-]{36})?(\.wal|\.tmp)?/),
  certificates: small("certificates", "export", "the certificates of erasures"),
  fleet: file("fleet", "state", "fleet", parts.fleet),
  backup: small("backup.json", "derived", "in a backup: its files with their checksums"),
  backupIncomplete: small("backup.incomplete", "run", "in a backup: exists until it is complete"),
  demo: small(".demo", "state", "marks the folder of a demo: its service, and the locations that it made up")
} as const satisfies Readonly<Record<string, OutputFile>>

export type OutputTable = Readonly<Record<string, OutputFile>>

const escaped = (name: string): string => name.replaceAll(".", "\\.")

/** Finds what a name in an output folder is: a file or folder of the table; saved queries and all others are their user's. */
export const finderIn = (table: OutputTable): ((name: string) => OutputFile | undefined) => {
  const all = Object.values(table).map((one) => ({
    one,
    // `.part`: a file that is being replaced.
    pattern: new RegExp(`^${escaped(one.name)}(${one.suffix?.source ?? ""})?(\\.part)?$`)
  }))
  return (name) => all.find(({ pattern }) => pattern.test(name))?.one
}

export const outputFileOf = finderIn(outputFiles)

/** The file or folder of the output folder with which a path in it begins. */
export const firstPartOf = (path: string): string => path.replace(/\/.*/s, "")

/** Whether a killed run may have left it, and nobody needs it. */
export const isScratch = (name: string): boolean => outputFileOf(name)?.kind === "scratch"

/** Whether another machine can do without a file, given by its path in the output folder. */
export const isLocal = (path: string): boolean =>
  path.endsWith(".part") || /^(derived|scratch|run)$/.test(outputFileOf(firstPartOf(path))?.kind ?? "")

/**
 * What another machine needs: the files of a snapshot and of a backup, by their paths in the folder. Links are not followed, so
 * what is behind one is missing from the files.
 */
export const portableFiles = async (folder: string) => {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).map((entry) => ({
    path: relative(folder, join(entry.parentPath, entry.name)),
    isFile: entry.isFile(),
    isLink: entry.isSymbolicLink()
  }))
  const portable = entries
    .filter(({ path }) => !isLocal(path))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return {
    files: portable.filter(({ isFile }) => isFile).map(({ path }) => path),
    links: portable.filter(({ isLink }) => isLink).map(({ path }) => path)
  }
}
