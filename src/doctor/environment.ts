/** What the machine gives: the Node and packages we are made for, and a folder that can be written and kept from others. */
import { constants } from "node:fs"
import { access, lstat, readFile, readdir, stat, statfs } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { type Line, megabytes, ok, problem, warning } from "./check-result.ts"

/** The versions that are installed against those that are pinned. */
export const versions = async (
  root = fileURLToPath(new URL("../..", import.meta.url))
): Promise<ReadonlyArray<Line>> => {
  const pinned = Object.entries(await jsonIn<Record<string, string>>(join(root, "package.json"), "dependencies"))
  const installed = await Promise.all(
    pinned.map(async ([name, version]) => {
      const found =
        name === "node"
          ? process.versions.node
          : await jsonIn<string>(join(root, "node_modules", name, "package.json"), "version").catch(() => "missing")
      return { name, version, found }
    })
  )
  const different = installed.filter(({ version, found }) => version !== found)
  return [
    different.length === 0
      ? ok("versions", installed.map(({ name, found }) => `${name} ${found}`).join(", "))
      : warning(
          "versions",
          different.map(({ name, version, found }) => `${name} is ${found}, made for ${version}`).join("; "),
          "npm ci"
        )
  ]
}

const jsonIn = async <A>(path: string, key: string): Promise<A> => JSON.parse(await readFile(path, "utf8"))[key]

/** Less than this and a sync fails within minutes. */
const freeBytesMin = 64 * 1024 * 1024

/** Whether the output folder can be written, has room, and is closed to others. */
export const outputFolder = async (folder: string): Promise<ReadonlyArray<Line>> => {
  const there = await nearest(folder)
  const writable = await access(there, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false
  )
  if (!writable || !(await stat(there)).isDirectory())
    return [
      problem(
        "folder",
        "failed",
        `${folder} cannot be written: ${there} is no folder of ours`,
        "Mend its permissions, or name another folder with --output."
      )
    ]
  const isNew = there !== folder
  const entries = isNew ? [] : await below(folder)
  return [
    ok("folder", isNew ? `${folder} will be made` : `${folder} can be written`),
    await space(there, entries),
    ...(isNew ? [] : [modes(folder, entries)])
  ]
}

/** The folder itself, or the first above it that exists. */
const nearest = async (folder: string): Promise<string> =>
  (await lstat(folder).catch(() => undefined)) || dirname(folder) === folder ? folder : nearest(dirname(folder))

interface Entry {
  readonly path: string
  readonly bytes: number
  readonly mode: number
}

/** With the folder itself; links are left out, as their modes mean nothing. */
const below = async (folder: string): Promise<ReadonlyArray<Entry>> => {
  const names = ["", ...(await readdir(folder, { recursive: true }))]
  const entries: Array<Entry> = []
  for (const name of names) {
    // A running sync may remove a file meanwhile.
    const found = await lstat(join(folder, name)).catch(() => undefined)
    if (found && !found.isSymbolicLink())
      entries.push({ path: name, bytes: found.isFile() ? found.size : 0, mode: found.mode })
  }
  return entries
}

const space = async (there: string, entries: ReadonlyArray<Entry>): Promise<Line> => {
  const { bavail, bsize } = await statfs(there)
  const free = bavail * bsize
  const size = (start: string) =>
    entries.filter(({ path }) => path.startsWith(start)).reduce((sum, { bytes }) => sum + bytes, 0)
  const [warehouse, vault] = [size("warehouse.duckdb"), size("vault")]
  const what = `${megabytes(free)} free; warehouse ${megabytes(warehouse)}, vault ${megabytes(vault)}`
  if (free < freeBytesMin) return problem("space", "failed", what, "Make room, or name another folder with --output.")
  return free < warehouse + vault
    ? warning("space", what, "Make room: a rebuild writes the warehouse once more, and a publish about as much again.")
    : ok("space", what)
}

const modes = (folder: string, entries: ReadonlyArray<Entry>): Line => {
  const open = entries.filter(({ mode }) => (mode & 0o077) !== 0)
  if (open.length === 0) return ok("modes", "only its owner can read the folder and what is in it")
  const named = open.slice(0, 3).map(({ path, mode }) => `${join(folder, path)} (${(mode & 0o777).toString(8)})`)
  return warning(
    "modes",
    `others of this machine may read ${named.join(", ")}${open.length > 3 ? ` and ${open.length - 3} more` : ""}`,
    `chmod -R go-rwx '${relative(process.cwd(), folder) || folder}'`
  )
}
