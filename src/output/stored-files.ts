/**
 * Files of the account, such as attachments and recordings, named by their content: `files/ab/cdef….jpg`. A file that many
 * records have is stored once.
 */
import { createHash } from "node:crypto"
import { execFile } from "node:child_process"
import { type Dirent, closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from "node:fs"
import { writeFileSync, writeSync } from "node:fs"
import { open, readdir, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type * as Effect from "effect/Effect"
import type { Failure } from "../values/failure.ts"
import { counted } from "../values/finding.ts"
import { checksumIfPresent, ifMissing, onDisk } from "./files.ts"
import { filesName, outputPaths } from "./paths.ts"
import { codeOf, messageOf } from "../values/thrown.ts"

/** A stored file, as a table describes it. */
export interface StoredFile {
  /** Relative to the output folder. */
  readonly path: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
  /** The MIME type that its first bytes have; `undefined` for a text, and for a type that has no signature. */
  readonly found: string | undefined
}

/** A file cannot be written. A retry of the request would not help. */
export class DiskError extends Error {}

/** A file is not stored because of what it is. A retry would return the same file. */
export class FileRejected extends Error {
  readonly status: "failed" | "too large" | "not public" | "not chosen"
  /** What is known of it: the size as announced, and the type. */
  readonly about: { readonly bytes?: number | undefined; readonly contentType?: string }
  constructor(message: string, status: FileRejected["status"] = "failed", about: FileRejected["about"] = {}) {
    super(message)
    this.status = status
    this.about = about
  }
}

/** A smaller file is written at once when it is complete. */
const bufferedBytesMax = 256 * 1024
/** The signatures of types are in the first bytes. */
export const headBytes = 4100
/** The end of a file is in its last bytes; that of an archive before a comment of at most 64 kB. */
const tailBytes = 66_000

interface FoundType {
  readonly ext: string
  readonly mime: string
}

/**
 * A file that is being received. Its writes block the process: for a small file, that takes half the time of writes that do
 * not, and a large one needs no memory for what would wait. Fails with `DiskError` and `FileRejected`.
 */
export class IncomingFile {
  bytes = 0
  private readonly folder: string
  private readonly bytesMax: number
  private readonly forbidden: ReadonlyArray<string>
  private readonly overlap: number
  private readonly part: string
  private hash = createHash("sha256")
  private head = none
  /** The last bytes, up to its end. */
  private readonly tail = Buffer.alloc(tailBytes)
  private buffered: Array<Buffer> = []
  private bufferedBytes = 0
  private collectedAt = 0
  private file: number | undefined
  private found: Promise<FoundType | undefined> | undefined

  /** `folder`: the output folder. `forbidden`: texts that the file must not contain. */
  constructor(folder: string, bytesMax: number, forbidden: ReadonlyArray<string> = []) {
    this.folder = folder
    this.bytesMax = bytesMax
    this.forbidden = forbidden
    this.overlap = Math.max(0, ...forbidden.map(({ length }) => length))
    this.part = join(folder, filesName, `${process.pid}-${nextPart++}${partExtension}`)
  }

  /** Is called before the rest of the file arrives, if its size is announced. */
  expect(rest: number | undefined): void {
    const bytes = rest === undefined ? this.bytes : this.bytes + rest
    if (bytes > this.bytesMax) throw this.tooLarge(bytes)
  }

  write(chunk: Buffer): void {
    if (this.bytes + chunk.length > this.bytesMax) throw this.tooLarge(undefined)
    if (this.overlap > 0) {
      const searched = Buffer.concat([this.end().subarray(-this.overlap), chunk])
      if (this.forbidden.some((text) => searched.includes(text)))
        throw new FileRejected("the file contains the credentials and was not stored")
    }
    this.tail.copyWithin(0, chunk.length)
    chunk.copy(this.tail, Math.max(0, tailBytes - chunk.length), Math.max(0, chunk.length - tailBytes))
    this.hash.update(chunk)
    this.bytes += chunk.length
    if (this.head.length < headBytes)
      this.head = Buffer.concat([this.head, chunk.subarray(0, headBytes - this.head.length)])
    this.buffered.push(chunk)
    this.bufferedBytes += chunk.length
    if (this.bufferedBytes > bufferedBytesMax) orDiskError(() => this.flush())
  }

  /** The first bytes, `headBytes` at most. */
  beginning(): Buffer {
    return this.head
  }

  /** The last bytes. */
  end(): Buffer {
    return this.tail.subarray(Math.max(0, tailBytes - this.bytes))
  }

  /** Forgets what was written. */
  restart(): void {
    this.discard()
    this.hash = createHash("sha256")
    this.head = none
    this.found = undefined
    this.buffered = []
    this.bytes = this.bufferedBytes = this.collectedAt = 0
  }

  /** The type that its first bytes show; of a file that is not complete, the first `headBytes` must have been written. */
  type(): Promise<FoundType | undefined> {
    return (this.found ??= typeOf(this.head))
  }

  /**
   * Puts it in place under the name of its content, unless it is there. It is durable once `syncFiles` has returned.
   * `stored`: paths of files that are known to be whole.
   */
  async keep(stored?: ReadonlySet<string>): Promise<StoredFile> {
    const sha256 = this.hash.digest("hex")
    const type = await this.type()
    const path = join(filesName, sha256.slice(0, 2), sha256.slice(2) + endingOf(type, this.head))
    if (!stored?.has(path)) orDiskError(() => this.place(join(this.folder, path)))
    return { path, bytes: this.bytes, sha256, found: type?.mime }
  }

  discard(): void {
    if (this.file === undefined) return
    closeSync(this.file)
    rmSync(this.part, { force: true })
    this.file = undefined
  }

  private tooLarge(bytes: number | undefined): FileRejected {
    return new FileRejected(`the file is larger than files.max_bytes, ${this.bytesMax}`, "too large", { bytes })
  }

  private flush(): void {
    this.file ??= openIn(this.part, "w")
    for (const chunk of this.buffered) writeFileSync(this.file!, chunk)
    this.buffered = []
    this.bufferedBytes = 0
    if (this.bytes - this.collectedAt < collectEvery) return
    this.collectedAt = this.bytes
    collectChunks()
  }

  private place(target: string): void {
    if (this.file === undefined) {
      // A file that no row names yet may be cut.
      const file = openIn(target, "wx")
      if (file !== undefined) {
        for (const chunk of this.buffered) writeFileSync(file, chunk)
        return closeSync(file)
      }
    }
    this.flush()
    closeSync(this.file!)
    this.file = undefined
    makeFolder(dirname(target))
    renameSync(this.part, target)
  }
}

const none = Buffer.alloc(0)
let nextPart = 0
const partExtension = ".part"

/** Opens a file whose folder may be missing; `undefined` if it is there and must not be. */
const openIn = (path: string, flag: "w" | "wx"): number | undefined => {
  try {
    return openSync(path, flag, 0o600)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === "EEXIST" && flag === "wx") return undefined
    if (code !== "ENOENT") throw cause
    makeFolder(dirname(path))
    return openSync(path, flag, 0o600)
  }
}

const makeFolder = (path: string) => mkdirSync(path, { recursive: true, mode: 0o700 })

const orDiskError = (write: () => void): void => {
  try {
    write()
  } catch (cause) {
    throw new DiskError(messageOf(cause), { cause })
  }
}

/** The chunks of a large file are garbage that the engine sees late, because they lie outside its heap. */
const collectEvery = 8 * 1024 * 1024
const collectChunks = (): void => {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc")
    collect = runInNewContext("gc") as typeof collect
  }
  collect!({ type: "minor" })
}
let collect: ((options: { readonly type: "minor" }) => void) | undefined

/**
 * The type that the bytes themselves show: what a server says of a file is not trusted. The most frequent ones are seen
 * without the library, which needs as long for a type as it takes to write a small file.
 */
const typeOf = async (head: Buffer): Promise<FoundType | undefined> => {
  const start = head.toString("latin1", 0, 12)
  const seen = frequentTypes.find(({ signature }) => signature.test(start))
  if (seen !== undefined) return seen
  if (detect === undefined) {
    const { fileTypeFromBuffer } = await import("file-type")
    detect = fileTypeFromBuffer
  }
  return detect(head).catch(() => undefined)
}
let detect: ((bytes: Uint8Array) => Promise<FoundType | undefined>) | undefined

const frequentTypes = [
  { signature: /^\xff\xd8\xff[^\xf7]/, ext: "jpg", mime: "image/jpeg" },
  { signature: /^%PDF/, ext: "pdf", mime: "application/pdf" },
  { signature: /^GIF/, ext: "gif", mime: "image/gif" },
  { signature: /^RIFF.{4}WEBP/s, ext: "webp", mime: "image/webp" }
] as const

/**
 * The ending of the name of a file that a stranger has sent: what a browser or the system would run, such as SVG, XML, HTML or a
 * program, gets none by which it is opened. A text without an ending may be taken for HTML.
 */
const endingOf = (type: FoundType | undefined, head: Buffer): string => {
  if (type && isHarmless(type)) return `.${type.ext}`
  return head.includes(0) ? "" : ".txt"
}

/** Pictures, sounds, videos, fonts, and what is opened by a program of its own; everything else may be run. */
const isHarmless = ({ ext, mime }: FoundType): boolean =>
  (/^(image|audio|video|font)\//.test(mime) && !/xml|svg/.test(`${mime} ${ext}`)) || documents.has(ext)
const documents: ReadonlySet<string> = new Set(
  "pdf zip gz bz2 xz 7z rar tar zst docx xlsx pptx odt ods odp epub rtf cfb".split(" ")
)

/** The name of a stored file in an export. Files that earlier versions of sluice have stored may have any ending. */
export const exportedName = (path: string): string => {
  const name = basename(path)
  return runByBrowsers.test(name) ? `${name}.txt` : name
}
const runByBrowsers =
  /\.(svgz?|xml|xslt?|x?html?|xht|hta|chm|class|scpt|shtml|mht|mhtml|rss|atom|m?js|swf|wasm|jar|exe|elf|macho|lnk|crx|xpi|dmg|deb|rpm|apk|msi|bat|cmd|sh)$/i

/** Whether a path of a row is one that sluice gives to files; those of recordings had a folder of their own once. */
export const isStoredPath = (path: string): boolean =>
  new RegExp(`^${filesName}/([0-9a-f]{2}/[0-9a-f]{62}|recordings/[\\w-]+)(\\.[0-9a-z]+)?$`).test(path)

/** Makes stored files durable. */
export const syncFiles = async (folder: string, paths: ReadonlyArray<string>): Promise<void> => {
  // One call for the whole file system takes a tenth of the time of one for each file; not every system has it.
  const syncAll = () => new Promise((resolve) => execFile("sync", ["-f", folder], (error) => resolve(error === null)))
  if (paths.length > 100 && process.platform === "linux" && (await syncAll())) return
  for (const path of paths) {
    await using file = await open(join(folder, path), "r")
    await file.datasync()
  }
}

/** Whether a crash left a part of a file, in the folder of the files. */
export const isPartial = (name: string): boolean => name.endsWith(partExtension)
export const isUnrecorded = (name: string): boolean => name.endsWith(unrecordedExtension)
const unrecordedExtension = ".fetched"

/**
 * What was stored and is not in the vault yet: a process that is killed costs the files that it was fetching, and no other.
 * Nothing of it is flushed to disk: it need not outlive the machine.
 */
export const unrecordedOf = (folder: string, location: string) => {
  const path = join(folder, filesName, createHash("sha256").update(location).digest("hex") + unrecordedExtension)
  let file: number | undefined
  return {
    /** What killed runs have left. A last line that was cut is left out. */
    left: onDisk(path, "read", async () => {
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []
      return lines.map((line): unknown => JSON.parse(line))
    }),
    add: (records: ReadonlyArray<unknown>) => {
      file ??= openSync(path, "a", 0o600)
      writeSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""))
    },
    clear: () => {
      if (file !== undefined) closeSync(file)
      rmSync(path, { force: true })
    }
  }
}

/** The first bytes of a stored file, `headBytes` at most; none if it is missing. */
export const headOf = (folder: string, path: string) => {
  const place = join(folder, path)
  return onDisk(place, "read", async () => {
    const file = await open(place, "r").catch(ifMissing(undefined))
    if (file === undefined) return none
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  })
}

/** How a file differs from its row; `undefined` if it does not. `isWhole`: by its content, and not only by its size. */
export const differenceOf = (folder: string, row: Omit<StoredFile, "found">, isWhole: boolean) => {
  const file = join(folder, row.path)
  return onDisk(file, "read", async () => {
    const size = async () => (await stat(file).catch(() => undefined))?.size
    const found = isWhole ? await checksumIfPresent(file) : { bytes: await size(), sha256: row.sha256 }
    if (found?.bytes === undefined) return "missing"
    if (found.bytes !== row.bytes) return `it has ${counted(found.bytes, "byte")}; its row says ${row.bytes}`
    return found.sha256 === row.sha256 ? undefined : "its SHA-256 differs from its row"
  })
}

/** The paths of all files below `files`, relative to the output folder, in order. */
export const storedPaths = (folder: string): Effect.Effect<ReadonlyArray<string>, Failure> => {
  const { files } = outputPaths(folder)
  return onDisk(files, "read", async () => {
    const entries = await readdir(files, { recursive: true, withFileTypes: true }).catch(ifMissing<Array<Dirent>>([]))
    return entries
      .filter((entry) => !entry.isDirectory() && !isUnrecorded(entry.name))
      .map((entry) => join(filesName, join(entry.parentPath, entry.name).slice(files.length + 1)))
      .sort()
  })
}
