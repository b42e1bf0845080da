import { createHash } from "node:crypto"
import { Random, streams } from "../account/random.ts"
import type { Settings } from "../options.ts"

/** The bytes behind links, by number: many links share a content. All follow from the number, so that none is stored. */
export interface FileContent {
  readonly number: number
  readonly type: string
  /** The usual end of a name. */
  readonly ending: string
  readonly bytes: number
}

export const megabyte = 1_048_576

/** The page with a script, which follows the ordinary contents. */
export const pageNumber = ({ fileContents }: Settings): number => fileContents

/** The one of the size `fileMb`. */
export const largestNumber = ({ fileContents }: Settings): number => fileContents + 1

/** Undefined for a number that the account does not have. */
export const contentOf = (settings: Settings, number: number): FileContent | undefined => {
  if (number === pageNumber(settings)) return { number, type: "text/html", ending: "html", bytes: page.length }
  if (number === largestNumber(settings) && settings.fileMb > 0) {
    return { number, type: "application/zip", ending: "zip", bytes: Math.round(settings.fileMb * megabyte) }
  }
  if (!(number >= 0 && number < settings.fileContents)) return undefined
  const [type, ending] = kinds[number % kinds.length]!
  return { number, type, ending, bytes: settings.fileBytes > 0 ? settings.fileBytes : sizeOf(settings, number, type) }
}

/** Small files are frequent, as in a live account: from 60 bytes to 300 kB; some texts are empty. */
const sizeOf = ({ seed, location }: Settings, number: number, type: string): number => {
  if (type === "text/plain" && number % 40 === 7) return 0
  return Math.floor(60 * 5000 ** new Random(seed - location, streams.file, number).unit())
}

export const isImage = ({ type }: FileContent): boolean => type.startsWith("image/")

/** The bytes from `start` to `end`, without `end`, in parts of at most 64 kB. */
export function* bytesOf(content: FileContent, start = 0, end = content.bytes): Generator<Buffer> {
  if (content.type === "text/html") return void (yield page.subarray(start, end))
  const last = ends[content.type] ?? Buffer.alloc(0)
  const lastAt = content.bytes - last.length
  for (let at = start; at < end;) {
    const block = Math.floor(at / blockBytes)
    const offset = at - block * blockBytes
    const length = Math.min(end - at, blockBytes - offset)
    const part = partOf(content, block, offset, length)
    if (at + length > lastAt) last.copy(part, Math.max(0, lastAt - at), Math.max(0, at - lastAt))
    yield part
    at += length
  }
}

/** A part of a block. Each block begins with a mark of its content and its place, so that no two are equal. */
const partOf = ({ number, type }: FileContent, block: number, offset: number, length: number): Buffer => {
  const part = Buffer.allocUnsafe(length)
  const filling = type === "text/plain" ? prose : noise
  filling.copy(part, 0, offset, offset + length)
  const mark = Buffer.from(`[${number.toString(36).padStart(6, "0")}:${block.toString(36).padStart(6, "0")}]`)
  const start = block === 0 ? Buffer.concat([headers[type]!, mark]) : mark
  if (offset < start.length) start.copy(part, 0, offset)
  return part
}

export const sha256Of = (content: FileContent): string => {
  const hash = createHash("sha256")
  for (const part of bytesOf(content)) hash.update(part)
  return hash.digest("hex")
}

const blockBytes = 65_536

const noise = Buffer.alloc(blockBytes)
const prose = Buffer.alloc(blockBytes, "The gate code is 4711. Please ring twice – the dog is friendly.\n")
for (let random = new Random(1, streams.file, -1), place = 0; place < blockBytes; place += 4) {
  noise.writeUInt32LE(random.word(), place)
}

const page = Buffer.from(
  '<!doctype html><title>Photo</title><script>fetch("/cookies?" + document.cookie)</script><h1>A photo</h1>\n'
)

/** Every second one is an image. */
const kinds: ReadonlyArray<readonly [type: string, ending: string]> = [
  ["image/jpeg", "jpg"],
  ["application/pdf", "pdf"],
  ["image/png", "png"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["image/webp", "webp"],
  ["audio/mpeg", "mp3"],
  ["image/gif", "gif"],
  ["text/plain", "txt"],
  ["image/jpeg", "jpg"],
  ["application/zip", "zip"]
]

/** The last bytes by which programs see that a file is whole. */
const directory = Buffer.from("PK\x05\x06".padEnd(22, "\0"), "latin1")
const ends: Record<string, Buffer> = {
  "image/png": Buffer.from("0000000049454e44ae426082", "hex"),
  "application/pdf": Buffer.from("\n%%EOF\n"),
  "application/zip": directory,
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": directory
}

/** The first bytes by which programs recognise a kind of file. */
const headers: Record<string, Buffer> = {
  "image/jpeg": Buffer.from("ffd8ffe000104a46494600010100000100010000", "hex"),
  "image/png": Buffer.from("89504e470d0a1a0a0000000d49484452000000400000004008020000", "hex"),
  "image/gif": Buffer.from("GIF89a"),
  "image/webp": Buffer.from("RIFF\xff\xff\x00\x00WEBPVP8 ", "latin1"),
  "application/pdf": Buffer.from("%PDF-1.7\n"),
  "audio/mpeg": Buffer.from("ID3\x04\x00\x00\x00\x00\x00\x00"),
  "text/plain": Buffer.from("Notes\n"),
  "application/zip": Buffer.from("PK\x03\x04\x14\x00\x00\x00\x00\x00", "latin1"),
  // A first member with this name is what tells a document from any other archive.
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": Buffer.concat([
    Buffer.from("504b030414000600080000002100000000000000000000000000000000001300", "hex").subarray(0, 28),
    Buffer.from("0000", "hex"),
    Buffer.from("[Content_Types].xml")
  ])
}
