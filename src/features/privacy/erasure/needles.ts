/** The forms in which programs store a text that identifies a person. */
import { createHash } from "node:crypto"
import { literal } from "../../../stores/warehouse/sql.ts"

export interface Wanted {
  /** What the text is, as a report may say it: `email 1`. */
  readonly label: string
  /** The digits of a phone number. */
  readonly text: string
}

export interface Needle {
  readonly label: string
  readonly form: string
  /** The longest match, in bytes. */
  readonly bytes: number
  /** Whether bytes, read as Latin-1 and in lower case, contain it. */
  readonly isIn: (text: string) => boolean
}

/** Base64 of a longer text contains that of its inner bytes. */
export const needlesOf = ({ label, text }: Wanted): ReadonlyArray<Needle> => {
  const lower = text.toLowerCase()
  const utf8 = Buffer.from(text)
  const bytesOf = (value: string) => Buffer.from(value).toString("latin1").toLowerCase()
  const hashes = ["md5", "sha1", "sha256"].map((algorithm) => createHash(algorithm).update(lower).digest("hex"))
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), utf8])
      .toString("base64")
      .replace(/=+$/, "")
    return encoded.slice(shift === 0 ? 0 : shift + 1, encoded.length - ((shift + utf8.length) % 3 === 0 ? 0 : 1))
  })
  const forms: ReadonlyArray<readonly [string, string]> = [
    ...(isPhone({ label })
      ? []
      : ([
          ["plain", text],
          [
            "JSON",
            JSON.stringify(text)
              .slice(1, -1)
              .replaceAll(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
          ],
          ["URL", encodeURIComponent(text)]
        ] as const)),
    ...base64.map((value) => ["base64", value] as const),
    ...hashes.map((value) => ["hash", value] as const)
  ]
  const seen = new Set<string>()
  return [
    ...(isPhone({ label }) ? [phoneNeedle(label, text)] : []),
    ...forms.flatMap(([form, value]) => {
      const bytes = bytesOf(value)
      if (bytes.length < 6 || seen.has(bytes)) return []
      seen.add(bytes)
      return [{ label, form, bytes: bytes.length, isIn: (searched: string) => searched.includes(bytes) }]
    })
  ]
}

const isPhone = ({ label }: { readonly label: string }): boolean => label.startsWith("phone")

const phoneNeedle = (label: string, digits: string): Needle => {
  const pattern = new RegExp(`(?<![0-9])${phonePattern(digits)}(?![0-9])`)
  return {
    label,
    form: "plain",
    bytes: (digits.length + 2) * (separatorsMax * 3 + 1),
    isIn: (searched) => pattern.test(searched)
  }
}

/** Between two digits, for example in `+1 (415) 555-0199`. */
const separatorsMax = 3

/** Between fewer digits than this, what looks like separators may be those of a day. */
const separatedMin = 9

/** A regular expression for a phone number as people write it; for JavaScript and DuckDB. The digits around it are left open. */
const phonePattern = (digits: string): string =>
  `(?:00|0)?${[...digits].join(digits.length < separatedMin ? "" : `(?:[ ()./\u00c2\u00a0-]|%2[089]){0,${separatorsMax}}`)}`

/** SQL: whether a text contains what is wanted. */
export const containsSql = (value: string, { label, text }: Wanted): string =>
  isPhone({ label })
    ? `regexp_matches(${value}, ${literal(`(^|[^0-9])${phonePattern(text)}($|[^0-9])`)})`
    : `contains(lower(${value}), ${literal(text.toLowerCase())})`
