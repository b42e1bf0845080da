/**
 * A disk that knows what is durable. It watches the file operations below one folder, whoever calls them: bytes are durable
 * once their file was synced, names once their folder was. A power cut loses some of the rest; a kill loses nothing.
 */
import fs from "node:fs"
import { type FileHandle } from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { dirname, join, resolve } from "node:path"
import { cacheFolder } from "../../src/output/cache.ts"

/** The functions as they were: what this module itself does is nobody's change. */
const plain = { ...fs }

/** A name that was created, replaced or removed, and is not durable yet. */
interface NameChange {
  readonly folders: ReadonlyArray<string>
  readonly undo: () => void
}

export interface DiskOptions {
  readonly folder: string
  /** Files in these folders are scratch: nobody expects them after a crash. */
  readonly scratch: ReadonlyArray<string>
  /** Returns after the time that a sync takes. */
  readonly wait: (milliseconds: number) => Promise<void>
  /** Milliseconds of the next sync. */
  readonly syncMs: () => number
}

export class Disk {
  /** The free space in bytes. */
  left = Number.POSITIVE_INFINITY
  /** The process is dead: it changes nothing any more. */
  isFrozen = false
  /** What was changed outside of the folder. */
  readonly outside: Array<string> = []
  private readonly options: DiskOptions
  private readonly shadow: string
  private shadows = 0
  private readonly durable = new Map<string, number>()
  private names: Array<NameChange> = []
  /** Bytes that were appended to each file and are not durable, oldest first. */
  private readonly appended = new Map<string, Array<Buffer>>()

  constructor(options: DiskOptions) {
    this.options = { ...options, folder: resolve(options.folder) }
    this.shadow = `${this.options.folder}.shadow`
    plain.mkdirSync(this.shadow, { recursive: true })
  }

  has(path: unknown): path is string {
    return typeof path === "string" && resolve(path).startsWith(`${this.options.folder}/`)
  }

  /** Whether the operation is to be watched. Fails if the process is dead. */
  watches(path: unknown): path is string {
    if (!this.has(path)) return false
    if (this.isFrozen) throw Object.assign(new Error("EIO: the process is dead"), { code: "EIO" })
    return !this.options.scratch.some((folder) => resolve(path).startsWith(folder))
  }

  /** Notes a change that nobody has asked for; the cache of the user has empty databases. */
  notes(what: string, path: unknown): void {
    const text = String(path)
    if (!this.has(path) && !text.startsWith(`${cacheFolder()}/`)) this.outside.push(`${what} ${text}`)
  }

  /** Keeps a file or folder that is about to lose its name; returns where. */
  keep(path: string): string | undefined {
    const kept = join(this.shadow, String(this.shadows++))
    const found = fs.lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return undefined
    if (found.isSymbolicLink()) plain.symlinkSync(fs.readlinkSync(path), kept)
    else if (found.isDirectory()) return undefined
    else plain.linkSync(path, kept)
    return kept
  }

  changed(paths: ReadonlyArray<string>, undo: () => void): void {
    this.names.push({ folders: paths.map((path) => dirname(resolve(path))), undo })
  }

  append(path: string, bytes: Buffer): void {
    this.appended.set(path, [...(this.appended.get(path) ?? []), bytes])
  }

  /** Whether some file has been given these bytes, and could lose them. */
  couldLose(bytes: string): boolean {
    return this.appended.values().some((parts) => parts.some((part) => part.includes(bytes)))
  }

  async sync(path: string, size: () => void): Promise<void> {
    const parts = this.appended.get(path)?.length ?? 0
    await this.options.wait(this.options.syncMs())
    if (this.isFrozen) throw Object.assign(new Error("EIO: the process is dead"), { code: "EIO" })
    size()
    this.appended.get(path)?.splice(0, parts)
    const folder = resolve(path)
    this.names = this.names.filter(({ folders }) => !folders.includes(folder))
  }

  /** Notes that the present bytes of a file are durable. Taken when the sync begins: later bytes are not. */
  bytesOf(file: fs.BigIntStats): () => void {
    return () => this.durable.set(identityOf(file), Number(file.size))
  }

  /** Loses what was not synced, or a part of it, and leaves garbage after it. Returns what happened. */
  cutPower(random: () => number, garbageIn: (path: string) => boolean): string {
    const lost: Array<string> = []
    // It is the machine that does all this, and not the dead process.
    this.isFrozen = false
    const undone = this.names.splice(Math.floor(random() * (this.names.length + 1)))
    for (const { undo } of undone.toReversed()) undo()
    this.names = []
    for (const entry of fs.readdirSync(this.options.folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (!entry.isFile() || this.options.scratch.some((folder) => path.startsWith(folder))) continue
      const stat = fs.statSync(path, { bigint: true })
      const [size, durable] = [Number(stat.size), this.durable.get(identityOf(stat)) ?? 0]
      if (durable >= size) continue
      const kept = durable + Math.floor(random() * (size - durable + 1))
      plain.truncateSync(path, kept)
      const garbage = garbageIn(path) && random() < 0.3
      if (garbage) plain.appendFileSync(path, '{"kind":"page","bytes":12,"crc32":1}\nhalf a bo\0dy')
      lost.push(`${size - kept} of ${size - durable} bytes of ${entry.name}${garbage ? " with garbage" : ""}`)
    }
    this.isFrozen = true
    return `${undone.length} names and ${lost.join(", ") || "no bytes"} lost`
  }

  /** What is not durable stays as it is, as after a kill. */
  forget(): void {
    plain.rmSync(this.shadow, { recursive: true, force: true })
    plain.mkdirSync(this.shadow, { recursive: true })
    this.names = []
    this.appended.clear()
  }

  remove(): void {
    for (const folder of [this.shadow, this.options.folder]) plain.rmSync(folder, { recursive: true, force: true })
  }
}

const identityOf = ({ birthtimeNs, ino }: fs.BigIntStats) => `${ino} ${birthtimeNs}`

/** The disk of the scenario at work. */
let disk: Disk | undefined
export const useDisk = (next: Disk | undefined): void => void (disk = next)

const promises = fs.promises as { -readonly [Name in keyof typeof fs.promises]: (typeof fs.promises)[Name] }
const originals = { ...promises, fsync: fs.fsync }
const blocking = fs as { -readonly [Name in keyof typeof fs]: (typeof fs)[Name] }
let restoreHandles = (): void => {}
let isWatching = false

/** Takes effect for all modules, also those that have imported the functions by name. */
export const watchFiles = async (): Promise<void> => {
  if (isWatching) return
  isWatching = true
  const any = await originals.open(new URL(import.meta.url), "r")
  const prototype = Object.getPrototypeOf(any) as FileHandle
  await any.close()
  watchHandles(prototype)
  promises.open = async (path, flags, mode) => {
    if (flags !== undefined && flags !== "r") disk?.notes("opened", path)
    if (!disk?.watches(path)) return originals.open(path, flags, mode)
    const isNew = !fs.existsSync(path)
    const handle = await originals.open(path, flags, mode)
    pathOf.set(handle, { path, disk })
    if (isNew) disk.changed([path], () => plain.rmSync(path, { force: true }))
    return handle
  }
  promises.writeFile = async (path, ...others) => {
    disk?.notes("written", path)
    const watching = disk?.watches(path) ? disk : undefined
    const isNew = watching && !fs.existsSync(String(path))
    await originals.writeFile(path, ...others)
    if (isNew) watching.changed([String(path)], () => plain.rmSync(String(path), { force: true }))
  }
  promises.rename = async (from, to) => {
    for (const path of [from, to]) disk?.notes("renamed", path)
    const kept = disk?.watches(to) ? disk.keep(to) : undefined
    await originals.rename(from, to)
    if (!disk?.has(to)) return
    const [before, after] = [String(from), String(to)]
    disk.changed([before, after], () => {
      plain.renameSync(after, before)
      if (kept) plain.renameSync(kept, after)
    })
  }
  promises.rm = async (path, options) => {
    disk?.notes("removed", path)
    const kept = disk?.watches(path) ? disk.keep(path) : undefined
    await originals.rm(path, options)
    if (kept) disk!.changed([String(path)], () => plain.renameSync(kept, String(path)))
  }
  promises.symlink = async (target, path, type) => {
    disk?.notes("linked", path)
    const watching = disk?.watches(path) ? disk : undefined
    await originals.symlink(target, path, type)
    watching?.changed([String(path)], () => plain.rmSync(String(path), { force: true }))
  }
  promises.truncate = async (path, length) => {
    disk?.watches(path)
    await originals.truncate(path, length)
  }
  watchBlocking()
  const fsync = (descriptor: number, callback: (error: NodeJS.ErrnoException | null) => void) => {
    const [watching, stat] = [disk, fs.fstatSync(descriptor, { bigint: true })]
    if (watching === undefined) return originals.fsync(descriptor, callback)
    watching.sync("/", watching.bytesOf(stat)).then(() => callback(null), callback)
  }
  fs.fsync = fsync as typeof fs.fsync
  syncBuiltinESMExports()
}

/** Files behind links are written by functions that block: a dead process calls none of them. */
const watchBlocking = (): void => {
  blocking.openSync = (path, flags, mode) => {
    if (flags === undefined || flags === "r") return plain.openSync(path, flags, mode)
    disk?.notes("opened", path)
    disk?.watches(path)
    return plain.openSync(path, flags, mode)
  }
  blocking.renameSync = (from, to) => {
    for (const path of [from, to]) disk?.notes("renamed", path)
    disk?.watches(to)
    plain.renameSync(from, to)
  }
  blocking.rmSync = (path, options) => {
    disk?.notes("removed", path)
    disk?.watches(path)
    plain.rmSync(path, options)
  }
}

/** Ends the simulation of the disk: other tests of this process need the real one. */
export const restoreDisk = (): void => {
  if (!isWatching) return
  disk = undefined
  isWatching = false
  restoreHandles()
  const { fsync, ...own } = originals
  Object.assign(promises, own)
  Object.assign(fs, { fsync, openSync: plain.openSync, renameSync: plain.renameSync, rmSync: plain.rmSync })
  syncBuiltinESMExports()
}

const pathOf = new WeakMap<FileHandle, { readonly path: string; readonly disk: Disk }>()

const watchHandles = (prototype: FileHandle): void => {
  const { appendFile, datasync, sync } = prototype
  restoreHandles = () => void Object.assign(prototype, { appendFile, datasync, sync })
  prototype.appendFile = async function (this: FileHandle, data, options) {
    const watched = pathOf.get(this)
    if (!watched?.disk.watches(watched.path)) return appendFile.call(this, data, options)
    const bytes = Buffer.from(data as Buffer)
    const fitting = Math.min(bytes.length, watched.disk.left)
    watched.disk.left -= fitting
    await appendFile.call(this, bytes.subarray(0, fitting))
    watched.disk.append(watched.path, bytes)
    if (fitting < bytes.length)
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
  }
  const flush = async function (this: FileHandle) {
    const watched = pathOf.get(this)
    if (!watched?.disk.watches(watched.path)) return
    await watched.disk.sync(watched.path, watched.disk.bytesOf(fs.fstatSync(this.fd, { bigint: true })))
  }
  prototype.sync = flush
  prototype.datasync = flush
}
