/** `manifest.json` of a release: its files with their checksums, its tables, and the state from which they were made. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { ReleasePath } from "./names.ts"
import { manifestName } from "./paths.ts"

const Texts = Schema.Record(Schema.String, Schema.String)

const PublishedFile = Schema.Struct({
  /** Relative to the published folder. */
  path: ReleasePath,
  /** `*`: the file contains all tables. */
  table: Schema.String,
  rows: Schema.Number,
  bytes: Schema.Number,
  /** Hexadecimal. */
  sha256: Schema.String,
  /** When the file was last modified, epoch milliseconds. A file that somebody has modified since is written anew. */
  modifiedMs: Schema.optionalKey(Schema.Number)
})
export type PublishedFile = typeof PublishedFile.Type

/** A table, the same in every format of a release. */
const TableContent = Schema.Struct({
  /** The schema in DuckDB: current rows or earlier versions. */
  schema: Schema.Literals(["crm", "crm_history"]),
  table: Schema.String,
  rows: Schema.Number,
  /** The checksum of the rows. */
  sum: Schema.String,
  /** Types by column, in the order of the columns. */
  columns: Texts
})
export type TableContent = typeof TableContent.Type

/** The state from which a release is made. */
const ReleaseState = Schema.Struct({
  /** Fingerprint of the tables, views and comments. */
  definitions: Schema.String,
  /** Versions by table and wide view. Equal versions have equal content. */
  versions: Texts,
  models: Schema.optionalKey(Texts),
  /** The same of views, whatever rows they show. */
  views: Schema.optionalKey(Texts),
  /** Size of the DuckDB file when it was last written anew; 0 without this file. */
  fullBytes: Schema.Number,
  /** What DuckDB had when a model could not be built: with more, it may be. */
  memoryMb: Schema.optionalKey(Schema.Number)
})

/** What is optional is absent from the manifests of earlier versions of sluice. */
const Manifest = Schema.Struct({
  tool: Schema.optionalKey(Schema.String),
  run: Schema.String,
  /** The id of the output folder that made the release, if it is of a target. */
  owner: Schema.optionalKey(Schema.String),
  schemaVersion: Schema.optionalKey(Schema.String),
  /** ISO 8601. */
  writtenAt: Schema.optionalKey(Schema.String),
  /** When a publish last found that the release shows the content of the warehouse, ISO 8601. */
  confirmedAt: Schema.optionalKey(Schema.String),
  formats: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Of a release before 1.1.0: `spreadsheet` if its CSV files have altered texts. */
  csvProfile: Schema.optionalKey(Schema.String),
  state: Schema.optionalKey(ReleaseState),
  /** Models that could not be built. The release has an earlier table of some. */
  problems: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        model: Schema.String,
        problem: Schema.String,
        kept: Schema.optional(Schema.Struct({ run: Schema.String, at: Schema.String }))
      })
    )
  ),
  tables: Schema.optionalKey(Schema.Array(TableContent)),
  files: Schema.Array(PublishedFile)
})
export type Manifest = typeof Manifest.Type

export interface Totals {
  readonly tables: number
  /** Of child tables as well, with the rows of deleted records. */
  readonly rows: number
}

export const totalsOf = (tables: ReadonlyArray<{ readonly schema: string; readonly rows: number }> = []): Totals => {
  const current = tables.filter(({ schema }) => schema === "crm")
  return { tables: current.length, rows: current.reduce((sum, { rows }) => sum + rows, 0) }
}

/** What counts of a manifest: `status` would take a fifth longer if it decoded all of it. */
const Counts = Schema.Struct({ tables: Schema.Array(Schema.Struct({ schema: Schema.String, rows: Schema.Number })) })
const decodeCounts = Schema.decodeUnknownOption(Schema.fromJsonString(Counts))

/** `undefined` without a release. */
export const releasedTotals = async (folder: string): Promise<Totals | undefined> => {
  const text = await readFile(join(folder, manifestName), "utf8").catch(() => "")
  return Option.getOrUndefined(Option.map(decodeCounts(text), ({ tables }) => totalsOf(tables)))
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Manifest))

/** Rejects with an error that says why it cannot be used. `folder`: that of the release, or the link to it. */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const manifest = decode(await readFile(join(folder, manifestName), "utf8"))
  if (Option.isNone(manifest)) throw new Error("it is not a valid manifest")
  return manifest.value
}
