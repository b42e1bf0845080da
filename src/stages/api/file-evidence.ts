/**
 * Whether what a host sent is the file: a sign-in page, an error in JSON or XML, or nothing at all come with status 200 as
 * well. Each witness is heard: the first bytes, the type that the host announces, the ending of the link, and what the record
 * says of name, type and size.
 */

import type { IncomingFile } from "../../output/stored-files.ts"

/** What the record says of its file. */
export interface Said {
  readonly name?: string | null
  readonly type?: string | null
  readonly bytes?: number | null
}

export interface Received {
  /** The first bytes, and the last ones. */
  readonly head: Buffer
  readonly tail?: Buffer
  readonly bytes: number
  /** The MIME type that the first bytes have, if it has a signature. */
  readonly found: string | undefined
  /** The MIME type that the host announces. */
  readonly announced: string | undefined
  readonly url: string
}

/** What a file is, as far as witnesses distinguish it. */
type Class = "picture" | "media" | "pdf" | "package" | "page" | "json" | "xml" | "text"

/** Endings of names and subtypes of MIME types, and the class of each. */
const classes: ReadonlyMap<string, Class> = new Map(
  Object.entries({
    picture:
      "png jpg jpeg pjpeg jfif gif webp bmp x-ms-bmp tif tiff heic heif avif ico x-icon vnd.microsoft.icon svg svg+xml",
    media:
      "mp3 mpeg wav x-wav vnd.wave wave m4a x-m4a aac ogg oga opus flac amr mp4 m4v mov quicktime webm avi mkv 3gp 3gpp",
    pdf: "pdf",
    package:
      "zip x-zip-compressed gz gzip 7z rar doc docx msword xls xlsx ppt pptx odt ods odp " +
      "vnd.openxmlformats-officedocument.wordprocessingml.document vnd.openxmlformats-officedocument.spreadsheetml.sheet " +
      "vnd.openxmlformats-officedocument.presentationml.presentation vnd.ms-excel vnd.ms-powerpoint x-cfb",
    page: "html htm xhtml xhtml+xml",
    json: "json jsonl ndjson geojson ipynb har",
    xml: "xml xsd xsl kml gpx rss atom plist",
    text: "txt plain csv vcf vcard calendar ics md markdown rtf log"
  } satisfies Record<Class, string>).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind as Class]))
)

/** Classes whose files are recognised by their first bytes. */
const signed: ReadonlySet<Class> = new Set(["picture", "media", "pdf", "package"])
/** XHTML is both. */
const markup: ReadonlySet<Class> = new Set(["page", "xml"])

const ofType = (type: string | null | undefined): Class | undefined => {
  const [kind, subtype] = (type ?? "").replace(/;.*/s, "").trim().toLowerCase().split("/")
  const known = classes.get(subtype ?? kind!) ?? classes.get(/\+(xml|json)$/.exec(subtype ?? "")?.[1] ?? "")
  return known ?? (kind === "image" ? "picture" : kind === "audio" || kind === "video" ? "media" : undefined)
}
const ofName = (name: string | null | undefined): Class | undefined =>
  classes.get(/\.([a-z0-9]{1,5})$/i.exec((name ?? "").trim())?.[1]?.toLowerCase() ?? "")

const nameIn = (url: string): string => URL.parse(url)?.pathname ?? ""

/** The byte order mark of UTF-16 as Windows writes it. */
const wideMark = Buffer.from([0xff, 0xfe])

/** What a text is by its beginning. */
const ofText = (head: Buffer): Class | undefined => {
  const isWide = head.subarray(0, 2).equals(wideMark)
  if (!isWide && head.includes(0)) return undefined
  const start = head.toString(isWide ? "utf16le" : "utf8").replace(/^\uFEFF?(\s|<!--[^]*?-->)*/, "")
  if (/^(<!doctype html|<(html|head|body|title|meta|script)\b)/i.test(start)) return "page"
  if (/^(<\?xml[^]*?\?>)?(\s|<!--[^]*?-->|<!doctype svg[^>]*>)*<svg\b/i.test(start)) return "picture"
  if (/^<(\?xml|[a-z][\w:.-]*[\s>/])/i.test(start)) return /<html\b/i.test(start.slice(0, 1000)) ? "page" : "xml"
  return /^[[{]\s*(["[{}\]\d-]|true|false|null)/.test(start) ? "json" : undefined
}

/** Why what was received is not the file; `undefined` if nothing contradicts it. */
export const contradictionIn = (
  { announced, bytes, found, head, tail, url }: Received,
  { bytes: size, name, type }: Said
): string | undefined => {
  /** What the record and the link say that it is. */
  const own = [ofType(type), ofName(name), ofName(nameIn(url))].filter((one) => one !== undefined)
  const reported = own.length > 0 ? own : [ofType(announced)].filter((one) => one !== undefined)
  const isSized = size !== null && size !== undefined && size > 0
  if (bytes === 0)
    return size !== 0 && (isSized || reported.some((one) => signed.has(one)))
      ? "the host sent an empty file"
      : undefined
  const shown = ofType(found)
  // A drawing (SVG) is XML by its first bytes, too.
  const seen = shown === "xml" ? ofText(head) : (shown ?? ofText(head))
  if (seen !== undefined && signed.has(seen)) {
    // A host may convert a picture. What no name says is another file.
    const isAnother = own.length > 0 && own.every((one) => one !== seen && one !== "text")
    if (isAnother) return `the host sent ${words[seen]} in place of ${words[own[0]!]}`
    const end = ends.find(([begin]) => head.includes(begin) && head.indexOf(begin) < 1024)?.[1]
    if (tail && end && !tail.includes(end)) return `the host sent ${words[seen]} without its end`
    return isSized && size !== bytes && seen !== "picture"
      ? `the host sent ${bytes} bytes, and the record says ${size}`
      : undefined
  }
  // A log or a list may begin like data, if all the others say what it is.
  if (seen !== undefined && own.includes("text") && ofType(announced) === "text" && isSized && size === bytes)
    return undefined
  // Whoever keeps a page or data as a file says so.
  if (seen !== undefined && !own.some((one) => one === seen || (markup.has(one) && markup.has(seen))))
    return `the host sent ${words[seen]} in place of a file`
  const isNoPdf = own.length > 0 && own.every((one) => one === "pdf") && !head.includes("%PDF")
  if (!isPlain(head)) return isNoPdf ? "the host sent something else in place of a PDF file" : undefined
  if (reported.length > 0 && reported.every((one) => signed.has(one)))
    return `the host sent a text in place of ${words[reported[0]!]}`
  return isSized && size !== bytes ? `the host sent a text of ${bytes} bytes, and the record says ${size}` : undefined
}

/** The same of a file that has arrived whole. `announced`: its MIME type by the host. */
export const contradictionOf = async (
  incoming: IncomingFile,
  announced: string | undefined,
  url: string,
  said: Said
): Promise<string | undefined> => {
  const found = (await incoming.type())?.mime
  const { bytes } = incoming
  return contradictionIn({ head: incoming.beginning(), tail: incoming.end(), bytes, found, announced, url }, said)
}

/** How files begin that say themselves where they end, and what is at their end. */
const ends = (
  [
    ["%PDF-", "%%EOF"],
    ["\u0089PNG\r\n", "IEND"],
    ["PK\u0003\u0004", "PK\u0005\u0006"]
  ] as const
).map((texts) => texts.map((text) => Buffer.from(text, "latin1")) as [Buffer, Buffer])

const isPlain = (head: Buffer): boolean => {
  if (head.includes(0)) return false
  // The first bytes may end within a character.
  const text = head.toString("utf8")
  return !text.slice(0, -1).includes("\uFFFD")
}

const words: Readonly<Record<Class, string>> = {
  picture: "a picture",
  media: "a recording",
  pdf: "a PDF file",
  package: "an archive or an office file",
  page: "a page (HTML)",
  json: "data (JSON)",
  xml: "data (XML)",
  text: "a text"
}
