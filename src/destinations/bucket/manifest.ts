/**
 * What a bucket has, below the prefix of a target:
 * - `objects/<sha256>.parquet` and the like: the content of the files, each once, which never changes
 * - `manifest.json`: the files of the current release and their objects; one request replaces it, last of all
 * - the files by the names that they have in the release, which are copies of the objects
 * - `objects/writing.json`: while a release is being written, what may be other than the manifest says
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { extname } from "node:path"
import type { PublishedFile } from "../../output/manifest.ts"
import { manifestName } from "../../output/paths.ts"
import { ObjectName, ReleasePath } from "../../output/names.ts"
import { type Requests, BucketError } from "../../stores/objects/bucket.ts"
import type { Version } from "../../stores/objects/list.ts"
import { putBytes } from "../../stores/objects/object.ts"

export const objectFolder = "objects/"
export const writingName = `${objectFolder}writing.json`

const BucketFile = Schema.Struct({
  /** The name in the release, below the prefix. */
  path: ReleasePath,
  /** The name of its content, below the prefix. */
  object: ObjectName,
  /** `*`: the file contains all tables, or describes them. */
  table: Schema.String,
  rows: Schema.Number,
  bytes: Schema.Number,
  /** Hexadecimal. */
  sha256: Schema.String
})
export type BucketFile = typeof BucketFile.Type

const BucketManifest = Schema.Struct({
  tool: Schema.String,
  /** The id of the output folder from which the bucket is written. */
  owner: Schema.String,
  run: Schema.String,
  schemaVersion: Schema.String,
  /** ISO 8601. */
  writtenAt: Schema.String,
  files: Schema.Array(BucketFile),
  /** Objects of earlier releases, and since when no manifest names them among its files. */
  earlier: Schema.Array(Schema.Struct({ object: ObjectName, since: Schema.String }))
})
export type BucketManifest = typeof BucketManifest.Type

const Writing = Schema.Struct({
  owner: Schema.String,
  objects: Schema.Array(ObjectName),
  /** Those that are sent in parts. */
  large: Schema.Array(ObjectName),
  paths: Schema.Array(ReleasePath)
})
export type Writing = typeof Writing.Type

export const objectOf = ({ path, sha256 }: Pick<PublishedFile, "path" | "sha256">): string =>
  `${objectFolder}${sha256}${extname(path)}`

export const readManifest = (requests: Requests) => readJson(requests, manifestName, BucketManifest)
export const readWriting = (requests: Requests) => readJson(requests, writingName, Writing)

export const writeManifest = (requests: Requests, manifest: BucketManifest) =>
  putBytes(requests, manifestName, `${JSON.stringify(manifest, null, 1)}\n`)
export const writeWriting = (requests: Requests, writing: Writing) =>
  putBytes(requests, writingName, JSON.stringify(writing))

/** `undefined` if there is none. */
const readJson = async <A>({ place, send }: Requests, name: string, schema: Schema.Codec<A, unknown>) => {
  const { body, status } = await send("GET", name, { accept: [404] })
  if (status === 404) return undefined
  const content = decoded(body, schema)
  if (Option.isNone(content))
    throw new BucketError(
      `${place}/${name} was not written by sluice, or was changed since: it has another form, or names something that sluice does not make. Nothing was removed. Name another prefix, or find out who can write there and remove this object`,
      ""
    )
  return content.value
}

const decoded = <A>(body: Buffer, schema: Schema.Codec<A, unknown>) =>
  Schema.decodeUnknownOption(Schema.fromJsonString(schema))(body.toString("utf8"))

/** The paths in a manifest, or in the note of an interrupted delivery, of this owner. `undefined`: it may not be read. */
export const pathsOfVersion = async ({ send }: Requests, { id, isLatest, name }: Version, owner: string) => {
  const { body, status } = await send("GET", name, { query: isLatest ? {} : { versionId: id }, accept: [403, 404] })
  if (status === 403) return undefined
  const found = Option.getOrUndefined(decoded(body, Schema.Union([BucketManifest, Writing])))
  if (found?.owner !== owner) return []
  return "files" in found ? found.files.map(({ path }) => path) : found.paths
}
