/** What DuckDB says when it refuses, as failures that name the file and the way out. */
import { Failure, diskFailure } from "../failure.ts"

/** Its file is mended by rebuild, disk and memory by the user; everything else is ours. */
export const statementFailure = (path: string, memoryMb: number, cause: unknown): Failure => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (isDamage(message)) return damaged(path, message)
  // What does not fit into memory goes to temporary files; where these are the trouble, the disk is.
  if (/Out of Memory/i.test(message) && !message.includes("max_temp_directory_size"))
    return new Failure({
      ends: "failed",
      message: `DuckDB needs more memory than machine.memory_mb = ${memoryMb} allows for ${path}: ${message.split("\n")[0]}. Everything read before this is kept.`,
      next: `Set machine.memory_mb to ${2 * memoryMb} in the settings file, then run the same command again.`
    })
  return /^(IO Error|Out of Memory|TransactionContext Error: Failed to commit: .*(write|space))/i.test(message)
    ? diskFailure(`The warehouse ${path} could not be written`, cause)
    : new Failure({
        ends: "failed",
        message: `The warehouse ${path} refused a statement, which is a defect of ours: ${message}`,
        next: "Report it with the text above. Everything read is in the vault; ./sluice rebuild makes the tables again."
      })
}

/** What DuckDB says where bytes of the file or its log were changed or are missing. */
const isDamage = (message: string) =>
  /Corrupt|not a valid DuckDB|Could not read enough bytes|replaying WAL|Serialization Error/i.test(message)
const damaged = (path: string, message: string) =>
  new Failure({
    ends: "damaged",
    message: `The warehouse ${path} is damaged: ${message}. Everything read is in the vault.`,
    next: "./sluice rebuild"
  })

export const openFailure = (path: string, cause: unknown): Failure => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (isDamage(message)) return damaged(path, message)
  return diskFailure(`The warehouse ${path} could not be opened`, cause)
}
