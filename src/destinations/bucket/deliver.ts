/**
 * Brings the bucket of a target up to date with the target's current release. What is about to be written is noted first, and
 * the manifest is written last; so whatever an interrupted delivery did is known to the next one, and not believed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import { join, parse } from "node:path"
import {
  abortUploads,
  compareObject,
  copyObject,
  isForeign,
  partBytes,
  prepareFile,
  putFile,
  removeObject
} from "../../stores/objects/object.ts"
import { listObjects } from "../../stores/objects/list.ts"
import type { Failure } from "../../values/failure.ts"
import { sluiceVersion } from "../../values/version.ts"
import type { Receiver } from "../contract.ts"
import type { Permitted } from "../guarded.ts"
import { type Change, changeOf, isCurrent } from "./change.ts"
import { type Connected, connect } from "./connect.ts"
import type { BucketDestination } from "./settings.ts"
import {
  type BucketFile,
  type BucketManifest,
  type Writing,
  objectOf,
  readManifest,
  readWriting,
  writeManifest,
  writeWriting,
  writingName
} from "./manifest.ts"

const filesTogether = 4
const requestsTogether = 8

/** One listing of the prefix against the manifest: what a person or a rule of the bucket has removed is missing. */
export const look = Effect.fn("bucket.look")(function* (
  { destination, name: target }: Receiver<BucketDestination>,
  { owner }: { readonly owner: string }
) {
  const { attempt, requests } = yield* connect(target, destination)
  const [manifest, interrupted, listed] = yield* attempt(() =>
    Promise.all([readManifest(requests), readWriting(requests), listObjects(requests)])
  )
  if (manifest === undefined && interrupted === undefined) return undefined
  if (listed === undefined)
    yield* Effect.logWarning(
      `${requests.place} may not be listed with this key, so what is missing there is not found: see docs/destinations.md`
    )
  const named = (manifest?.files ?? []).flatMap(({ bytes, object, path }) => [
    { name: object, bytes },
    { name: path, bytes }
  ])
  const missing = listed ? named.filter(({ bytes, name }) => listed.get(name) !== bytes).map(({ name }) => name) : []
  const foreign = [manifest, interrupted].find((one) => one !== undefined && one.owner !== owner)
  return { owner: foreign?.owner ?? owner, run: manifest?.run, missing, manifest, interrupted }
}, Effect.scoped)

type There = NonNullable<Effect.Success<ReturnType<typeof look>>>

/** Sends the objects, which nobody reads before the files are made of them and the manifest names them. */
export const stage = Effect.fn("bucket.stage")(function* (
  to: Receiver<BucketDestination>,
  { found: there, full, owner, release }: Permitted<There>
) {
  const { manifest } = release!
  const now = yield* Clock.currentTimeMillis
  if (there && isCurrent({ ...there, before: there.manifest }, manifest, now)) return undefined
  const files = manifest.files.map((file): BucketFile => ({
    ...Struct.pick(file, ["path", "table", "rows", "bytes", "sha256"]),
    object: objectOf(file)
  }))
  const use = <A>(work: (connected: Connected) => Effect.Effect<A, Failure>) =>
    Effect.scoped(Effect.flatMap(connect(to.name, to.destination), work))
  // What is there is known also if nothing of it is believed: it is replaced.
  const { interrupted, manifest: before, missing = [] } = there ?? (yield* look(to, { owner })) ?? {}
  const change = changeOf({ before, interrupted, missing }, files, { full, isLarge, now, run: manifest.run })
  const { copied, due, stale, writing } = change
  yield* use(({ attempt, requests }) =>
    Effect.gen(function* () {
      yield* attempt(() => writeWriting(requests, { owner, ...writing }))
      yield* each(interrupted?.large ?? [], (object) => attempt(() => abortUploads(requests, object)))
      yield* send({ attempt, requests }, change, release!.folder, full)
    })
  )
  return use(({ attempt, requests }) =>
    Effect.gen(function* () {
      yield* each(copied, (file) => attempt(() => copyObject(requests, file.object, file.path, file)))
      const ours = contentsOf(before, interrupted)
      yield* each([...stale, ...due], (name) =>
        Effect.gen(function* () {
          const bytes = before?.files.find(({ path }) => path === name)?.bytes
          if (!(yield* attempt(() => isForeign(requests, name, { bytes, sums: ours }))))
            return yield* attempt(() => removeObject(requests, name))
          yield* Effect.logWarning(
            `${requests.place}/${name} stays: its content is none that sluice has sent, although the manifest in the bucket names it`
          )
        })
      )
      yield* attempt(() =>
        writeManifest(requests, {
          tool: `sluice ${sluiceVersion}`,
          owner,
          run: manifest.run,
          schemaVersion: manifest.schemaVersion,
          writtenAt: change.writtenAt,
          files,
          earlier: change.earlier
        })
      )
      yield* attempt(() => removeObject(requests, writingName))
      return [...copied.map(({ path }) => path), ...stale]
    })
  )
})

/** SHA-256 of everything that earlier deliveries have sent: an object is named by that of its content. */
const contentsOf = (before: BucketManifest | undefined, interrupted: Writing | undefined): ReadonlySet<string> => {
  const objects = [
    ...(before?.files ?? []).map(({ object }) => object),
    ...(before?.earlier ?? []).map(({ object }) => object),
    ...(interrupted?.objects ?? [])
  ]
  return new Set([...(before?.files ?? []).map(({ sha256 }) => sha256), ...objects.map((name) => parse(name).name)])
}

const each = <A, E>(some: ReadonlyArray<A>, work: (one: A) => Effect.Effect<unknown, E>) =>
  Effect.forEach(some, work, { concurrency: requestsTogether, discard: true })

const isLarge = ({ bytes }: BucketFile): boolean => bytes > partBytes

/** The many small files side by side, then the large ones, whose parts are side by side. */
const send = Effect.fnUntraced(function* (
  { attempt, requests }: Connected,
  { perhaps, sent }: Change,
  folder: string,
  full: boolean
) {
  const sendFile = ({ object, path, sha256 }: BucketFile) =>
    attempt(async () => {
      const source = join(folder, path)
      const prepared = await prepareFile(source)
      try {
        if (prepared.content.sha256 !== sha256) throw new Error(`${source} was changed`)
        if (!full && perhaps.has(object) && (await compareObject(requests, object, prepared.content)) === "same") return
        await putFile(requests, object, prepared)
      } finally {
        await prepared.close()
      }
    })
  const [small, large] = [sent.filter((file) => !isLarge(file)), sent.filter(isLarge)]
  yield* Effect.forEach(small, sendFile, { concurrency: filesTogether, discard: true })
  yield* Effect.forEach(large, sendFile, { discard: true })
})
