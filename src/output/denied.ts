/** What the system denies this user of an output folder, such as after a run as another user. */
import { accessSync, constants, readFileSync, statSync } from "node:fs"
import { userInfo } from "node:os"
import { dirname } from "node:path"
import { outputPaths } from "./paths.ts"
import { messageOf } from "../values/thrown.ts"

export interface Denied {
  readonly path: string
  readonly owner: string
  readonly user: string
}

/** What of an output folder this user may not read. */
export const deniedIn = (folder: string): Denied | undefined => {
  const { vault, warehouse } = outputPaths(folder)
  const path = [folder, vault, warehouse].find((one) => !isReadable(one))
  return path === undefined ? undefined : deniedAt(path)
}

/** Names the owner of a path that was denied to this user; of one that cannot be inspected, the owner of the folder above it. */
export const deniedAt = (path: string): Denied => {
  try {
    return { path, owner: nameOf(statSync(path).uid), user: userInfo().username }
  } catch {
    return path === dirname(path) ? { path, owner: "root", user: userInfo().username } : deniedAt(dirname(path))
  }
}

/** Codes and words of the system for a missing right. */
export const deniedText = /\b(EACCES|EPERM|Permission denied)\b/

const isReadable = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch (cause) {
    return !deniedText.test(messageOf(cause))
  }
}

const nameOf = (uid: number): string => {
  const users = readFileSync("/etc/passwd", "utf8").split("\n")
  return users.find((line) => line.split(":")[2] === String(uid))?.split(":")[0] ?? `user ${uid}`
}
