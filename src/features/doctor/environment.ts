/** Checks the machine: the versions of Node and the packages, and the output folder. */
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { access, lstat, readFile, readdir, rm, stat, statfs, symlink, writeFile } from "node:fs/promises"
import { findPackageJSON } from "node:module"
import { join, relative } from "node:path"
import { isAnyProxy, proxyFor } from "../../network/proxy.ts"
import { installed } from "../../values/installation.ts"
import { type Part, firstPartOf, outputFileOf } from "../../output/contents.ts"
import { isRefused, nearestFolder } from "../../output/files.ts"
import { readmeName } from "../../output/paths.ts"
import { megabytes } from "../../values/text.ts"
import { ok, warning } from "../../values/finding.ts"
import { type DoctorFinding, problem } from "./finding.ts"

/** Compares the installed versions with the pinned ones. */
export const versions = async (root = installed("")): Promise<ReadonlyArray<DoctorFinding>> => {
  const path = join(root, "package.json")
  const { dependencies, optionalDependencies } = pins(await readFile(path, "utf8"))
  const node = Object.entries(optionalDependencies).find(([name]) =>
    name.endsWith(`-${process.platform}-${process.arch}`)
  )
  const pinned = Object.entries({ ...dependencies, ...(node && { node: node[1] }) })
  // npm may install a package beside sluice.
  const installed = async (name: string) => versionIn(await readFile(findPackageJSON(name, path) ?? "", "utf8")).version
  const compared = await Promise.all(
    pinned.map(async ([name, version]) => {
      const found = name === "node" ? process.versions.node : await installed(name).catch(() => "missing")
      return { name, version, found }
    })
  )
  const different = compared.filter(({ version, found }) => version !== found)
  return [
    different.length === 0
      ? ok("versions", compared.map(({ name, found }) => `${name} ${found}`).join(", "))
      : warning(
          "versions",
          different.map(({ name, version, found }) => `${name} is ${found}, and ${version} is pinned`).join("; "),
          "npm ci"
        )
  ]
}

/** Which proxy the requests to the service take, if the environment names one. */
export const proxies = (addresses: ReadonlyArray<string>): ReadonlyArray<DoctorFinding> =>
  isAnyProxy()
    ? addresses.map((address) => ok("proxy", `${new URL(address).host} ${throughOrNot(proxyFor(address))}`))
    : []

const throughOrNot = (proxy: string | undefined) =>
  proxy === undefined ? "is reached directly, although the environment names a proxy" : `is reached through ${proxy}`

const Versions = Schema.Record(Schema.String, Schema.String)
const pins = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ dependencies: Versions, optionalDependencies: Versions }))
)
const versionIn = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

/** Checks that other users cannot read the settings file, which contains a secret. */
export const secretFile = async (path: string): Promise<ReadonlyArray<DoctorFinding>> => {
  const mode = (await stat(path)).mode & 0o777
  if ((mode & 0o077) === 0) return []
  const what = `${path} contains a secret, and other users of this machine can read it (${mode.toString(8)})`
  return [warning("settings", what, `chmod 600 '${path}'`)]
}

/** A sync that has less fails within minutes. */
const freeBytesMin = 64 * 1024 * 1024

/** Checks that the output folder is writable, has free space, and is closed to other users. */
export const outputFolder = async (folder: string): Promise<ReadonlyArray<DoctorFinding>> => {
  const there = await nearestFolder(folder)
  const writable = await access(there, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false
  )
  if (!writable || !(await stat(there)).isDirectory())
    return [
      problem("folder", {
        ends: "failed",
        message: `${folder} cannot be written: ${there} is not a folder that this user can write to`,
        next: "Correct its permissions, or name another folder with --output."
      })
    ]
  const isNew = there !== folder
  const entries = isNew ? [] : await below(folder)
  return [
    ok("folder", isNew ? `${folder} will be created` : `${folder} can be written`),
    await space(there, entries),
    ...(await fileSystem(there, isNew ? [] : entries, folder))
  ]
}

/** What the file system lacks that others have: links and modes. A file of our own shows it. */
const fileSystem = async (there: string, entries: ReadonlyArray<Entry>, folder: string) => {
  const probe = join(there, `.sluice-${randomUUID()}`)
  const hasLinks = await symlink("nowhere", probe).then(
    () => true,
    (cause) => !isRefused(cause)
  )
  await rm(probe, { force: true })
  await writeFile(probe, "", { mode: 0o600 })
  const hasModes = ((await stat(probe)).mode & 0o077) === 0
  await rm(probe, { force: true })
  return [
    ...(hasLinks
      ? []
      : [
          warning(
            "links",
            `the file system of ${there} has no symbolic links, so releases are folders, which two renames replace`,
            "Nothing to do, unless a reader may never find nothing for a moment: then name a folder on another disk."
          )
        ]),
    ...(hasModes
      ? entries.length === 0
        ? []
        : [modes(folder, entries)]
      : [
          warning(
            "modes",
            `the file system of ${there} keeps no modes: whoever reaches it can read the data`,
            "Mount it with rights for this user only, or name a folder on another disk."
          )
        ])
  ]
}

interface Entry {
  readonly path: string
  readonly bytes: number
  readonly mode: number
}

/** The folder and everything in it, without links, whose modes have no effect. */
const below = async (folder: string): Promise<ReadonlyArray<Entry>> => {
  const names = ["", ...(await readdir(folder, { recursive: true }))]
  const entries: Array<Entry> = []
  for (const name of names) {
    // A running sync may have removed the file.
    const found = await lstat(join(folder, name)).catch(() => undefined)
    if (found && !found.isSymbolicLink())
      entries.push({ path: name, bytes: found.isFile() ? found.size : 0, mode: found.mode })
  }
  return entries
}

const space = async (there: string, entries: ReadonlyArray<Entry>): Promise<DoctorFinding> => {
  const { bavail, bsize } = await statfs(there)
  const free = bavail * bsize
  const size = (part: Part) =>
    entries
      .filter(({ path }) => outputFileOf(firstPartOf(path))?.part === part)
      .reduce((sum, { bytes }) => sum + bytes, 0)
  const [warehouse, vault] = [size("warehouse"), size("vault")]
  const what = `${megabytes(free)} free; warehouse ${megabytes(warehouse)}, vault ${megabytes(vault)}`
  if (free < freeBytesMin)
    return problem("space", {
      ends: "failed",
      message: what,
      next: "Free disk space, or name another folder with --output."
    })
  return free < warehouse + vault
    ? warning("space", what, "Free disk space: a rebuild writes a second warehouse, and a publish about as much again.")
    : ok("space", what)
}

const modes = (folder: string, all: ReadonlyArray<Entry>): DoctorFinding => {
  // A clone contains README.md, which everybody may read; as long as the folder contains nothing else, it may be open.
  const entries = all.filter(({ path }) => path !== readmeName)
  if (entries.length === 1 && all.length > 1) return ok("modes", `the first sync closes ${folder} to others`)
  const open = entries.filter(({ mode }) => (mode & 0o077) !== 0)
  if (open.length === 0) return ok("modes", "only its owner can read the folder and its content")
  const named = open.slice(0, 3).map(({ path, mode }) => `${join(folder, path)} (${(mode & 0o777).toString(8)})`)
  return warning(
    "modes",
    `other users of this machine can read ${named.join(", ")}${open.length > 3 ? ` and ${open.length - 3} more` : ""}`,
    `chmod -R go-rwx '${relative(process.cwd(), folder) || folder}'`
  )
}
