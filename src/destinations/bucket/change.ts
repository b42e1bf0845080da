/** What a delivery has to do, from what the bucket has according to its manifest, and from what an interrupted one may have done. */
import type { BucketFile, BucketManifest, Writing } from "./manifest.ts"

/** For so long, readers of a manifest find its objects; those that the current manifest replaced stay until the next one. */
const graceMs = 24 * 3_600_000

interface Found {
  readonly before: BucketManifest | undefined
  readonly interrupted: Writing | undefined
  /** Objects that the manifest names, and the bucket has not, or in another size. */
  readonly missing?: ReadonlyArray<string>
}

interface Options {
  /** Believe nothing of what the bucket has. */
  readonly full: boolean
  readonly isLarge: (file: BucketFile) => boolean
  /** Epoch milliseconds. */
  readonly now: number
  readonly run: string
}

export type Change = ReturnType<typeof changeOf>
export const changeOf = (
  { before, interrupted, missing }: Found,
  files: ReadonlyArray<BucketFile>,
  { full, isLarge, now, run }: Options
) => {
  const filesBefore = before?.files ?? []
  const [doubtfulObjects, doubtfulPaths] = [new Set(interrupted?.objects), new Set(interrupted?.paths)]
  const trusted = full ? [] : filesBefore
  const lost = new Set(missing)
  const isThere = (name: string) => !lost.has(name) && !doubtfulObjects.has(name)
  const known = new Set(trusted.map(({ object }) => object).filter(isThere))
  const sent = [...new Map(files.map((file) => [file.object, file])).values()].filter(
    ({ object }) => !known.has(object)
  )
  const objectByPath = new Map(
    trusted.filter(({ path }) => !doubtfulPaths.has(path) && !lost.has(path)).map(({ object, path }) => [path, object])
  )
  const copied = files.filter(({ object, path }) => objectByPath.get(path) !== object)
  const paths = new Set(files.map(({ path }) => path))
  const stale = [...new Set([...filesBefore.map(({ path }) => path), ...doubtfulPaths])].filter(
    (path) => !paths.has(path)
  )
  const isSame = before?.run === run && sent.length + copied.length + stale.length === 0
  const writtenAt = isSame ? before.writtenAt : new Date(now).toISOString()
  const all = earlierObjects({ before, interrupted }, files, writtenAt)
  const due = all.filter(isDue(now, writtenAt))
  return {
    /** Objects to send; it may be that some of them are there already. */
    sent,
    /** Objects of `sent` that may be there. */
    perhaps: new Set([...(before?.earlier ?? []).map(({ object }) => object), ...doubtfulObjects]),
    /** Files that are to be made from their objects. */
    copied,
    /** Files that the release does not have. */
    stale,
    /** Objects that no reader needs any more. */
    due: due.map(({ object }) => object),
    /** Those that stay, and no file of the release has. */
    earlier: all.filter((one) => !due.includes(one)),
    /** Of the manifest, ISO 8601: it is the same while the release is. */
    writtenAt,
    writing: {
      objects: [...new Set([...doubtfulObjects, ...sent.map(({ object }) => object)])],
      large: [...new Set([...(interrupted?.large ?? []), ...sent.filter(isLarge).map(({ object }) => object)])],
      paths: [...new Set([...doubtfulPaths, ...copied.map(({ path }) => path), ...stale])]
    }
  }
}

/** Every object that the bucket may have and the files do not need, with the time since when it is so. */
const earlierObjects = (
  { before, interrupted }: Omit<Found, "missing">,
  files: ReadonlyArray<BucketFile>,
  writtenAt: string
) => {
  const since = new Map((before?.earlier ?? []).map((one) => [one.object, one.since]))
  for (const object of [...(before?.files ?? []).map((file) => file.object), ...(interrupted?.objects ?? [])])
    if (!since.has(object)) since.set(object, writtenAt)
  for (const { object } of files) since.delete(object)
  return Array.from(since, ([object, time]) => ({ object, since: time }))
}

/** What the manifest of `writtenAt` has replaced is not among them. */
const isDue =
  (now: number, writtenAt: string) =>
  ({ since }: BucketManifest["earlier"][number]): boolean =>
    since !== writtenAt && Date.parse(since) + graceMs <= now

/** Whether the bucket has the release, whole, and nothing is to be removed yet. */
export const isCurrent = (
  { before, interrupted, missing = [] }: Found,
  release: { readonly run: string; readonly files: ReadonlyArray<Pick<BucketFile, "path" | "sha256">> },
  now: number
): boolean => {
  if (before === undefined || interrupted || missing.length > 0) return false
  const sumByPath = new Map(before.files.map(({ path, sha256 }) => [path, sha256]))
  return (
    before.run === release.run &&
    sumByPath.size === release.files.length &&
    release.files.every(({ path, sha256 }) => sumByPath.get(path) === sha256) &&
    !before.earlier.some(isDue(now, before.writtenAt))
  )
}
