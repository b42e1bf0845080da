/** One console for each output folder: two would start each night twice. */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { isRunning, processStart } from "../../output/lock.ts"
import { codeOf } from "../../values/thrown.ts"

/**
 * Takes the folder of the console until the returned function is called. Throws if another process has it; one that was killed
 * leaves its file, which then counts for nobody.
 */
export const takeFolder = (folder: string): (() => void) => {
  const path = join(folder, "serve.json")
  for (;;) {
    if (isWritten(path)) return () => rmSync(path, { force: true })
    const { pid, started } = holderIn(path)
    if (pid !== undefined && pid !== process.pid && isRunning(pid, started))
      throw new Error(`Another ./sluice serve, process ${pid}, has ${resolve(dirname(folder))}.`)
    rmSync(path, { force: true })
  }
}

const isWritten = (path: string): boolean => {
  try {
    const own = { pid: process.pid, started: processStart(process.pid) }
    writeFileSync(path, JSON.stringify(own), { flag: "wx", mode: 0o600 })
    return true
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false
    throw cause
  }
}

const holderIn = (path: string): { readonly pid?: number; readonly started?: string } => {
  try {
    return JSON.parse(readFileSync(path, "utf8"))
  } catch {
    return {}
  }
}
