import type { IncomingHttpHeaders } from "node:http"
import type { FileContent } from "./contents.ts"
import { type Files, current } from "./files.ts"
import type { Link } from "./links.ts"

export interface FileHeaders {
  readonly "Content-Type": string
  readonly "Content-Disposition"?: string
  readonly "Accept-Ranges": "bytes" | "none"
  readonly ETag?: string
  readonly "Last-Modified"?: string
}

const dayMs = 86_400_000

/** Some hosts send no strong validator, some no date, and some serve no ranges. */
export const headersOf = (stored: Link, content: FileContent, files: Files): FileHeaders => {
  const link = current(stored, files)
  const draw = Number.parseInt(link.key.slice(8, 12), 16)
  const { now } = files.settings
  // A content has one time, so a link whose content was changed has another.
  const modified = now - ((content.number * 7919) % 900) * dayMs - dayMs
  return {
    "Content-Type": announcedType(link, content),
    ...(link.trouble === "name" && { "Content-Disposition": hostileNames[draw % hostileNames.length]! }),
    ...(link.trouble !== "name" &&
      draw % 5 === 0 && { "Content-Disposition": `attachment; filename*=UTF-8''${link.name}` }),
    "Accept-Ranges": hasRanges(link) ? "bytes" : "none",
    ...(draw % 10 !== 1 && { ETag: `"${content.number.toString(16).padStart(8, "0")}-${content.bytes.toString(16)}"` }),
    ...(draw % 10 !== 2 && { "Last-Modified": new Date(modified).toUTCString() })
  }
}

export const announcedType = ({ trouble }: Link, { type }: FileContent): string =>
  trouble === "pictureAsPage" ? "text/html" : trouble === "pageAsPicture" ? "image/png" : type

export const hasRanges = ({ key }: Link): boolean => Number.parseInt(key.slice(0, 2), 16) % 5 < 3

/** Whether the client has the file already. A date is compared only if no tag was sent. */
export const conditional = (sent: IncomingHttpHeaders, { ETag, "Last-Modified": modified }: FileHeaders): boolean => {
  const tags = sent["if-none-match"]
  if (tags !== undefined) {
    const known = tags.split(",").map((tag) => tag.trim().replace(/^W\//, ""))
    return ETag !== undefined && (known.includes(ETag) || known.includes("*"))
  }
  const since = Date.parse(sent["if-modified-since"] ?? "")
  return modified !== undefined && Date.parse(modified) <= since
}

/** The requested part, without `end`; undefined if the whole file is sent. */
export const rangeOf = (
  sent: IncomingHttpHeaders,
  headers: FileHeaders,
  bytes: number
): { start: number; end: number } | "unsatisfiable" | undefined => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(sent.range ?? "") ?? []
  if (headers["Accept-Ranges"] === "none" || first === undefined || `${first}${last}` === "") return undefined
  const condition = sent["if-range"]
  if (condition !== undefined && condition !== headers.ETag && condition !== headers["Last-Modified"]) return undefined
  const start = first === "" ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === "" || last === "" ? bytes : Math.min(bytes, Number(last) + 1)
  return start >= end ? "unsatisfiable" : { start, end }
}

const hostileNames = [
  'attachment; filename="../../etc/passwd"',
  "attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd",
  String.raw`attachment; filename="..\\..\\Windows\\win.ini"`,
  `attachment; filename="${"long".repeat(100)}.pdf"`,
  'attachment; filename="CON"'
]
