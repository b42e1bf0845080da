/** The records of the ledger. Each one is a line: its canonical JSON, with the SHA-256 of the line before it. */
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { nodeCrypto } from "../../values/node.ts"

const kinds = [
  "sync",
  "backfill",
  "publish",
  "rebuild",
  "target",
  "export",
  "erase",
  "hold",
  "maintain",
  "release",
  "retention",
  "reidentify",
  "prune",
  "remove",
  "query"
] as const
export type Kind = (typeof kinds)[number]

/** Ids and figures; never personal data, because a record is never removed. */
export type Detail = { readonly [key: string]: Json }

const Record = Schema.Struct({
  seq: Schema.Int,
  /** ISO 8601. */
  at: Schema.String,
  kind: Schema.Literals(kinds),
  /** Hexadecimal SHA-256 of the line before, without its line feed. */
  previous: Schema.String,
  detail: Schema.Record(Schema.String, Schema.Json)
})
export type LedgerRecord = typeof Record.Type

/** The end of a ledger: the number of its records, and the SHA-256 of the last one. */
export interface Head {
  readonly seq: number
  readonly sha256: string
}

export const emptyHead: Head = { seq: 0, sha256: "0".repeat(64) }

export const sha256Of = (line: string | Buffer): string => nodeCrypto().createHash("sha256").update(line).digest("hex")

export const lineAfter = (head: Head, at: string, kind: Kind, detail: Detail): string =>
  canonicalJson({ seq: head.seq + 1, at, kind, previous: head.sha256, detail })

/** `undefined` if the line is not a record as `lineAfter` writes it. */
export const recordOf = (line: string): LedgerRecord | undefined => {
  const decoded = Schema.decodeUnknownExit(Schema.fromJsonString(Record))(line)
  if (!Exit.isSuccess(decoded)) return undefined
  const { value } = decoded
  return canonicalJson(value as unknown as Json) === line ? value : undefined
}

/** As `bag-info.txt` and `status` write it. */
export const headText = ({ seq, sha256 }: Head): string => `${seq} ${sha256}`

/** The JSON Canonicalization Scheme (RFC 8785): one text for one value, so that a checksum stands for the value. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** JavaScript sorts strings by UTF-16 code units and writes numbers as the RFC requires both. */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(",")}]`
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value as { readonly [key: string]: Json })
    const sorted = members.sort(([one], [other]) => (one < other ? -1 : 1))
    return `{${sorted.map(([key, member]) => `${canonicalJson(key)}:${canonicalJson(member)}`).join(",")}}`
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${value} is not a number of JSON`)
  if (typeof value === "string" && !value.isWellFormed())
    throw new Error("A text with half a surrogate pair has no UTF-8")
  return JSON.stringify(value)
}
