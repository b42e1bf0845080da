/** One console for each output folder: two would start each night twice. */
import { readFileSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { dirname, join, resolve } from "node:path"
import { lockUnlessHeld } from "../../output/kernel-lock.ts"

/**
 * Takes the folder of the console until the returned function is called. Rejects if another process has it, which may be one of
 * another container.
 */
export const takeFolder = async (folder: string): Promise<() => Promise<void>> => {
  // The file says who has the lock, and nothing else.
  const path = join(folder, "serve.json")
  const release = await lockUnlessHeld(join(folder, "serve.lock"))
  if (release === undefined)
    throw new Error(`Another ./sluice serve${holderIn(path)}, has ${resolve(dirname(folder))}: end it first.`)
  await writeFile(path, JSON.stringify({ pid: process.pid, host: hostname() }), { mode: 0o600 })
  return async () => {
    await rm(path, { force: true })
    await release()
  }
}

const holderIn = (path: string): string => {
  try {
    const { host, pid } = JSON.parse(readFileSync(path, "utf8")) as { readonly pid?: number; readonly host?: string }
    return `, process ${pid}${host === undefined || host === hostname() ? "" : ` of ${host}`}`
  } catch {
    return ""
  }
}
