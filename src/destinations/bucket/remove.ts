/** Removes what sluice has made in a bucket. What else is below the prefix is somebody else's. */
import { isObjectName } from "../../output/names.ts"
import { manifestName } from "../../output/paths.ts"
import type { Requests } from "../../stores/objects/bucket.ts"
import { type Version, listVersions } from "../../stores/objects/list.ts"
import { removeObject } from "../../stores/objects/object.ts"
import { type BucketManifest, pathsOfVersion, readManifest, writeManifest, writingName } from "./manifest.ts"

/**
 * What an erasure does with a bucket, after it got a new release: earlier objects are removed at once, whoever may read them.
 * Returns whether the bucket has no earlier content any more, according to a list of all its objects.
 */
export const removeEarlier = async (requests: Requests): Promise<boolean> => {
  const manifest = await readManifest(requests)
  if (manifest === undefined) return false
  for (const { object } of manifest.earlier) await removeObject(requests, object)
  await writeManifest(requests, { ...manifest, earlier: [] })
  const { isOwn, isPermitted, own } = await ownVersions(requests, manifest)
  const earlier = own.filter(({ isLatest }) => !isLatest)
  await removeVersions(requests, earlier)
  const wanted = new Set([manifestName, ...manifest.files.flatMap(({ object, path }) => [object, path])])
  const present = await listVersions(requests)
  return isPermitted && present?.every(({ isLatest, name }) => (isLatest && wanted.has(name)) || !isOwn(name)) === true
}

/** Removes everything that sluice has made in the bucket of an output folder, the manifest last. */
export const removeAll = async (requests: Requests, owner: string): Promise<void> => {
  const manifest = await readManifest(requests)
  if (manifest?.owner !== owner) return
  const { own } = await ownVersions(requests, manifest)
  const named = [
    ...manifest.files.flatMap(({ object, path }) => [object, path]),
    ...manifest.earlier.map(({ object }) => object)
  ]
  for (const name of new Set([...own.map((one) => one.name), ...named]))
    if (name !== manifestName) await removeObject(requests, name)
  await removeVersions(requests, own)
  await removeObject(requests, manifestName)
}

/** By what says which names are ours, a removal that was stopped is continued: it goes last, and its latest version after all. */
const removeVersions = async (requests: Requests, versions: ReadonlyArray<Version>) => {
  const oldestFirst = versions.toReversed()
  for (const { id, name } of [...oldestFirst.filter((one) => !saysNames(one)), ...oldestFirst.filter(saysNames)])
    if (id !== "") await requests.send("DELETE", name, { query: { versionId: id }, accept: [404] })
}

const saysNames = ({ name }: Version): boolean => name === manifestName || name === writingName

/** What has a name of this release, or one that an earlier version of the manifest has. */
const ownVersions = async (requests: Requests, { files, owner }: BucketManifest) => {
  const versions = (await listVersions(requests)) ?? []
  const said: Array<ReadonlyArray<string> | undefined> = []
  for (const version of versions.filter(saysNames)) said.push(await pathsOfVersion(requests, version, owner))
  const paths = [...files.map(({ path }) => path), ...said.flatMap((some) => some ?? [])]
  const names = new Set([manifestName, writingName, ...paths])
  const isOwn = (name: string) => names.has(name) || isObjectName(name)
  return { isOwn, isPermitted: !said.includes(undefined), own: versions.filter(({ name }) => isOwn(name)) }
}
