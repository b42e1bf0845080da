/** A bucket: the files of a release as objects, and a manifest that names them. */
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import type { Receiver, Work } from "../contract.ts"
import { checkBucket } from "./compare.ts"
import { look, stage } from "./deliver.ts"
import { guarded } from "../guarded.ts"
import type { BucketDestination } from "./settings.ts"
import { ownerOf } from "../../output/folder.ts"
import { isObjectName } from "../../output/names.ts"
import { manifestName } from "../../output/paths.ts"
import { listVersions } from "../../stores/objects/list.ts"
import { putBytes, removeObject } from "../../stores/objects/object.ts"
import { connect } from "./connect.ts"
import { type BucketManifest, readManifest, writeManifest, writingName } from "./manifest.ts"

/**
 * What an erasure does with a bucket, after it got a new release: earlier objects are removed at once, whoever may read them.
 * Returns whether the bucket has no earlier content any more, according to a list of all its objects.
 */
const removeEarlierObjects = Effect.fn("bucket.removeEarlierObjects")(function* ({
  destination,
  name
}: Receiver<BucketDestination>) {
  const { attempt, requests } = yield* connect(name, destination)
  return yield* attempt(async () => {
    const manifest = await readManifest(requests)
    if (manifest === undefined) return false
    for (const { object } of manifest.earlier) await removeObject(requests, object)
    await writeManifest(requests, { ...manifest, earlier: [] })
    const isOwn = ownNames(manifest)
    for (const { id, isLatest, name } of (await listVersions(requests)) ?? [])
      if (!isLatest && isOwn(name)) await requests.send("DELETE", name, { query: { versionId: id }, accept: [404] })
    const wanted = new Set(manifest.files.flatMap(({ object, path }) => [object, path]).concat(manifestName))
    const present = await listVersions(requests)
    return present?.every(({ isLatest, name }) => (isLatest && wanted.has(name)) || !isOwn(name)) ?? false
  })
}, Effect.scoped)

/** Removes everything that sluice has made in the bucket of an output folder, the manifest last. */
const removeAll = Effect.fn("bucket.removeAll")(function* (
  { destination, name: target }: Receiver<BucketDestination>,
  owner: string
) {
  const { attempt, requests } = yield* connect(target, destination)
  yield* attempt(async () => {
    const manifest = await readManifest(requests)
    if (manifest?.owner !== owner) return
    const isOwn = ownNames(manifest)
    const own = async () => ((await listVersions(requests)) ?? []).filter(({ name }) => isOwn(name))
    const named = [
      ...manifest.files.flatMap(({ object, path }) => [object, path]),
      ...manifest.earlier.map((one) => one.object)
    ]
    const names = new Set([...(await own()).map(({ name }) => name), ...named])
    for (const name of names) if (name !== manifestName) await removeObject(requests, name)
    await removeObject(requests, manifestName)
    for (const { id, name } of await own())
      await requests.send("DELETE", name, { query: { versionId: id }, accept: [404] })
  })
}, Effect.scoped)

/** What else is below the prefix is somebody else's. */
const ownNames = ({ files }: BucketManifest) => {
  const names = new Set([manifestName, writingName, ...files.map(({ path }) => path)])
  return (name: string) => names.has(name) || isObjectName(name)
}

export const work: Work<BucketDestination> = {
  part: "published",
  checkOf: (name) => `bucket ${name}`,
  needs: "The key needs the rights in docs/destinations.md.",
  probe: Effect.fnUntraced(function* ({ destination, name }) {
    const { attempt, requests } = yield* connect(name, destination)
    const object = `.sluice-${randomUUID()}`
    yield* attempt(() => readManifest(requests))
    yield* attempt(() => putBytes(requests, object, "sluice"))
    yield* attempt(() => removeObject(requests, object))
  }),
  deliver: guarded({ words: ({ destination }) => ({ to: destination.place, unit: "file" }), look, stage }),
  compare: checkBucket,
  forget: removeEarlierObjects,
  remove: Effect.fnUntraced(function* (to, { isLast, output }) {
    yield* isLast ? removeAll(to, yield* ownerOf(output)) : removeEarlierObjects(to)
  })
}
