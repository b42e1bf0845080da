/** What DuckDB says when it refuses, as failures that name the file. */
import { type Failure, failure, fileFailure } from "../failure.ts"

/** A rebuild replaces a damaged file, disk and memory are the user's to mend; everything else is a defect of ours. */
export const statementFailure = (path: string, memoryMb: number, cause: unknown): Failure => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (isDamage(message)) return damaged(path, message)
  // What does not fit into memory goes to temporary files; where these are the trouble, the disk is.
  if (/Out of Memory/i.test(message) && !message.includes("max_temp_directory_size"))
    return failure({ _tag: "OutOfMemory", path, memoryMb, detail: message.split("\n")[0]! })
  return /^(IO Error|Out of Memory|TransactionContext Error: Failed to commit: .*(write|space))/i.test(message)
    ? fileFailure(path, "written", cause)
    : failure({ _tag: "StatementRejected", path, detail: message })
}

/** What DuckDB says where bytes of the file or its log were changed or are missing. */
const isDamage = (message: string) =>
  /Corrupt|not a valid DuckDB|Could not read enough bytes|replaying WAL|Serialization Error/i.test(message)
const damaged = (path: string, detail: string) => failure({ _tag: "WarehouseDamaged", path, detail })

export const openFailure = (path: string, cause: unknown): Failure => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (isDamage(message)) return damaged(path, message)
  return fileFailure(path, "opened", cause)
}
