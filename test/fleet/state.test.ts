import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Objects } from "../../src/features/fleet/state/objects.ts"
import { openSession } from "../../src/features/fleet/state/snapshot.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

/** A bucket in memory, which counts the bytes that it receives. */
class Bucket implements Objects {
  readonly content = new Map<string, Buffer>()
  received = 0
  get = async (name: string) => this.content.get(name)
  put = async (name: string, content: Uint8Array) => {
    this.received += content.length
    this.content.set(name, Buffer.from(content))
  }
  remove = async (name: string) => void this.content.delete(name)
}

const bytes = (count: number, seed: number): Buffer => {
  const random = randomFrom(seed)
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)))
}
const write = (folder: string, path: string, content: string | Buffer) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
const mb = 1024 * 1024

describe("the state in a bucket", () => {
  it("is the same on another worker, without what a sync makes again", async () => {
    const [bucket, here, there] = [new Bucket(), join(newFolder(), "north"), join(newFolder(), "north")]
    const warehouse = bytes(9 * mb, 1)
    write(here, "warehouse.duckdb", warehouse)
    write(here, "vault/000001.ndjson.zst", "sealed")
    write(here, "empty.json", "")
    write(here, ".published/1/crm.duckdb", "derived")
    write(here, "tmp/batch", "derived")
    const first = await openSession(bucket, "north", here, undefined)
    const name = await first.saveAll()
    await first.commit()
    await openSession(bucket, "north", there, name)
    assert.isTrue(readFileSync(join(there, "warehouse.duckdb")).equals(warehouse))
    assert.strictEqual(readFileSync(join(there, "vault/000001.ndjson.zst"), "utf8"), "sealed")
    assert.strictEqual(readFileSync(join(there, "empty.json"), "utf8"), "")
    assert.isFalse(existsSync(join(there, ".published")))
    assert.isFalse(existsSync(join(there, "tmp")))
  })

  it.each([
    ["cut", '{"files":{"warehouse.duckdb":["1/2"'],
    ["of another shape", '{"files":{"warehouse.duckdb":"1/2"}}']
  ])("is refused if its manifest is %s, and the folder stays as it is", async (_what, manifest) => {
    const [bucket, folder] = [new Bucket(), join(newFolder(), "north")]
    write(folder, "warehouse.duckdb", "not stored")
    await bucket.put("north/manifests/1.json", Buffer.from(manifest))
    const refused = await openSession(bucket, "north", folder, "north/manifests/1.json").then(
      () => "opened",
      (cause: Error) => cause.message
    )
    assert.strictEqual(refused, "north/manifests/1.json is not a manifest")
    assert.strictEqual(readFileSync(join(folder, "warehouse.duckdb"), "utf8"), "not stored")
  })

  it("survives a worker that was paused before it removed what its snapshot does not need", async () => {
    const bucket = new Bucket()
    const [paused, next, third] = [1, 2, 3].map(() => join(newFolder(), "north")) as [string, string, string]
    write(paused, "alarms.json", "one")
    const late = await openSession(bucket, "north", paused, undefined)
    await late.saveAll()
    await late.commit()
    write(paused, "alarms.json", "two")
    const second = await late.saveAll()

    const owner = await openSession(bucket, "north", next, second)
    write(next, "alarms.json", "one")
    const newest = await owner.saveAll()
    await owner.commit()
    await late.commit()
    await openSession(bucket, "north", third, newest)
    assert.strictEqual(readFileSync(join(third, "alarms.json"), "utf8"), "one")
  })

  it("uploads the chunks that have changed, and removes those that no snapshot needs", async () => {
    const [bucket, folder] = [new Bucket(), join(newFolder(), "north")]
    const warehouse = bytes(12 * mb, 2)
    write(folder, "warehouse.duckdb", warehouse)
    const session = await openSession(bucket, "north", folder, undefined)
    await session.saveAll()
    await session.commit()
    const before = bucket.received
    warehouse[5 * mb]! ^= 1
    write(folder, "warehouse.duckdb", warehouse)
    await session.saveAll()
    assert.isBelow(bucket.received - before, 4 * mb + 2000)
    assert.strictEqual(bucket.content.size, 6, "both snapshots until the database has the new one")
    await session.commit()
    assert.strictEqual(bucket.content.size, 4, "three chunks and a manifest")
  })

  it("of a worker that was thought dead changes nothing of what the next one stores", async () => {
    const [bucket, one, other] = [new Bucket(), join(newFolder(), "north"), join(newFolder(), "north")]
    write(one, "warehouse.duckdb", "at first")
    const start = await openSession(bucket, "north", one, undefined)
    const first = await start.saveAll()
    await start.commit()
    const paused = await openSession(bucket, "north", one, first)
    const next = await openSession(bucket, "north", other, first)
    write(other, "warehouse.duckdb", "by the next")
    const second = await next.saveAll()
    await next.commit()
    write(one, "warehouse.duckdb", "too late")
    // The database refuses this name, so it is not committed.
    await paused.saveAll()
    await openSession(bucket, "north", one, second)
    assert.strictEqual(readFileSync(join(one, "warehouse.duckdb"), "utf8"), "by the next")
  })

  it("has what a killed run has sealed, and the work of a run on the same worker that was not stored", async () => {
    const [bucket, one, other] = [new Bucket(), join(newFolder(), "north"), join(newFolder(), "north")]
    write(one, "warehouse.duckdb", "at first")
    const session = await openSession(bucket, "north", one, undefined)
    await session.saveAll()
    await session.commit()
    assert.isUndefined(await session.saveSealed())
    write(one, "vault/000001.ndjson.zst", "sealed")
    write(one, "vault/000002.ndjson", "open")
    write(one, "tokens.json", "renewed")
    write(one, "warehouse.duckdb", "being written")
    const sealed = await session.saveSealed()
    await session.commit()
    await openSession(bucket, "north", other, sealed)
    assert.strictEqual(readFileSync(join(other, "vault/000001.ndjson.zst"), "utf8"), "sealed")
    assert.strictEqual(readFileSync(join(other, "warehouse.duckdb"), "utf8"), "at first")
    assert.strictEqual(readFileSync(join(other, "tokens.json"), "utf8"), "renewed")
    assert.isUndefined(await session.saveSealed())
    assert.isFalse(existsSync(join(other, "vault/000002.ndjson")))
    await openSession(bucket, "north", one, sealed)
    assert.strictEqual(readFileSync(join(one, "vault/000002.ndjson"), "utf8"), "open")
  })

  it("that is damaged, incomplete, or names a file outside is refused", async () => {
    const [bucket, folder] = [new Bucket(), join(newFolder(), "north")]
    write(folder, "warehouse.duckdb", "content")
    const session = await openSession(bucket, "north", folder, undefined)
    const name = await session.saveAll()
    const [chunk] = [...bucket.content.keys()].filter((key) => key.includes("/chunks/"))
    const refused = async () =>
      openSession(bucket, "north", join(newFolder(), "north"), name).then(
        () => "accepted",
        (error: Error) => error.message
      )
    bucket.content.set(chunk!, Buffer.from("c0ntent"))
    assert.match(await refused(), /is damaged/)
    bucket.content.delete(chunk!)
    assert.match(await refused(), /is missing/)
    bucket.content.set(name, Buffer.from('{"files":{"../outside":[]}}'))
    assert.match(await refused(), /outside/)
  })
})
