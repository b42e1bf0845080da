/** What docs/messages.md says beside the message itself. A reason without an entry does not compile. */
import type { SettingProblem } from "../src/settings/errors.ts"
import type { FailureReason } from "../src/values/failure.ts"
import type { Reason } from "../src/values/reason.ts"

type ServiceTag = "BadCredentials" | "WrongLocation" | "BudgetExhausted" | "Unavailable"

export const messageCauses: Readonly<Record<FailureReason["_tag"] | ServiceTag, string>> = {
  BadCredentials: "The token was rotated, revoked, or copied in part; or its file has a line end or a blank too many.",
  WrongLocation: "The token belongs to another location, or to the agency. With several locations, each has its own.",
  BudgetExhausted: "The requests of the day are used up but for the reserve of `[budget]`, or a deadline has passed.",
  Unavailable: "The service is down, or a proxy or firewall before it answers instead.",
  FileFailed: "The disk is full, a permission is missing, or something at that place was moved.",
  BackupIncomplete: "The backup was stopped or its disk was full.",
  WarehouseNotFound: "Nothing was synced into this output folder, or the command stands in another folder.",
  WarehouseLocked: "Two commands work in one output folder, or a program such as DBeaver has the file open.",
  WarehouseFormat: "The output folder was written by another version of sluice.",
  WarehouseDamaged: "The disk or a copy lost a part of the file.",
  OutOfMemory: "The tables are larger than the memory that the settings allow to DuckDB.",
  StatementRejected: "A defect of sluice.",
  VaultOlder: "The output folder is of a version before 1.0.0.",
  VaultDamaged: "The disk or a copy lost a part of a segment.",
  OutputFolderUnusable: "A file has the name of the folder, or the system allows no folder there.",
  SafeguardLost: "A file that protects erased people or evidence was removed by hand, or lost in a restore.",
  PublishedIsForeign: "Something else is at the place where releases are published.",
  LakeFailed: "The catalog or the object storage of the lake did not answer, or refused.",
  DestinationFailed: "The database or the bucket did not answer, or refused. `./sluice doctor` tests each target.",
  TablesWait: "Somebody holds a lock on a table, or has changed it by hand.",
  UnknownSelection: "A table or family is spelled differently.",
  UnknownLinks: "The name in `files.fetch` is no table with links.",
  NothingSelected: "`--only` and `--except` exclude each other.",
  NoDateFilter: "The API cannot return a period of this list.",
  ReserveTooLarge: "The reserve is larger than what the service allows in a day.",
  CertificateRejected: "A proxy of a company opens connections, or the clock of the machine is wrong.",
  NothingAnswers: "The host or the port is misspelled, or the machine is offline.",
  ProxyRefuses: "The proxy wants a user and a password.",
  Redirected: "The address is an old one, or begins with http:// instead of https://.",
  WrongProtocol: "http:// and https:// are exchanged, or the port is that of another service."
}

/** Only where the message does not say it. */
export const settingCauses: Readonly<Partial<Record<SettingProblem["what"]["_tag"], string>> & Record<string, string>> =
  {
    FileNotFound: "The command stands in another folder, or `--config` is misspelled.",
    UnknownSetting: "A setting is misspelled, or stands below the wrong `[section]`.",
    SecretUnavailable: "The variable is not set for this user, the file cannot be read, or the command failed.",
    SecretUnusable: "The file has several lines, or more than the secret.",
    FolderDenied: "The folder was made by another user, often by root with sudo."
  }

const nextSync = "Nothing: the next sync tries again."
const full = "`./sluice sync --again lists` reads the list again."
const service = "Nothing on your side; if it stays for days, ask the service, with the text after the colon."

/** The cause, and what to do. */
export const reasonSteps: Readonly<Record<Exclude<Reason["_tag"], "Text">, readonly [cause: string, steps: string]>> = {
  Forbidden: [
    "The service refused the same request twice, and answered another one with the same token: it keeps this resource from the token.",
    "`./sluice doctor` shows what the token may read; `--except` leaves the resource out."
  ],
  NotOffered: [
    "The account does not have the list, or the token may not read it. It is requested once a month.",
    "Nothing; `account.further_lists = false` leaves out all lists of this kind."
  ],
  LocationUnreadable: [
    "The token may not read this location.",
    "`./sluice doctor --location ID` tests the token of the location with this id."
  ],
  RequestFailed: ["The service refused the request after all retries.", nextSync],
  RequestsFailed: ["The requests for single records failed after all retries.", nextSync],
  EmptyBeside: [
    "The service says more than that a list is empty, each time it is, and answers with records in between.",
    "Nothing; if the text is that of an error, tell us, because rows may be missing."
  ],
  NotRequested: ["No request for the first ones was answered, so no others were sent.", nextSync],
  NotFoundButNamed: ["A record was deleted meanwhile, or the service does not show it to this token.", nextSync],
  StrategyFailed: ["The service does not accept this strategy of the list.", service],
  NoStrategyWorks: ["The service does not accept any strategy of the list.", service],
  ParameterLeftOut: [
    "A parameter of the request is not documented, and the service rejects it.",
    "Nothing: it is reported once."
  ],
  RecordsUnreadable: ["The service fails on a record of the list; the others were read in smaller pages.", service],
  PartitionNotFound: [
    "An object key or another list in the settings does not exist in this account.",
    "Correct the setting that names it; `./sluice config show` prints them."
  ],
  PartitionFailed: ["The service refuses a part of the list, and answers for the others.", service],
  PartitionIgnored: ["The service returns another list in its place.", service],
  PartitionBelowTotal: ["Records were added or removed while the list was read.", nextSync],
  BelowTotal: ["Records were removed while the list was read, or the service counts what it does not return.", full],
  WindowBelowTotal: ["The service counts records that it does not return.", "Run the same backfill again."],
  ParentNeverRead: ["The list to which these records belong was left out.", "Read it as well: leave out `--only`."],
  ParentNotComplete: ["A child is never more complete than its parents.", "See the reason of the parent table."],
  LinkedTextsMissing: ["The host of the texts did not answer.", nextSync],
  FilesNotFetched: ["A host refused or lacked the file.", "`docs/tables.md` explains each state of a file."],
  FilesStopped: [
    "The limit of the settings or of the disk is reached.",
    "Free space, or raise `files.max_total_bytes`."
  ],
  UndatedRecords: ["The service sends records without the time of their last change.", full],
  UndatedNotRead: ["The service does not return records without the time of their last change.", full],
  RepeatedRecord: ["A record changed while the list was read.", "Nothing: the later version is stored."],
  OutOfOrder: ["The list changed while it was read, or the service sorts differently.", full],
  PageNumbersLimited: ["The service does not return pages after this one.", service],
  CursorStuck: ["The service returned the same page again.", service],
  TiesLimited: ["Many records were imported in the same moment.", full],
  TimestampLimited: ["Many records were imported in the same moment.", full],
  DeletionsNotSought: ["The list was not read to its end.", nextSync],
  TotalDiffers: [
    "The service counts records that it does not return, or the reverse.",
    "Nothing: a change is noticed."
  ],
  DeletionsUnconfirmed: ["A record was missing from one reading only.", nextSync],
  MissingRowsExist: ["The list leaves out records that exist.", "Nothing: their rows stay."],
  MissingRowsUnknown: ["The service did not answer about single records.", nextSync],
  TooManyDeletions: [
    "Many records were deleted, or the service returned a list with a part missing.",
    "If the deletions are real: `./sluice sync --accept-deletions`."
  ],
  SchemaFrozen: [
    "The service sends a field or a value that the frozen schema does not have.",
    "Accept it in `[schema]`, then `./sluice rebuild`."
  ],
  RecordsWithoutKey: ["The service sent records without an id.", "`FROM meta.rejected_records` has them."]
}
