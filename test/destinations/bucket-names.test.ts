/** What a bucket says of itself is input like any other: only names that sluice makes are ever removed. */
import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { changeOf } from "../../src/destinations/bucket/change.ts"
import {
  type BucketManifest,
  type Writing,
  objectOf,
  readManifest,
  readWriting
} from "../../src/destinations/bucket/manifest.ts"
import { type Requests, openBucket } from "../../src/stores/objects/bucket.ts"
import { isForeign } from "../../src/stores/objects/object.ts"

const sum = "0123456789abcdef".repeat(4)
const fileOf = (path: string) => ({
  path,
  object: objectOf({ path, sha256: sum }),
  table: "t",
  rows: 1,
  bytes: 1,
  sha256: sum
})
const files = ["crm.duckdb", "csv/contacts.csv", "parquet/bi/fct_invoice/part-0.parquet", "datapackage.json"].map(
  fileOf
)
const earlier = [{ object: `objects/${sum}.csv`, since: "2026-01-01T00:00:00.000Z" }]
const good: BucketManifest = {
  tool: "sluice",
  owner: "me",
  run: "r",
  schemaVersion: "1",
  writtenAt: "2026-01-01T00:00:00.000Z",
  files,
  earlier
}
const writing: Writing = { owner: "me", objects: [`objects/${sum}.csv`], large: [], paths: ["csv/contacts.csv"] }

const bucketWith = (content: unknown): Requests => ({
  place: "s3://b/crm",
  bucket: "b",
  prefix: "crm/",
  send: () => Promise.resolve({ status: 200, headers: new Headers(), body: Buffer.from(JSON.stringify(content)) })
})
const refused = async (reading: Promise<unknown>) =>
  assert.match(
    String(await reading.catch((cause: unknown) => cause)),
    /was not written by sluice, or was changed since.*Nothing was removed/
  )

const foreign = [
  "../precious.txt",
  "../../elsewhere/backup.tar",
  "../other/precious.txt",
  "mine.txt",
  "/precious",
  "",
  "csv/../../precious.csv",
  "objects/../../precious",
  `../objects/${sum}.csv`,
  "manifest.json",
  "%2e%2e/precious.txt",
  "csv//x.csv"
]

describe("a manifest in a bucket", () => {
  it("is read as sluice writes it", async () => {
    assert.deepStrictEqual(await readManifest(bucketWith(good)), good)
    assert.deepStrictEqual(await readWriting(bucketWith(writing)), writing)
  })

  it.each(foreign)("that names %j in any place is refused", async (name) => {
    await refused(readManifest(bucketWith({ ...good, files: [...files, { ...files[0], path: name }] })))
    await refused(readManifest(bucketWith({ ...good, files: [...files, { ...files[0], object: name }] })))
    await refused(readManifest(bucketWith({ ...good, earlier: [...earlier, { ...earlier[0], object: name }] })))
    for (const member of ["objects", "large", "paths"])
      await refused(readWriting(bucketWith({ ...writing, [member]: [name] })))
  })

  it("leads to the removal of what a release has no more, and of nothing else", () => {
    const { due, stale } = changeOf({ before: good, interrupted: writing }, files.slice(1), {
      full: false,
      isLarge: () => false,
      now: Date.parse("2026-03-01"),
      run: "s"
    })
    assert.deepStrictEqual([stale, due], [["crm.duckdb"], []])
  })
})

it.each(["../precious.txt", "../../elsewhere/backup.tar", "csv/../../x", "."])(
  "a request for %j is not sent, because its address would be that of another object",
  async (name) => {
    const bucket = {
      place: "s3://b/crm",
      key: Redacted.make("key"),
      secret: Redacted.make("secret"),
      region: "us-east-1",
      endpoint: "http://127.0.0.1:9"
    }
    const { send } = await openBucket(bucket, { outageMsMax: 0 })
    assert.match(String(await send("DELETE", name).catch((cause: unknown) => cause)), /is the name of no object/)
  }
)

describe("an object that a manifest names", () => {
  const held = (headers: Record<string, string>, status = 200): Requests => ({
    ...bucketWith({}),
    send: () => Promise.resolve({ status, headers: new Headers(headers), body: Buffer.from("") })
  })
  const checksum = (hex: string) => ({ "x-amz-checksum-sha256": Buffer.from(hex, "hex").toString("base64") })
  const known = { bytes: 7, sums: new Set([sum]) }

  it.each<[string, Requests, boolean]>([
    ["that has a content of ours", held({ ...checksum(sum), "content-length": "7" }), false],
    ["that has another content of the same size", held({ ...checksum("ff".repeat(32)), "content-length": "7" }), true],
    ["of another size, without a checksum", held({ "content-length": "8" }), true],
    ["of the right size, without a checksum", held({ "content-length": "7" }), false],
    ["that was sent in parts", held({ "x-amz-checksum-sha256": "AAAA-3", "content-length": "7" }), false],
    ["that is not there", held({}, 404), false]
  ])("%s", async (_, requests, expected) => {
    assert.strictEqual(await isForeign(requests, "csv/contacts.csv", known), expected)
  })

  it("of which neither a checksum nor a size is known is ours only if it is named by its content", async () => {
    const known = { bytes: undefined, sums: new Set([sum]) }
    const requests = held({ "content-length": "7" })
    assert.isTrue(await isForeign(requests, "csv/mine.csv", known))
    assert.isFalse(await isForeign(requests, `objects/${sum}.csv`, known))
  })
})
