/**
 * The formats of files. A new one is a folder with a `format.ts`, and a line here: the settings, the commands, the releases and
 * the checks follow.
 */
import * as Struct from "effect/Struct"
import * as Effect from "effect/Effect"
import type { Format } from "./format.ts"

interface Entry {
  readonly mediatype: string
  readonly load: () => Promise<{ readonly format: Format }>
}

const entries = {
  parquet: { mediatype: "application/vnd.apache.parquet", load: () => import("./parquet/format.ts") },
  csv: { mediatype: "text/csv", load: () => import("./csv/format.ts") },
  ndjson: { mediatype: "application/x-ndjson", load: () => import("./ndjson/format.ts") }
} satisfies Record<string, Entry>

export type FormatName = keyof typeof entries

export const formatNames = Struct.keys(entries)
export const mediatypeOf = (format: FormatName): string => entries[format].mediatype

/** The code of a format is loaded when it is needed. */
export const loadFormat = (name: FormatName): Effect.Effect<Format> =>
  Effect.promise(async () => (await (entries[name] as Entry).load()).format)
