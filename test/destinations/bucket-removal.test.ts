/** What stays in a bucket after an erasure, and after its last location was removed: also if the removal was stopped. */
import { assert, describe, it } from "@effect/vitest"
import * as Struct from "effect/Struct"
import { hash } from "node:crypto"
import {
  type BucketManifest,
  objectOf,
  readManifest,
  writeManifest,
  writeWriting
} from "../../src/destinations/bucket/manifest.ts"
import { removeAll, removeEarlier } from "../../src/destinations/bucket/remove.ts"
import { putBytes, removeObject } from "../../src/stores/objects/object.ts"
import { memoryBucket } from "../support/memory-bucket.ts"
import { randomFrom } from "../support/random.ts"

const paths = [
  "crm.duckdb",
  "csv/contacts.csv",
  "csv/notes.csv",
  "parquet/contacts.parquet",
  "parquet/bi/fct_sale.parquet"
]
/** Of a person who uses the same prefix. */
const foreign = ["mine.txt", "csv/mine.csv", "objects/mine.csv", "csv/contacts.csv.bak"]
const owner = "this folder"

/** A bucket after some nights of which each had other files, and the files of the last night. */
const after = async (seed: number, hidesVersions = false) => {
  const random = randomFrom(seed)
  const bucket = memoryBucket({ keepsVersions: random() < 0.7, pageSize: 1 + Math.floor(random() * 9), hidesVersions })
  const { requests } = bucket
  for (const name of foreign) for (const text of ["its", "own"]) await putBytes(requests, name, text)
  let manifest: BucketManifest | undefined
  const [sent, sentPaths] = [new Set<string>(), new Set<string>()]
  const nights = 1 + Math.floor(random() * 4)
  for (let night = 0; night < nights; night++) {
    const files = paths
      .filter((path) => path === "crm.duckdb" || random() < 0.6)
      .map((path) => {
        const text = `${path} of ${random() < 0.3 ? "all nights" : `night ${night}`}`
        const sha256 = hash("sha256", text)
        return { path, text, object: objectOf({ path, sha256 }), table: "t", rows: 1, bytes: text.length, sha256 }
      })
    await writeWriting(requests, {
      owner,
      objects: files.map(({ object }) => object),
      large: [],
      paths: files.map(({ path }) => path)
    })
    for (const { object, path, text } of files) {
      await putBytes(requests, object, text)
      await putBytes(requests, path, text)
      sent.add(object)
      sentPaths.add(path)
    }
    // A night that was stopped has written no manifest.
    if (night + 1 < nights && random() < 0.3) continue
    const [objects, present] = [new Set(files.map(({ object }) => object)), new Set(files.map(({ path }) => path))]
    for (const path of sentPaths.difference(present)) await removeObject(requests, path)
    const since = "2026-01-01T00:00:00.000Z"
    manifest = {
      tool: "sluice",
      owner,
      run: `run ${night}`,
      schemaVersion: "1",
      writtenAt: since,
      files: files.map((file) => Struct.omit(file, ["text"])),
      earlier: Array.from(sent.difference(objects), (object) => ({ object, since }))
    }
    await writeManifest(requests, manifest)
    await removeObject(requests, "objects/writing.json")
  }
  return { bucket, manifest: manifest! }
}
type Bucket = Awaited<ReturnType<typeof after>>["bucket"]

const ours = ({ versions }: Bucket) => versions().filter(({ name }) => !foreign.includes(name))
const theirs = ({ versions }: Bucket) => versions().filter(({ name }) => foreign.includes(name))

/** Stops the work after some requests, each time later, until one run of it ends. */
const stoppedOften = async (bucket: Bucket, random: () => number, work: () => Promise<unknown>) => {
  for (let most = 40; ; most += 20) {
    bucket.stopAfter(Math.floor(random() * most))
    const ended = await work().then(
      () => true,
      (cause: Error) => {
        assert.strictEqual(cause.message, "stopped")
        return false
      }
    )
    bucket.stopAfter(Number.POSITIVE_INFINITY)
    if (ended) return
  }
}

describe("a bucket, and what somebody else has below its prefix", () => {
  it.each(Array.from({ length: 24 }, (_, seed) => seed))(
    "keeps the present release after an erasure (%i)",
    async (seed) => {
      const { bucket, manifest } = await after(seed)
      const before = theirs(bucket)
      assert.isTrue(await removeEarlier(bucket.requests))
      const left = ours(bucket)
      assert.isTrue(left.every(({ isLatest }) => isLatest))
      assert.sameMembers(
        left.map(({ name }) => name),
        ["manifest.json", ...new Set(manifest.files.flatMap(({ object, path }) => [object, path]))]
      )
      for (const { object, path, sha256 } of manifest.files)
        for (const { name, text } of left)
          if (name === object || name === path) assert.strictEqual(hash("sha256", text), sha256)
      assert.deepStrictEqual(theirs(bucket), before)
      assert.deepStrictEqual((await readManifest(bucket.requests))?.earlier, [])
    }
  )

  it.each(Array.from({ length: 24 }, (_, seed) => seed))(
    "has nothing of ours after its last location (%i)",
    async (seed) => {
      const { bucket } = await after(seed)
      const [before, all] = [theirs(bucket), bucket.versions()]
      await removeAll(bucket.requests, "another folder")
      assert.deepStrictEqual(bucket.versions(), all)
      await removeAll(bucket.requests, owner)
      assert.deepStrictEqual(ours(bucket), [])
      assert.deepStrictEqual(theirs(bucket), before)
    }
  )

  it.each(Array.from({ length: 16 }, (_, seed) => seed))(
    "is the same if the removal was stopped (%i)",
    async (seed) => {
      const random = randomFrom(seed)
      const [erased, removed] = [await after(seed), await after(seed)]
      await stoppedOften(erased.bucket, random, () => removeEarlier(erased.bucket.requests))
      assert.isTrue(await removeEarlier(erased.bucket.requests))
      await stoppedOften(removed.bucket, random, () => removeAll(removed.bucket.requests, owner))
      assert.deepStrictEqual(ours(removed.bucket), [])
    }
  )

  it("is not said to be without earlier content if earlier manifests may not be read", async () => {
    const { bucket } = await after(1, true)
    assert.isFalse(await removeEarlier(bucket.requests))
  })

  it("is not said to be without earlier content if something of ours is there that the manifest does not name", async () => {
    const { bucket } = await after(1)
    await putBytes(bucket.requests, `objects/${"ab".repeat(32)}.csv`, "left")
    assert.isFalse(await removeEarlier(bucket.requests))
    assert.isFalse(await removeEarlier(memoryBucket({ keepsVersions: true, pageSize: 9 }).requests))
  })
})
