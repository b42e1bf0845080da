/** Reads the manifest of the published release. */
import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { manifestName } from "../../output/paths.ts"

const PublishedFile = Schema.Struct({
  path: Schema.String,
  table: Schema.String,
  rows: Schema.Number,
  bytes: Schema.Number,
  sha256: Schema.String
})
export type PublishedFile = typeof PublishedFile.Type

const PublishedTable = Schema.Struct({
  schema: Schema.Literals(["crm", "crm_history"]),
  table: Schema.String,
  rows: Schema.Number,
  sum: Schema.String,
  untouchedSum: Schema.optional(Schema.String),
  columns: Schema.Record(Schema.String, Schema.String)
})
export type PublishedTable = typeof PublishedTable.Type

const Manifest = Schema.Struct({
  run: Schema.String,
  files: Schema.Array(PublishedFile),
  /** Absent from the manifests of earlier versions of sluice. */
  tables: Schema.optional(Schema.Array(PublishedTable)),
  formats: Schema.optional(Schema.Array(Schema.String)),
  csvProfile: Schema.optional(Schema.String)
})
export type Manifest = typeof Manifest.Type

/** The manifest, or why it cannot be used. */
export const readManifest = Effect.fnUntraced(function* (folder: string): Effect.fn.Return<Manifest | string> {
  const text = yield* Effect.promise(() => readFile(join(folder, manifestName), "utf8").catch((cause: Error) => cause))
  if (typeof text !== "string") return `it cannot be read: ${text.message}`
  return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Manifest))(text).pipe(
    Effect.catch(() => Effect.succeed("it is not a valid manifest"))
  )
})

/** The files of one table in one format, without the lists of altered cells. */
export const filesOf = ({ files }: Manifest, format: string, table: string): ReadonlyArray<PublishedFile> =>
  files.filter(
    (file) => file.table === table && file.path.startsWith(`${format}/`) && !file.path.endsWith(".escaped.csv")
  )
