/** A file system like SMB, exFAT and some of FUSE: without links, modes and flushed folders. */
import fs from "node:fs"
import promises from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { onTestFinished } from "vitest"

const refused = (code: string, what: string) => Object.assign(new Error(`${code}: refused, ${what}`), { code })

/** Until the end of the test. `code`: how the file system says it. */
export const onPoorDisk = async (code: string): Promise<void> => {
  const own = { symlink: promises.symlink, link: promises.link, chmod: promises.chmod }
  const { fchmodSync } = fs
  await using handle = await promises.open(".", "r")
  const kind = Object.getPrototypeOf(handle) as Pick<promises.FileHandle, "sync" | "stat">
  const { sync } = kind
  for (const name of ["symlink", "link", "chmod"] as const) promises[name] = () => Promise.reject(refused(code, name))
  fs.fchmodSync = () => {
    throw refused(code, "fchmod")
  }
  kind.sync = async function (this: promises.FileHandle) {
    if ((await this.stat()).isDirectory()) throw refused(code, "fsync")
    return sync.call(this)
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    Object.assign(promises, own)
    fs.fchmodSync = fchmodSync
    kind.sync = sync
    syncBuiltinESMExports()
  })
}
