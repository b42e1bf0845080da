/**
 * Brings the bucket of a target up to date with the target's current release. What is about to be written is noted first, and
 * the manifest is written last; so whatever an interrupted delivery did is known to the next one, and not believed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
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
import { failure } from "../../values/failure.ts"
import { sluiceVersion } from "../../values/version.ts"
import { isLater, laterRun, previousRelease } from "../../stages/publish/manifest.ts"
import { ownerOf } from "../../output/folder.ts"
import type { Delivery, Receiver } from "../contract.ts"
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

/** Returns the files that were changed in the bucket. */
export const deliver = Effect.fn("bucket.deliver")(function* (
  { destination, name: target }: Receiver<BucketDestination>,
  { full, output, releases }: Pick<Delivery, "full" | "output" | "releases">
) {
  const release = yield* previousRelease(releases)
  // A release that was just published is complete.
  if (release === undefined) return []
  const owner = yield* ownerOf(output.folder)
  return yield* Effect.gen(function* () {
    const { attempt, requests } = yield* connect(target, destination)
    const [before, interrupted] = yield* attempt(() => Promise.all([readManifest(requests), readWriting(requests)]))
    if (!full && [before, interrupted].some((one) => one !== undefined && one.owner !== owner))
      return yield* failure({
        _tag: "DestinationFailed",
        target,
        detail: `${requests.place} has the release of another output folder; ./sluice publish --full replaces it`
      })
    if (!full && isLater(before?.run, release.manifest.run))
      return yield* failure({
        _tag: "DestinationFailed",
        target,
        detail: `${requests.place}: ${laterRun(before!.run)}`
      })
    const now = yield* Clock.currentTimeMillis
    if (before && !interrupted && !full && isCurrent(before, release.manifest, now)) return []
    const { manifest } = release
    const files = manifest.files.map(({ path, table, rows, bytes, sha256 }): BucketFile => ({
      path,
      object: objectOf({ path, sha256 }),
      table,
      rows,
      bytes,
      sha256
    }))
    const change = changeOf({ before, interrupted }, files, { full, isLarge, now, run: manifest.run })
    const { copied, due, stale, writing } = change
    yield* attempt(() => writeWriting(requests, { owner, ...writing }))
    yield* each(interrupted?.large ?? [], (object) => attempt(() => abortUploads(requests, object)))
    yield* send({ attempt, requests }, change, release.folder, full)
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
  }).pipe(Effect.scoped)
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
