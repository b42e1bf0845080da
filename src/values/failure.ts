/** Reasons why a command stops, as data. console/errors.ts has the message, the next step and the exit code of each. */
import * as Schema from "effect/Schema"

/** These codes do not change, because schedulers rely on them. */
export const exitCodes = {
  failed: 1,
  damaged: 1,
  usage: 2,
  partial: 3,
  alarms: 4,
  locked: 11,
  later: 75,
  credentials: 77,
  config: 78
} as const
export type ExitKind = keyof typeof exitCodes

/** An error in words; src/console/errors.ts writes them. */
export interface Explanation {
  readonly ends: ExitKind
  readonly message: string
  /** A command to type, or something to do. */
  readonly next: string
  /** When the service accepts requests again, if it is known; epoch milliseconds. */
  readonly resumeAt?: number
  /** Its heading in docs/messages.md. */
  readonly about?: string
}

/** The heading of a reason in docs/messages.md: `warehouse-locked`. */
export const headingOf = (tag: string): string => tag.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()

const FileOperation = Schema.Literals(["opened", "created", "read", "written", "replaced", "moved", "removed"])
export type FileOperation = typeof FileOperation.Type

export const FailureReason = Schema.TaggedUnion({
  /** A file operation failed, for example because the disk is full or a permission is missing. */
  FileFailed: { path: Schema.String, operation: FileOperation, detail: Schema.String },

  /** The folder is a backup that was not written to its end. */
  BackupIncomplete: { folder: Schema.String },
  WarehouseNotFound: { path: Schema.String },
  WarehouseLocked: {
    path: Schema.String,
    /** Whether the holder is a sluice command that writes. */
    isRun: Schema.Boolean,
    pid: Schema.UndefinedOr(Schema.Number),
    program: Schema.UndefinedOr(Schema.String)
  },
  /** `found`: the format of the file, which an earlier or a later version of sluice wrote. */
  WarehouseFormat: { path: Schema.String, found: Schema.Number, format: Schema.Number },
  WarehouseDamaged: { path: Schema.String, detail: Schema.String },
  OutOfMemory: { path: Schema.String, memoryMb: Schema.Number, detail: Schema.String },
  /** DuckDB rejected a statement, which is a defect of sluice. */
  StatementRejected: { path: Schema.String, detail: Schema.String },

  VaultDamaged: { folder: Schema.String, detail: Schema.String },
  /** A version before 1.0.0 wrote it. */
  VaultOlder: { folder: Schema.String },

  /** A file has the name of the output folder or of a folder above it, or the system allows no folder there. */
  OutputFolderUnusable: { folder: Schema.String, detail: Schema.String },

  /** A file that protects people or evidence was removed, or lost entries. */
  SafeguardLost: { path: Schema.String, detail: Schema.String, next: Schema.String },

  /** The published folder is not a link that sluice created. */
  PublishedIsForeign: { path: Schema.String },

  /** `place`: the catalog or data of the lake. No secrets. */
  LakeFailed: { place: Schema.String, detail: Schema.String },
  /** `target`: the name of a target with a database or object storage, which still has its earlier rows. No secrets. */
  DestinationFailed: { target: Schema.String, detail: Schema.String },
  /** A database has the release, but for these tables, which still have their earlier rows. */
  TablesWait: {
    target: Schema.String,
    tables: Schema.Array(Schema.Struct({ table: Schema.String, why: Schema.String }))
  },

  UnknownSelection: {
    flag: Schema.String,
    name: Schema.String,
    closest: Schema.optional(Schema.String),
    families: Schema.Array(Schema.String)
  },
  /** `groups`: what `files.fetch` may name. */
  UnknownLinks: { name: Schema.String, groups: Schema.Array(Schema.String) },
  NothingSelected: { only: Schema.Array(Schema.String), except: Schema.Array(Schema.String) },
  NoDateFilter: { tables: Schema.Array(Schema.String), dated: Schema.Array(Schema.String) },

  ReserveTooLarge: { reserve: Schema.Number, dailyMax: Schema.Number },
  CertificateRejected: { host: Schema.String, detail: Schema.String },
  NothingAnswers: { host: Schema.String, detail: Schema.String },
  /** `proxy`: without its credentials. */
  ProxyRefuses: { proxy: Schema.String, detail: Schema.String },
  /** `from`: the host that is asked. `base`: the address of the API that it names instead. */
  Redirected: { from: Schema.String, base: Schema.String },
  WrongProtocol: { host: Schema.String, protocol: Schema.Literals(["HTTP", "HTTPS"]), detail: Schema.String }
})
export type FailureReason = typeof FailureReason.Type

export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  reason: FailureReason,
  /** The published folder that keeps its earlier release because of this failure. */
  unpublished: Schema.optional(Schema.String)
}) {
  /** For logs and findings: what the system or DuckDB reported. */
  override get message(): string {
    return "detail" in this.reason ? this.reason.detail : JSON.stringify(this.reason)
  }
}

export const failure = (reason: FailureReason): Failure => new Failure({ reason })

export const fileFailure = (path: string, operation: FileOperation, cause: unknown): Failure =>
  cause instanceof Failure
    ? cause
    : failure({ _tag: "FileFailed", path, operation, detail: cause instanceof Error ? cause.message : String(cause) })
