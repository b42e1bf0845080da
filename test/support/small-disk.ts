/** A disk that is soon full. */
import { execFileSync } from "node:child_process"
import { closeLast } from "./compare.ts"
import { newFolder } from "./sluice.ts"

/** A file system of a few megabytes, which only root can mount. */
export const smallDisk = (megabytes = 9): string | undefined => {
  const folder = newFolder()
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder], { stdio: "ignore" })
    return folder
  } catch {
    return undefined
  }
}

export const unmount = (disk: string): void => {
  closeLast()
  execFileSync("umount", [disk])
}
