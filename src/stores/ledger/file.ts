/**
 * `ledger.jsonl` in the output folder: one record per line, only ever appended to.
 *
 *     append   lock, read the last line, write the next one, flush it to disk, unlock
 *     crash    may leave part of a line; the next append moves it to a file of its own and says so
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { constants, existsSync } from "node:fs"
import { mkdtemp, open, readFile, stat, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { literal } from "../warehouse/sql.ts"
import { makeOutputFolder } from "../../output/folder.ts"
import { ifMissing, syncFolder } from "../../output/files.ts"
import { lineBytesMax } from "./verify.ts"
import { type Detail, type Head, type Kind, emptyHead, lineAfter, recordOf, sha256Of } from "./record.ts"
import { outputFiles } from "../../output/contents.ts"
import { outputPaths } from "../../output/paths.ts"
import { removeBelow } from "../../output/remove.ts"

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

/**
 * Runs one `use` at a time among all processes. The lock is the one that DuckDB takes on a file: it ends with its process, so
 * none can be left behind, which a lock file of Node's cannot promise.
 */
const exclusively = async <A>(path: string, use: () => Promise<A>): Promise<A> => {
  const own = queues.get(path) ?? Promise.resolve()
  const run = own.then(async () => {
    const unlock = await locked(path)
    try {
      return await use()
    } finally {
      await unlock()
    }
  })
  queues.set(
    path,
    run.then(
      () => {},
      () => {}
    )
  )
  return run
}

/** The lock does not exclude two uses in one process, so these wait for each other. */
const queues = new Map<string, Promise<void>>()

const lockWaitMs = 30_000

/** Attaches the file, which locks it. The returned function detaches it. */
const locked = async (path: string): Promise<() => Promise<void>> => {
  if (!existsSync(path)) await writeLockFile(path)
  for (const begun = Date.now(); ;) {
    try {
      return await attached(path)
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      if (Date.now() - begun > lockWaitMs) throw new Error(`${path} is locked: ${message}`, { cause })
      if (/set lock|lock is held/i.test(message)) await sleep(5 + Math.random() * 20)
      else await writeLockFile(path)
    }
  }
}

/** One database in memory for all locks of the process: to make one takes longer than the rest of an append. */
let locks: Promise<DuckDBInstance> | undefined
let attachedCount = 0

const attached = async (path: string): Promise<() => Promise<void>> => {
  const connection = await (await (locks ??= DuckDBInstance.create(":memory:", { threads: "1" }))).connect()
  const alias = `lock${attachedCount++}`
  const close = () => connection.closeSync()
  try {
    await connection.run(`ATTACH ${literal(path)} AS ${alias}`)
  } catch (cause) {
    close()
    throw cause
  }
  return () => connection.run(`DETACH ${alias}`).then(close)
}

/**
 * Creates the file, or repairs one that a killed process left incomplete. It is written in place: the lock belongs to the
 * file and not to its name, so a file that another process has locked must not be replaced. Its content does not matter.
 */
const writeLockFile = async (path: string): Promise<void> => {
  // DuckDB does not accept an empty file, and creates files that others can read.
  const folder = await mkdtemp(join(tmpdir(), "sluice-lock-"))
  const fresh = join(folder, "lock")
  await (
    await attached(fresh)
  )()
  const content = await readFile(fresh)
  await removeBelow(tmpdir(), folder)
  await using file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  await file.write(content, 0, content.length, 0)
}
