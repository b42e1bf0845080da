/**
 * The output folder of a location in a bucket. A file is cut into chunks, which a snapshot names by its own id and their
 * checksums: what has not changed since the last snapshot is not uploaded again. A manifest lists the chunks of each file.
 * Neither ever changes, so a worker that has lost its location overwrites nothing, and removes nothing that a later snapshot
 * has uploaded; which manifest counts is in the database.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash, randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, open, readFile, readdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileNameOf, leadsDown } from "../../../output/names.ts"
import { outputFiles, portableFiles } from "../../../output/contents.ts"
import { writeAtomically } from "../../../output/files.ts"
import { removeBelow } from "../../../output/remove.ts"
import type { Objects } from "./objects.ts"

export type Session = Awaited<ReturnType<typeof openSession>>

/** Makes the folder ready for a run of the worker that owns the location. `current`: the snapshot that counts, if there is one. */
export const openSession = async (objects: Objects, location: string, folder: string, current: string | undefined) => {
  const place = { objects, location, folder }
  let base: Manifest | undefined
  let saved: Manifest | undefined
  if (current !== undefined) {
    // What this worker did after that snapshot is still there, and nobody else has done anything since.
    if ((await derivesFrom(folder)) === current) base = await readManifest(place, current)
    else {
      await forgetDerived(folder)
      base = await restore(place, current)
      await markDerived(folder, current)
    }
  }
  return {
    /** Uploads a snapshot of a run that has ended. Returns its name. */
    saveAll: async () => {
      saved = await saveFolder(place, base)
      return saved.name
    },
    /** Uploads what a run has sealed since the last snapshot; undefined if nothing. */
    saveSealed: async () => {
      const sealed = await saveSealed(place, base)
      saved = sealed ?? saved
      return sealed?.name
    },
    /** The database has the name of the last snapshot, which counts from then on. */
    commit: async () => {
      const before = base
      base = saved!
      await markDerived(folder, base.name)
      if (before !== undefined) await removeUnused(objects, location, before, base)
    }
  }
}

const Content = Schema.Struct({
  /** The chunks of each file, as `<snapshot>/<checksum>`. */
  files: Schema.Record(Schema.String, Schema.Array(Schema.String))
})
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Content))

type Manifest = typeof Content.Type & {
  /** Its name in the bucket. */
  readonly name: string
}

/** DuckDB changes few blocks of a large file; a chunk is also what is in memory at one time. */
const chunkBytes = 4 * 1024 * 1024

const vaultName = outputFiles.vault.name
/** It is replaced all at once. */
const tokensName = outputFiles.tokens.name

const chunkName = (location: string, chunk: string) => `${fileNameOf(location)}/chunks/${chunk}`
const manifestsOf = (location: string) => `${fileNameOf(location)}/manifests/`

interface Place {
  readonly objects: Objects
  readonly location: string
  readonly folder: string
}

/** Writes the files of a manifest into a folder, in the place of what it contains. */
const restore = async ({ folder, location, objects }: Place, name: string): Promise<Manifest> => {
  const manifest = await readManifest({ location, objects }, name)
  await removeBelow(dirname(folder), folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [path, chunks] of Object.entries(manifest.files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
    const file = await open(join(folder, path), "w", 0o600)
    try {
      for (const chunk of chunks) {
        const content = await objects.get(chunkName(location, chunk))
        if (content === undefined || checksumOf(content) !== checksumIn(chunk))
          throw new Error(`${chunkName(location, chunk)} is ${content === undefined ? "missing" : "damaged"}`)
        await file.appendFile(content)
      }
    } finally {
      await file.close()
    }
  }
  return manifest
}

const isChunk = (name: string): boolean => /^[\w-]+\/[0-9a-f]{64}$/.test(name)

/** A manifest comes from a bucket that others may write to, and its name from a database: only names that sluice makes count. */
const readManifest = async ({ location, objects }: Omit<Place, "folder">, name: string): Promise<Manifest> => {
  const own = manifestsOf(location)
  if (!name.startsWith(own) || !/^[\w-]+\.json$/.test(name.slice(own.length)))
    throw new Error(`${JSON.stringify(name)} is not the name of a manifest of ${location}`)
  const text = await objects.get(name)
  if (text === undefined) throw new Error(`${name} is missing`)
  const content = decode(text.toString())
  if (Option.isNone(content)) throw new Error(`${name} is not a manifest`)
  for (const [path, chunks] of Object.entries(content.value.files)) {
    if (!leadsDown(path)) throw new Error(`${name} names a file outside: ${path}`)
    const foreign = chunks.find((chunk) => !isChunk(chunk))
    if (foreign !== undefined) throw new Error(`${name} names ${JSON.stringify(foreign)}, which is no chunk of sluice`)
  }
  return { name, ...content.value }
}

/** Uploads what is new in the folder of a sync that has ended. */
const saveFolder = async (place: Place, base: Manifest | undefined): Promise<Manifest> =>
  upload(place, (await portableFiles(place.folder)).files, base, {})

/**
 * As `saveFolder`, while the sync runs: adds the sealed segments of the vault, which do not change, and the tokens of an app,
 * because each refresh token works once. Undefined if nothing is new.
 */
const saveSealed = async (place: Place, base: Manifest | undefined): Promise<Manifest | undefined> => {
  const { folder } = place
  const names = await readdir(join(folder, vaultName)).catch(() => [])
  const sealed = names.filter((name) => name.endsWith(".ndjson.zst")).map((name) => `${vaultName}/${name}`)
  const fresh = sealed.filter((path) => base?.files[path] === undefined)
  const tokens = await readFile(join(folder, tokensName)).catch(() => undefined)
  const savedTokens = base?.files[tokensName]?.[0]
  if (tokens !== undefined && (savedTokens === undefined || checksumOf(tokens) !== checksumIn(savedTokens)))
    fresh.push(tokensName)
  if (fresh.length === 0) return undefined
  // The vault removes a plain segment beside its sealed copy, so the snapshot may have both.
  return upload(place, fresh, base, base?.files ?? {})
}

const upload = async (
  { folder, location, objects }: Place,
  paths: ReadonlyArray<string>,
  base: Manifest | undefined,
  kept: Manifest["files"]
): Promise<Manifest> => {
  const snapshot = randomUUID()
  const known = new Map(
    Object.values(base?.files ?? {})
      .flat()
      .map((chunk) => [checksumIn(chunk), chunk])
  )
  const files: Record<string, ReadonlyArray<string>> = { ...kept }
  for (const path of paths) {
    const chunks: Array<string> = []
    for await (const content of createReadStream(join(folder, path), { highWaterMark: chunkBytes })) {
      const checksum = checksumOf(content)
      const chunk = known.get(checksum) ?? `${snapshot}/${checksum}`
      if (!known.has(checksum)) await objects.put(chunkName(location, chunk), content)
      known.set(checksum, chunk)
      chunks.push(chunk)
    }
    files[path] = chunks
  }
  const name = `${manifestsOf(location)}${snapshot}.json`
  await objects.put(name, new Uint8Array(Buffer.from(JSON.stringify({ files }))))
  return { name, files }
}

/** Removes what only an earlier manifest needs. */
const removeUnused = async (objects: Objects, location: string, before: Manifest, now: Manifest) => {
  const used = new Set(Object.values(now.files).flat())
  for (const chunk of new Set(Object.values(before.files).flat()))
    if (!used.has(chunk)) await objects.remove(chunkName(location, chunk))
  await objects.remove(before.name)
}

const checksumIn = (chunk: string): string => chunk.replace(/^[^/]*\//, "")

const checksumOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** Beside the folder: the manifest from which its content derives. */
const markOf = (folder: string) => `${folder}.manifest`

const derivesFrom = async (folder: string): Promise<string | undefined> =>
  readFile(markOf(folder), "utf8").catch(() => undefined)

const forgetDerived = (folder: string): Promise<void> => rm(markOf(folder), { force: true })

const markDerived = (folder: string, name: string): Promise<void> => writeAtomically(markOf(folder), name)
