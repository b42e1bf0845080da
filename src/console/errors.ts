/** Every error that stops a command, as a person reads it: a sentence, the next step, and how the process ends. */
import * as Struct from "effect/Struct"
import * as Schema from "effect/Schema"
import { existsSync, globSync } from "node:fs"
import { dirname } from "node:path"
import type { BadCredentials, BudgetExhausted, Unavailable, WrongLocation } from "../stages/api/errors.ts"
import { type Explanation, Failure, type FailureReason, exitCodes, headingOf } from "../values/failure.ts"
import { suggestion } from "../settings/closest.ts"
import { SettingsError } from "../settings/errors.ts"
import type { AccountSettings } from "../settings/settings.ts"
import { instant } from "./result.ts"
import { deniedExplanation, settingsExplanation } from "./setting-errors.ts"
import { outputFileOf } from "../output/contents.ts"
import { outputPaths } from "../output/paths.ts"
import { vaultState } from "../stores/vault/rebuildable.ts"
import { deniedAt, deniedText } from "../output/denied.ts"

/** An error of the command line itself, in words. */
export class CommandError extends Schema.TaggedError<CommandError>()("CommandError", {
  ends: Schema.Literals(Struct.keys(exitCodes)),
  message: Schema.String,
  /** A command to type, or something to do. */
  next: Schema.String,
  /** When the service accepts requests again, if it is known; epoch milliseconds. */
  resumeAt: Schema.optionalKey(Schema.Number),
  /** Its heading in docs/messages.md. */
  about: Schema.optionalKey(Schema.String)
}) {}

/** The command was typed in a way that it cannot mean. */
export const usageError = (message: string, next: string): CommandError =>
  new CommandError({ ends: "usage", message, next })

export const failedError = (message: string, next: string): CommandError =>
  new CommandError({ ends: "failed", message, next })

/** The settings do not permit it. */
export const configError = (message: string, next: string): CommandError =>
  new CommandError({ ends: "config", message, next })

export const nothingSynced = (folder: string, message = `Nothing was synced into ${folder} yet.`): CommandError =>
  failedError(message, firstSync(folder))

/** What to do about an output folder without data: a folder of other files is not the one that was meant. */
export const firstSync = (folder: string): string => {
  const names = globSync("*", { cwd: folder })
  return names.length === 0 || names.some((name) => outputFileOf(name) !== undefined)
    ? "./sluice sync"
    : `name the output folder with --output: ${folder} has files, and none of them is of sluice`
}

type ServiceError = BadCredentials | WrongLocation | BudgetExhausted | Unavailable

/** Explains what stops the sync of a location. */
export const explained =
  (account: Pick<AccountSettings, "location" | "tokenName">) =>
  (error: ServiceError | Failure | CommandError): CommandError => {
    if (error instanceof CommandError) return error
    return new CommandError(
      error instanceof Failure
        ? failureExplanation(error)
        : { ...serviceExplanation(error, account), about: headingOf(error._tag) }
    )
  }

/** Absent for an error that no command expects: a defect. */
export const explanationOf = (error: unknown): Explanation | undefined => {
  if (error instanceof CommandError) return error
  if (error instanceof Failure) return failureExplanation(error)
  return error instanceof SettingsError ? settingsExplanation(error) : undefined
}

export const failureExplanation = ({ reason, unpublished }: Failure): Explanation => {
  const explanation = reasonExplanation(reason)
  return unpublished === undefined
    ? explanation
    : {
        ...explanation,
        message: `Nothing was published into ${unpublished}, which still shows its previous release. ${explanation.message}`
      }
}

const doing = {
  opened: "open",
  created: "create",
  read: "read",
  written: "write",
  replaced: "replace",
  moved: "move",
  removed: "remove"
} as const

const newFolder = "Sync into a new folder (--output), and keep this one for as long as you need its history."

const vaultBeside = (warehouse: string): string => outputPaths(dirname(warehouse)).vault
const isInVault = (warehouse: string): boolean => vaultState(vaultBeside(warehouse)) === "readable"

/** A command that would refuse as well is no advice. */
const rebuildOr = (warehouse: string): string => {
  const vault = vaultBeside(warehouse)
  switch (vaultState(vault)) {
    case "readable":
      return "./sluice rebuild"
    case "older":
      return newFolder
    case "unreadable":
      return `Restore ${vault} from a backup, then ./sluice rebuild.`
    case "none":
      return `Restore ${dirname(warehouse)} from a backup, or move ${warehouse} away: ./sluice sync reads everything again.`
  }
}

/** What mends the error of a file system. `ENOENT` names what is missing: the file itself, or a folder above it. */
const remedyOf = (detail: string, path: string): string => {
  const [code] = /^E[A-Z]+/.exec(detail) ?? []
  if (code === "ENOENT") {
    const missing = /'([^']+)'/.exec(detail)?.[1] ?? path
    const above = nearestExisting(missing)
    return above === dirname(missing)
      ? `Put ${missing} back, or find out what removed it`
      : `Create the folder ${dirname(missing)}: of it, only ${above} exists`
  }
  if (code === "EEXIST" || code === "EISDIR" || code === "ENOTDIR") return `Move what is at ${path} away`
  if (code === "EROFS") return `Name a place that is not read-only`
  if (code === "EMFILE" || code === "ENFILE") return "Allow more open files (ulimit -n)"
  if (/^E(NOSPC|DQUOT|FBIG)$/.test(code ?? "")) return "Free disk space"
  if (/^E(ACCES|PERM)$/.test(code ?? "")) return `Correct the permissions of ${path}`
  return "Free disk space or correct the permissions"
}

const nearestExisting = (path: string): string => {
  const above = dirname(path)
  return above === path || existsSync(above) ? above : nearestExisting(above)
}

/** How each reason is explained. */
const explanations: {
  readonly [Tag in FailureReason["_tag"]]: (reason: ReasonOf<Tag>) => Explanation
} = {
  FileFailed: (reason) => {
    const denied = deniedText.test(reason.detail) ? deniedAt(reason.path) : undefined
    if (denied && denied.owner !== denied.user) return deniedExplanation(denied, doing[reason.operation])
    return {
      ends: "failed",
      message: `${reason.path} could not be ${reason.operation}: ${reason.detail}. Everything read before this is kept.`,
      next: `${remedyOf(reason.detail, reason.path)}, then run the same command again; it resumes where it stopped.`
    }
  },
  WarehouseNotFound: (reason) => ({
    ends: "failed",
    message: `There is no warehouse at ${reason.path} yet.`,
    next: firstSync(dirname(reason.path))
  }),
  WarehouseLocked: (reason) => lockExplanation(reason),
  BackupIncomplete: (reason) => ({
    ends: "failed",
    message: `${reason.folder} is a backup that was not written to its end, so files are missing. Nothing was read or changed.`,
    next: `Remove ${reason.folder}, and make the backup again; or use an earlier one.`
  }),
  WarehouseFormat: (reason) => ({
    ends: "failed",
    message: `The warehouse ${reason.path} has format ${reason.found}, and this version of sluice reads and writes format ${reason.format}. Nothing was changed.`,
    next:
      reason.found < reason.format
        ? rebuildOr(reason.path)
        : `Use the version of sluice that wrote it, or: ${rebuildOr(reason.path)}`
  }),
  WarehouseDamaged: (reason) => ({
    ends: "damaged",
    message: `The warehouse ${reason.path} is damaged: ${reason.detail}.${isInVault(reason.path) ? " Everything read is in the vault." : ""}`,
    next: rebuildOr(reason.path)
  }),
  OutOfMemory: (reason) => ({
    ends: "failed",
    message: `DuckDB needs more than ${reason.memoryMb} MB of memory for ${reason.path}: ${reason.detail}. Everything read before this is kept.`,
    next: `Set machine.memory_mb to ${2 * reason.memoryMb} in the settings file, then run the same command again.`
  }),
  StatementRejected: (reason) => ({
    ends: "failed",
    message: `The warehouse ${reason.path} rejected a statement, which is a defect of sluice: ${reason.detail}`,
    next: "Report it with the text above. Everything read is in the vault; ./sluice rebuild makes the tables again."
  }),
  VaultOlder: (reason) => ({
    ends: "failed",
    message: `A version of sluice before 1.0.0 wrote the vault in ${reason.folder}, in a format that this version does not read. Nothing was changed.`,
    next: newFolder
  }),
  VaultDamaged: (reason) => ({
    ends: "failed",
    message: `The vault in ${reason.folder}: ${reason.detail}.`,
    next: "Run ./sluice verify, then restore that file from a backup. Without a backup, move it away: the tables keep its rows, but a rebuild would lose them."
  }),
  OutputFolderUnusable: (reason) => ({
    ends: "config",
    message: `The output folder ${reason.folder} cannot be created: ${reason.detail}.`,
    next: "Name another folder with --output, SLUICE_OUTPUT or output.folder in the settings file."
  }),
  SafeguardLost: (reason) => ({
    ends: "failed",
    message: `${reason.path}: ${reason.detail}. Nothing was changed.`,
    next: reason.next
  }),
  PublishedIsForeign: (reason) => ({
    ends: "failed",
    message: `${reason.path} exists and is not a link that sluice created, so sluice did not replace it. Nothing was published.`,
    next: `Move ${reason.path} away, or name another folder with --output, then run ./sluice publish.`
  }),
  LakeFailed: (reason) => ({
    ends: "failed",
    message: `The lake in ${reason.place} was not changed: ${reason.detail}. The warehouse has everything that was read.`,
    next: "Correct this, then run ./sluice publish; it brings the lake up to date."
  }),
  DestinationFailed: (reason) => ({
    ends: "failed",
    message: `The target ${reason.target} was not changed: ${reason.detail}. The warehouse has everything that was read.`,
    next: "Correct this, then run ./sluice publish; it brings the target up to date."
  }),
  TablesWait: (reason) => ({
    ends: "partial",
    message: `The target ${reason.target} has this release, but ${reason.tables.length === 1 ? "one table still has its earlier rows" : `${reason.tables.length} tables still have their earlier rows`}. ${reason.tables
      .map(({ table, why }) => `${table}: ${why}.`)
      .join(" ")}`,
    next: "Follow the steps above, then run ./sluice publish; it brings these tables up to date."
  }),
  UnknownSelection: (reason) => ({
    ends: "usage",
    message: `${reason.flag} ${reason.name}: there is no such table or family${
      reason.closest === undefined ? `. Families are ${reason.families.join(", ")}.` : suggestion(reason.closest)
    }`,
    next: "./sluice dictionary"
  }),
  UnknownLinks: (reason) => ({
    ends: "config",
    message: `files.fetch names ${reason.name}, which has no links to files. It may name all, ${reason.groups.join(", ")}.`,
    next: "Correct files.fetch (SLUICE_FILES)"
  }),
  NothingSelected: (reason) => ({
    ends: "usage",
    message: `--only ${reason.only.join(",")} --except ${reason.except.join(",")}: nothing is left to read.`,
    next: "./sluice dictionary"
  }),
  NoDateFilter: (reason) => ({
    ends: "usage",
    message: `${reason.tables.join(", ")}: the API has no date filter for this. It has one for ${reason.dated.join(", ")}.`,
    next: `./sluice sync --again all --only ${reason.tables.join(",")}`
  }),
  ReserveTooLarge: (reason) => ({
    ends: "config",
    message: `budget.reserve_per_day reserves ${reason.reserve} requests per day for other programs, and the service allows ${reason.dailyMax} per day, so none are left for sluice.`,
    next: `Write reserve_per_day = ${Math.floor(reason.dailyMax / 10)} under [budget] in the settings file, then run the same command again.`
  }),
  CertificateRejected: (reason) => ({
    ends: "config",
    message: `The certificate of ${reason.host} is not trusted (${reason.detail}), so sluice sent nothing to it.`,
    next: "Check account.base_url and this machine's clock. If the certificate comes from an authority of your own, set NODE_EXTRA_CA_CERTS to its file."
  }),
  NothingAnswers: (reason) => ({
    ends: "config",
    message: `No list has been read from ${reason.host} yet, and nothing answers there (${reason.detail}).`,
    next: "Check account.base_url: the name of the host and the port; that this machine is connected; and the proxy, if one is named above."
  }),
  ProxyRefuses: (reason) => ({
    ends: "config",
    message: `The proxy ${reason.proxy} does not accept its user and password (${reason.detail}), so sluice sent nothing.`,
    next: "Write http://user:password@host:port into the variable that names the proxy, or the host of account.base_url into NO_PROXY."
  }),
  Redirected: (reason) => ({
    ends: "config",
    message: `${reason.from} is not the address of the API: it redirects to ${reason.base}. Nothing was sent there.`,
    next:
      reason.base.startsWith("https:") || reason.from.startsWith("http:")
        ? `If that is the service, write base_url = "${reason.base}" under [account] (SLUICE_BASE_URL), then run the same command again.`
        : "Check account.base_url: that address is not encrypted, and whoever reads along would have the token."
  }),
  WrongProtocol: (reason) => ({
    ends: "config",
    message: `${reason.host} does not speak ${reason.protocol} (${reason.detail}).`,
    next: "Check account.base_url: http:// or https://, and the port."
  })
}

type ReasonOf<Tag extends FailureReason["_tag"]> = Extract<FailureReason, { readonly _tag: Tag }>

const reasonExplanation = <Tag extends FailureReason["_tag"]>(
  reason: ReasonOf<Tag> & { readonly _tag: Tag }
): Explanation => ({ ...explanations[reason._tag](reason), about: headingOf(reason._tag) })

const lockExplanation = ({ path, isRun, pid, program }: ReasonOf<"WarehouseLocked">): Explanation => {
  const holder = [program, pid && `process ${pid}`].filter(Boolean).join(", ") || "unknown"
  return isRun
    ? {
        ends: "locked",
        message: `${program ?? "Another run"}${pid === undefined ? "" : ` (process ${pid})`} is working in ${dirname(path)}. Nothing was changed.`,
        next: "./sluice status shows its progress. Repeat the command when it has ended (some wait for it with --wait 10m), or name another folder with --output."
      }
    : {
        ends: "locked",
        message: `Another program (${holder}) has ${path} open. Nothing was changed.`,
        next: "Close the file there, then run the same command again. The published files can be read at any time: output/published/crm.duckdb."
      }
}

const serviceExplanation = (
  error: ServiceError,
  { location, tokenName }: Parameters<typeof explained>[0]
): Explanation => {
  switch (error._tag) {
    case "BadCredentials":
      return {
        ends: "credentials",
        message: `The service does not accept the token of location ${location} (${error.message}). ${whyByKind[error.kind]}`,
        next: `${adviceByKind[error.kind](tokenName)}, then run the same command again; nothing read before is lost.`
      }
    case "WrongLocation":
      return {
        ends: "credentials",
        message: `The token may not read location ${location} (${error.message}), or there is no such location.`,
        next: `Check the location id (account.location_id, SLUICE_LOCATION_ID), or set ${tokenName} to a token of that location.`
      }
    case "BudgetExhausted":
      return {
        ends: "later",
        message: `The service allows no more requests for now: ${error.message}.`,
        next: `Run the same command ${error.resumeAt === undefined ? "again" : `after ${instant(error.resumeAt)}`}.`,
        ...(error.resumeAt !== undefined && { resumeAt: error.resumeAt })
      }
    case "Unavailable":
      return {
        ends: "later",
        message: `The service gave no usable answer: ${error.message}.`,
        next: "Run the same command again later."
      }
  }
}

const whyByKind = {
  private: "A private token stops working about a week after it was rotated.",
  oauth:
    "Each refresh token works once, and sluice keeps the next one in tokens.json. invalid_grant means that another program, or a run that was killed at that moment, has used this one, or that the app was removed."
}
const adviceByKind = {
  private: (name: string) => `Set ${name} to a valid token`,
  oauth: (name: string) => `Authorise the app again and set ${name} to the refresh token that it gives`
}
