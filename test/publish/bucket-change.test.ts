/** What a delivery to a bucket does, from what the bucket has. */
import { assert, describe, it } from "@effect/vitest"
import { changeOf, isCurrent } from "../../src/destinations/bucket/change.ts"
import type { BucketManifest, Writing } from "../../src/destinations/bucket/manifest.ts"

const hour = 3_600_000
const fileOf = (path: string, object: string) => ({ path, object, table: path, rows: 1, bytes: 1, sha256: object })

/** A bucket that deliveries change as they would: the manifest, and which object each name has. */
class Bucket {
  manifest: BucketManifest | undefined
  interrupted: Writing | undefined
  readonly objects = new Set<string>()
  readonly names = new Map<string, string>()

  /** What a look finds that somebody has removed. */
  readonly lost = new Set<string>()

  lose(name: string): void {
    this.lost.add(name)
    this.objects.delete(name)
    this.names.delete(name)
  }

  /** `steps`: how many changes are made before the delivery is killed. */
  deliver(run: string, files: Readonly<Record<string, string>>, now: number, steps = Infinity, full = false): void {
    const wanted = Object.entries(files).map(([path, object]) => fileOf(path, object))
    const missing = [...this.lost]
    const found = { before: this.manifest, interrupted: this.interrupted, missing }
    if (!full && isCurrent(found, { run, files: wanted }, now)) return
    const change = changeOf(found, wanted, { full, isLarge: () => false, now, run })
    const work = [
      () => void (this.interrupted = { owner: "o", ...change.writing }),
      ...change.sent.map(
        ({ object }) =>
          () =>
            void (this.objects.add(object) && this.lost.delete(object))
      ),
      ...change.copied.map(({ object, path }) => () => {
        assert.isTrue(this.objects.has(object), `${object} is copied before it is there`)
        this.names.set(path, object)
        this.lost.delete(path)
      }),
      ...change.stale.map((path) => () => void this.names.delete(path)),
      ...change.due.map((object) => () => void this.objects.delete(object)),
      () => {
        const { earlier, writtenAt } = change
        this.manifest = { tool: "t", owner: "o", run, schemaVersion: "1", writtenAt, files: wanted, earlier }
      },
      () => void (this.interrupted = undefined)
    ]
    for (const step of work.slice(0, steps)) step()
  }

  /** What a reader of this manifest would miss. */
  missing(manifest = this.manifest): ReadonlyArray<string> {
    return (manifest?.files ?? []).flatMap(({ object }) => (this.objects.has(object) ? [] : [object]))
  }
}

describe("a delivery to a bucket", () => {
  it("keeps the objects of the release before, and those of earlier ones for a day", () => {
    const bucket = new Bucket()
    bucket.deliver("1", { a: "a1", b: "b1" }, 0)
    bucket.deliver("2", { a: "a2", b: "b1" }, hour)
    bucket.deliver("2", { a: "a2", b: "b1" }, 100 * hour)
    assert.sameMembers([...bucket.objects], ["a1", "a2", "b1"], "the release before is kept while nothing changes")
    bucket.deliver("3", { a: "a3", b: "b1" }, 101 * hour)
    assert.sameMembers([...bucket.objects], ["a2", "a3", "b1"])
    bucket.deliver("4", { a: "a4" }, 102 * hour)
    bucket.deliver("4", { a: "a4" }, 124 * hour)
    assert.sameMembers([...bucket.objects], ["a2", "a3", "a4", "b1"])
    bucket.deliver("4", { a: "a4" }, 125 * hour)
    assert.sameMembers([...bucket.objects], ["a3", "a4", "b1"], "b1 was named by the release before")
    assert.deepStrictEqual([...bucket.names], [["a", "a4"]])
  })

  it("ends right after any number of kills at any step, and every reader of a manifest finds its objects for a day", () => {
    for (let first = 0; first < 14; first++)
      for (let second = 0; second < 14; second++) {
        const bucket = new Bucket()
        bucket.deliver("1", { a: "a1", b: "b1", c: "c1" }, 0)
        const before = bucket.manifest
        bucket.deliver("2", { a: "a2", b: "b2", d: "d2" }, hour, first)
        // The files change before the delivery is repeated; some of them are as they were.
        bucket.deliver("3", { a: "a1", b: "b3", c: "c1" }, 2 * hour, second)
        assert.deepStrictEqual(bucket.missing(before), [], `${first}, ${second}`)
        assert.deepStrictEqual(bucket.missing(), [])
        bucket.deliver("4", { a: "a1", b: "b4" }, 3 * hour)
        assert.deepStrictEqual(Object.fromEntries(bucket.names), { a: "a1", b: "b4" }, `${first}, ${second}`)
        assert.deepStrictEqual(bucket.missing(), [])
        // Nothing is forgotten: two releases later, the bucket has only what they need.
        bucket.deliver("5", { a: "a5" }, 30 * hour)
        bucket.deliver("6", { a: "a6" }, 60 * hour)
        assert.sameMembers([...bucket.objects], ["a5", "a6"], `${first}, ${second}`)
      }
  })

  it("makes again what somebody has removed, a file or its object", () => {
    for (const lost of ["a", "b", "a1", "b1"]) {
      const bucket = new Bucket()
      const files = { a: "a1", b: "b1" }
      bucket.deliver("1", files, 0)
      bucket.lose(lost)
      bucket.deliver("1", files, hour)
      assert.deepStrictEqual([Object.fromEntries(bucket.names), bucket.missing()], [files, []], lost)
    }
  })

  it("of the release before is no success while the names may be those of a later one that was killed", () => {
    for (let steps = 0; steps < 9; steps++) {
      const bucket = new Bucket()
      const files = { a: "a1", b: "b1" }
      bucket.deliver("1", files, 0)
      bucket.deliver("2", { a: "a2", b: "b2" }, hour, steps)
      bucket.deliver("1", files, 2 * hour)
      assert.deepStrictEqual(Object.fromEntries(bucket.names), files, `killed after ${steps} steps`)
    }
  })

  it("sends everything if nothing is to be believed", () => {
    const bucket = new Bucket()
    bucket.deliver("1", { a: "a1", b: "b1" }, 0)
    bucket.objects.clear()
    bucket.names.clear()
    bucket.deliver("1", { a: "a1", b: "b1" }, hour, Infinity, true)
    assert.deepStrictEqual(bucket.missing(), [])
    assert.strictEqual(bucket.names.size, 2)
  })
})
