import { createHash } from "node:crypto"
import type { AccountContext } from "../account/context.ts"
import type { Settings } from "../options.ts"
import { contentOf, isImage, largestNumber, pageNumber } from "./contents.ts"
import { signatureStyles } from "./signatures.ts"
import { type Trouble, drawnTroubles, troubleNames } from "./troubles.ts"

/** A document lies on the host of the API, and needs its token. */
export const linkStyles = ["plain", ...signatureStyles, "document"] as const
export type LinkStyle = (typeof linkStyles)[number]

/** A link says everything about itself in its path, so that the file host stores nothing. */
export interface Link {
  readonly locationId: string
  readonly style: LinkStyle
  readonly trouble: Trouble
  /** The number of its content. */
  readonly content: number
  /** Differs between links to the same content. */
  readonly key: string
  /** The end of the path, percent-encoded. */
  readonly name: string
}

/** Where records store links. A response shows the address of the file host instead, with a fresh signature. */
export const storedOrigin = "https://files.example"

export const pathOf = ({ content, key, locationId, name, style, trouble }: Link): string => {
  const kind = letters[linkStyles.indexOf(style)]! + String(troubleNames.indexOf(trouble)).padStart(2, "0")
  return `/${locationId}/${kind}${content.toString(36)}-${key}/${name}`
}

/** The link with this path; undefined for any other path. */
export const linkAt = (path: string): Link | undefined => {
  const found = new RegExp(`^${pathPattern}$`).exec(path)
  if (found === null) return undefined
  const [, locationId, letter, trouble, content, key, name] = found as unknown as ReadonlyArray<string>
  const kind = { style: linkStyles[letters.indexOf(letter!)]!, trouble: troubleNames[Number(trouble)] }
  if (kind.trouble === undefined) return undefined
  const { style } = kind
  return {
    locationId: locationId!,
    style,
    trouble: kind.trouble,
    content: Number.parseInt(content!, 36),
    key: key!,
    name: name!
  }
}

const letters = "pagskd"

/** Location, kind and key, name. */
export const pathPattern = '/([A-Za-z0-9]{20})/([pagskd])(\\d\\d)([0-9a-z]{1,8})-([0-9a-f]{12})/([^"\\\\/?#\\s<>]+)'

/** What a place requires of its link. */
export interface Wish {
  /** Collection, record and place, which select everything else. */
  readonly at: string
  readonly isImage?: boolean
  /** The record can also be read singly, so that a list may show an expired signature. */
  readonly isReadSingly?: boolean
  /** The file may lie on the host of the API. */
  readonly mayBeDocument?: boolean
  /** With troubles, this one: the first records of the account have one of each. */
  readonly trouble?: Trouble | undefined
  readonly isLargest?: boolean
  readonly locationId?: string
}

export const drawLink = (context: AccountContext, wish: Wish): Link => {
  const { seed, settings } = context
  const digest = createHash("sha1").update(`${seed} ${wish.at}`).digest()
  const [draw, roll, more] = [0, 4, 8].map((place) => digest.readUInt32LE(place)) as [number, number, number]
  const isDocument = wish.mayBeDocument === true && wish.trouble === undefined && more % 12 === 0
  const trouble = isDocument || wish.isLargest === true ? "none" : troubleOf(settings, wish, roll, more)
  const content = contentFor(settings, wish, trouble, draw)
  const { ending } = contentOf(settings, content)!
  return {
    locationId: wish.locationId ?? context.locationId,
    style: isDocument ? "document" : styleOf(trouble, more),
    trouble,
    content,
    key: digest.toString("hex", 12, 18),
    name: encodeURIComponent(`${names[(more >>> 8) % names.length]!}.${ending}`)
  }
}

const troubleOf = ({ fileTrouble }: Settings, wish: Wish, roll: number, more: number): Trouble => {
  if (fileTrouble === 0) return "none"
  const drawn = roll / 2 ** 32 < fileTrouble ? drawnTroubles[(more >>> 4) % drawnTroubles.length]! : "none"
  const trouble = wish.trouble ?? drawn
  return trouble === "expired" && wish.isReadSingly !== true ? "missing" : trouble
}

const styleOf = (trouble: Trouble, more: number): LinkStyle => {
  if (trouble === "private") return "plain"
  if (trouble === "expired") return signatureStyles[more % signatureStyles.length]!
  return styles[more % styles.length]!
}

const styles: ReadonlyArray<LinkStyle> = "plain plain plain plain plain amz amz goog sas keyPair".split(
  " "
) as Array<LinkStyle>

const contentFor = (settings: Settings, wish: Wish, trouble: Trouble, draw: number): number => {
  if (wish.isLargest === true) return largestNumber(settings)
  if (trouble === "pageAsPicture") return pageNumber(settings)
  const { fileContents } = settings
  const fits = (number: number): boolean => {
    const content = contentOf(settings, number)!
    if (trouble === "pictureAsPage" && content.type !== "image/png") return false
    // A body that is cut needs a middle.
    if (["cut", "short", "slow"].includes(trouble) && content.bytes < 2000) return false
    return wish.isImage !== true || isImage(content)
  }
  for (let step = 0; step < Math.min(fileContents, 60); step++) {
    const number = (draw + step) % fileContents
    if (fits(number)) return number
  }
  return draw % fileContents
}

const names = [
  "plan",
  "IMG_2041",
  "scan 3",
  "contract (signed)",
  "Angebot – Küche",
  "photo",
  "attachment",
  "v1.2 final"
]
