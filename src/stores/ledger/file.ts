/**
 * `ledger.jsonl` in the output folder: one record per line, only ever appended to.
 *
 *     append   lock, read the last line, write the next one, flush it to disk, unlock
 *     crash    may leave part of a line; the next append moves it to a file of its own and says so
 */
import { constants } from "node:fs"
import { access, open, stat, truncate, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { makeOutputFolder } from "../../output/folder.ts"
import { ifMissing, syncFolder } from "../../output/files.ts"
import { exclusively } from "../../output/kernel-lock.ts"
import { lineBytesMax } from "./verify.ts"
import { type Detail, type Head, type Kind, emptyHead, lineAfter, recordOf, sha256Of } from "./record.ts"
import { outputFiles } from "../../output/contents.ts"
import { outputPaths } from "../../output/paths.ts"

export const ledgerName = outputFiles.ledger.name
export const ledgerOf = (output: string): string => outputPaths(output).ledger

/**
 * Appends a record durably. `torn`: the file with the part of a line that a crash had left. Rejects if the last line is not a
 * record, which `ledger verify` explains.
 */
export const appendRecord = async (output: string, at: string, kind: Kind, detail: Detail) => {
  await makeOutputFolder(output)
  const path = ledgerOf(output)
  return exclusively(outputPaths(output).ledgerLock, async () => {
    const torn = await cutTornLine(path, at)
    const head = await headOf(path)
    const line = lineAfter(head, at, kind, detail)
    {
      await using file = await open(path, "a", 0o600)
      await file.writeFile(`${line}\n`)
      await file.sync()
    }
    if (head.seq === 0) await syncFolder(dirname(path))
    return { seq: head.seq + 1, sha256: sha256Of(line), torn }
  })
}

/**
 * Rejects if no record can be appended, so that nothing is handed out of which the ledger would know nothing. It takes no lock, so
 * it neither waits for another process, nor ends a lock of this one, which closing the file would.
 */
export const checkAppendable = async (output: string): Promise<void> => {
  await makeOutputFolder(output)
  const { ledger, ledgerLock } = outputPaths(output)
  for (const path of [ledger, ledgerLock]) {
    const found = await stat(path).catch(ifMissing(undefined))
    if (found && !found.isFile()) throw new Error(`${path} is not a file`)
    await access(found ? path : output, constants.W_OK)
  }
  await headOf(ledger)
}

/** The end of the ledger; part of a line that is being written, or that a crash left, does not count. */
export const headOf = async (path: string): Promise<Head> => {
  const { text } = await lastBytes(path)
  const end = text.lastIndexOf("\n")
  if (end < 0) return emptyHead
  const line = text.slice(text.lastIndexOf("\n", end - 1) + 1, end)
  const record = recordOf(line)
  if (record === undefined) throw new Error("its last line is not a record; see ./sluice ledger verify")
  return { seq: record.seq, sha256: sha256Of(line) }
}

const lastBytes = async (path: string): Promise<{ readonly text: string; readonly size: number }> => {
  const { size } = await stat(path).catch(ifMissing({ size: 0 }))
  if (size === 0) return { text: "", size }
  await using file = await open(path, "r")
  const length = Math.min(size, lineBytesMax)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
  return { text: buffer.toString("utf8", 0, bytesRead), size }
}

const cutTornLine = async (path: string, at: string): Promise<string | undefined> => {
  const { text, size } = await lastBytes(path)
  if (size === 0 || text.endsWith("\n")) return undefined
  const part = text.slice(text.lastIndexOf("\n") + 1)
  const torn = `${path}.torn-${at.replaceAll(/[^0-9TZ]/g, "")}`
  await writeFile(torn, part, { mode: 0o600, flush: true })
  await truncate(path, size - Buffer.byteLength(part))
  return torn
}
