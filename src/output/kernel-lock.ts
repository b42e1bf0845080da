/**
 * A lock among processes, also of other containers with the same volume. It is the one that DuckDB takes on a file: the kernel
 * ends it with its process, so none can be left behind, which a file with a number of a process cannot promise.
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { constants, existsSync } from "node:fs"
import { open, readFile, rm } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { nodeCrypto } from "../values/node.ts"

/** Runs one `use` at a time among all processes. */
export const exclusively = async <A>(path: string, use: () => Promise<A>): Promise<A> => {
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
const isHeld = (message: string): boolean => /set lock|lock is held/i.test(message)

/** Takes the lock until the returned function is called; `undefined` if another process has it. */
export const lockUnlessHeld = async (path: string): Promise<(() => Promise<void>) | undefined> => {
  if (!existsSync(path)) await writeLockFile(path)
  try {
    return await attached(path)
  } catch (cause) {
    if (isHeld(cause instanceof Error ? cause.message : String(cause))) return undefined
    await writeLockFile(path)
    return attached(path)
  }
}

/** Attaches the file, which locks it. The returned function detaches it. */
const locked = async (path: string): Promise<() => Promise<void>> => {
  if (!existsSync(path)) await writeLockFile(path)
  for (const begun = Date.now(); ;) {
    try {
      return await attached(path)
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      if (Date.now() - begun > lockWaitMs) throw new Error(`${path} is locked: ${message}`, { cause })
      if (isHeld(message)) await sleep(5 + Math.random() * 20)
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
    await connection.run(`ATTACH '${path.replaceAll("'", "''")}' AS ${alias}`)
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
  // DuckDB does not accept an empty file, and creates files that others can read. No other folder needs room for it.
  const fresh = `${path}.${nodeCrypto().randomUUID()}`
  let content: Buffer
  try {
    await (
      await attached(fresh)
    )()
    content = await readFile(fresh)
  } finally {
    for (const file of [fresh, `${fresh}.wal`]) await rm(file, { force: true })
  }
  await using file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  await file.write(content, 0, content.length, 0)
}
