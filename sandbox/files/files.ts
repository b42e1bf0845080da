import type { Clock } from "../account/clock.ts"
import type { Settings } from "../options.ts"
import { type FileContent, contentOf, sha256Of } from "./contents.ts"
import { type Link, linkAt, pathOf, pathPattern, storedOrigin } from "./links.ts"
import { type SignatureStyle, signatureStyles, signedMs, signedQuery } from "./signatures.ts"
import type { Trouble } from "./troubles.ts"
import { FileStatistics } from "./statistics.ts"

/** The second host of an account: its addresses, and what has happened on it. An agency has one for all locations. */
export interface Files {
  readonly settings: Settings
  readonly clock: Clock
  /** The address of the file host; `storedOrigin` until it listens. */
  origin: string
  /** The address of the API, for documents. */
  apiOrigin: string
  /** An address that no client should reach; undefined if the machine does not permit it. */
  trap: string | undefined
  readonly secret: string
  readonly statistics: FileStatistics
  /** What was set for a link while the sandbox runs, by path. */
  readonly changes: Map<string, { readonly trouble?: Trouble; readonly content?: number }>
  /** The number of earlier requests of links whose answer depends on it. */
  readonly seen: Map<string, number>
  readonly digests: Map<number, string>
}

/** Undefined without the option `files`. */
export const createFiles = (settings: Settings, clock: Clock): Files | undefined =>
  settings.files
    ? {
        settings,
        clock,
        origin: storedOrigin,
        apiOrigin: storedOrigin,
        trap: undefined,
        secret: `secret of ${settings.seed}`,
        statistics: new FileStatistics(),
        changes: new Map(),
        seen: new Map(),
        digests: new Map()
      }
    : undefined

/** The link as it is now: with what was set for it. */
export const current = (link: Link, files: Files): Link => ({ ...link, ...files.changes.get(pathOf(link)) })

/** The content of a link, undefined if the account has none of that number. */
export const contentIn = (files: Files, link: Link): FileContent | undefined =>
  contentOf(files.settings, current(link, files).content)

export const digestIn = (files: Files, content: FileContent): string => {
  const known = files.digests.get(content.number) ?? sha256Of(content)
  files.digests.set(content.number, known)
  return known
}

/**
 * The JSON text of a response with the addresses of its links, signed now. In a list, the links with the trouble `expired`
 * have been signed two lifetimes earlier.
 */
export const showLinks = (text: string, isSingle: boolean, files: Files | undefined): string =>
  files === undefined || !(text.includes(storedOrigin) || text.includes(files.origin))
    ? text
    : text.replaceAll(storedPattern(files), (found: string, path: string) => {
        const link = linkAt(path)
        return link === undefined ? found : urlOf(link, isSingle, files)
      })

/** A link in its stored form, or as a response has shown it before. */
const storedPattern = ({ origin }: Files): RegExp => {
  const known = patterns.get(origin)
  if (known !== undefined) return known
  const origins = [storedOrigin, origin].map((one) => one.replaceAll(/[.[\]]/g, String.raw`\$&`)).join("|")
  const made = new RegExp(`(?:${origins})(${pathPattern.replaceAll("(", "(?:")})(?:\\?[^"\\\\\\s<>]*)?`, "g")
  patterns.set(origin, made)
  return made
}

const patterns = new Map<string, RegExp>()

const urlOf = (link: Link, isSingle: boolean, files: Files): string => {
  const path = pathOf(link)
  const { trouble } = current(link, files)
  if (link.style === "document") return `${files.apiOrigin}${documentPath}${path.split("/")[2]}`
  if (trouble === "private") return privateOrigin(link, files) + path
  if (!isSigned(link)) return files.origin + path
  const now = files.clock.now() - (trouble === "expired" && !isSingle ? 2 * signedMs : 0)
  return `${files.origin}${path}?${signedQuery(link.style as SignatureStyle, path, now, files.secret)}`
}

export const isSigned = ({ style }: Link): boolean => signatureStyles.some((name) => name === style)

/** The path of documents on the host of the API. */
export const documentPath = "/documents/download/"

/** The stored form of a link that a response has shown, or undefined for any other text. */
export const storedForm = (text: unknown, { origin }: Files): string | undefined => {
  if (typeof text !== "string") return undefined
  const host = [storedOrigin, origin].find((one) => text.startsWith(`${one}/`))
  return host === undefined ? undefined : storedOrigin + text.slice(host.length).split("?")[0]!
}

/** One of several spellings of an address that is not public; for half of the links, one where requests are counted. */
export const privateOrigin = (link: Pick<Link, "key">, { trap }: Files): string => {
  const draw = Number.parseInt(link.key.slice(0, 4), 16)
  return draw % 2 === 0 ? (trap ?? "http://127.0.0.2") : privateOrigins[(draw >>> 1) % privateOrigins.length]!
}

const privateOrigins = [
  "http://169.254.169.254",
  "http://10.0.0.1",
  "http://192.168.1.1",
  "http://[::ffff:169.254.169.254]",
  "http://[fd00::1]"
]
