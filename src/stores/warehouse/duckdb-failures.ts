/** Converts errors of DuckDB to failures that name the file. */
import { type Failure, failure, fileFailure } from "../../values/failure.ts"

/**
 * Distinguishes what the user can do: rebuild a damaged file, or provide memory or disk space. Any other error is a
 * defect of sluice.
 */
export const statementFailure = (path: string, memoryMb: number, cause: unknown): Failure => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (isDamageMessage(message)) return damaged(path, message)
  // DuckDB spills to temporary files, so a full temporary directory is a failure of the disk, not of memory.
  const isMemory =
    /Out of Memory|(?:Failed to commit|Checkpoint(?:ing)? failed).*\((?:[\d.]+ [KMGT]?i?B\/?){2} used\)/i.test(message)
  if (isMemory && !message.includes("max_temp_directory_size"))
    return failure({ _tag: "OutOfMemory", path, memoryMb, detail: message.replace(/\n.*/s, "") })
  return /^(IO Error|Out of Memory|TransactionContext Error: Failed to commit: .*(write|space))/i.test(message)
    ? fileFailure(path, "written", cause)
    : failure({ _tag: "StatementRejected", path, detail: message })
}

/** Whether DuckDB reports that bytes of the file or its log were changed or are missing. */
const isDamageMessage = (message: string) =>
  /Corrupt|not a valid DuckDB|Could not read enough bytes|replaying WAL|Serialization Error/i.test(message)
const damaged = (path: string, detail: string) => failure({ _tag: "WarehouseDamaged", path, detail })

export const openFailure = (path: string, cause: unknown): Failure => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (isDamageMessage(message)) return damaged(path, message)
  return fileFailure(path, "opened", cause)
}
