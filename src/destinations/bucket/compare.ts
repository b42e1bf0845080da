/** Compares the bucket of a target with the target's release. */
import { Effect } from "effect"
import { join } from "node:path"
import { connect } from "./connect.ts"
import { type BucketFile, readManifest } from "./manifest.ts"
import { previousRelease } from "../../stages/publish/manifest.ts"
import type { Comparison, Receiver } from "../contract.ts"
import type { BucketDestination } from "./settings.ts"
import { type Compared, compareObject, prepareFile } from "../../stores/objects/object.ts"
import { type VerifyFinding, counted, note, wrong, compared } from "../../values/finding.ts"

const requestsTogether = 8

/** Every file of the release is in the manifest, and every object is what the manifest says. */
export const checkBucket = Effect.fn("verify.bucket")(function* (
  { destination, name }: Receiver<BucketDestination>,
  { releases }: Comparison
) {
  const { place } = destination
  const release = yield* previousRelease(releases)
  if (release === undefined)
    return compared("nothing", [wrong(releases, "there is no release, or a file of it was changed")])
  return yield* Effect.gen(function* () {
    const { attempt, requests } = yield* connect(name, destination)
    const manifest = yield* attempt(() => readManifest(requests))
    if (manifest === undefined) return compared("nothing", [wrong(place, "it has no manifest")])
    const findings: Array<VerifyFinding> = []
    const sumByPath = new Map(manifest.files.map(({ path, sha256 }) => [path, sha256]))
    for (const { path, sha256 } of release.manifest.files)
      if (sumByPath.get(path) !== sha256)
        findings.push(
          wrong(path, `the manifest of ${place} has ${sumByPath.has(path) ? "another content" : "no such file"}`)
        )
    const paths = new Set(release.manifest.files.map(({ path }) => path))
    for (const { path } of manifest.files)
      if (!paths.has(path)) findings.push(wrong(path, `the release does not have it, and ${place} has`))
    const verdicts = yield* Effect.forEach(
      manifest.files,
      (file) =>
        attempt(async () => {
          const content = await contentOf(file, release.folder)
          return Promise.all(
            [file.object, file.path].map(async (name) => [name, await compareObject(requests, name, content)] as const)
          )
        }),
      { concurrency: requestsTogether }
    )
    let sizesOnly = 0
    for (const [object, status] of verdicts.flat()) {
      if (status === "unknown") sizesOnly++
      else if (status !== "same") findings.push(wrong(`${place}/${object}`, wrongText[status]))
    }
    if (sizesOnly > 0)
      findings.push(
        note(
          place,
          `of ${counted(sizesOnly, "object")}, only the size was compared: the service reports no checksum of the whole`
        )
      )
    return compared(`${counted(manifest.files.length, "file")}, compared with the release`, findings)
  }).pipe(Effect.scoped)
})

const wrongText: Readonly<Record<Exclude<Compared, "same" | "unknown">, string>> = {
  missing: "it is missing",
  other: "its content is not that of the manifest"
}

/** With the checksums of a file that the release still has, so that services are understood that know no SHA-256. */
const contentOf = async (file: BucketFile, folder: string) => {
  const prepared = await prepareFile(join(folder, file.path)).catch(() => undefined)
  await prepared?.close()
  return prepared?.content.sha256 === file.sha256 ? prepared.content : file
}
