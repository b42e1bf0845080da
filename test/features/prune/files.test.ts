import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  existsSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { files as filesOfRecords } from "../../../pipelines/account/files.ts"
import { removeFiles, unnamedFiles, unneededFiles } from "../../../src/features/prune/files.ts"
import { Warehouse } from "../../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../../support/fixtures.ts"
import { newFolder } from "../../support/sluice.ts"

const hour = 3_600_000
/** Every file of these tests is old. */
const now = Date.now() + 90 * 24 * hour
let output: string

const put = (path: string, text = "text") => {
  mkdirSync(dirname(join(output, path)), { recursive: true })
  writeFileSync(join(output, path), text)
}
/** The link to the current release was made so long ago. */
const publish = (release: string, ageMs: number, folder = ".published") => {
  if (folder === ".published") put(`.published/${release}/crm.duckdb`)
  symlinkSync(join(folder, release), join(output, "published"))
  lutimesSync(join(output, "published"), new Date(now - ageMs), new Date(now - ageMs))
}
const found = () => Effect.runPromise(unneededFiles(output, now))
const paths = async () => (await found()).map(({ path }) => path)
const pruned = async () => Effect.runPromise(removeFiles(output, await found()))

beforeEach(() => {
  output = newFolder()
})

describe("a release", () => {
  it("stays while somebody who opened it before the next one may still read it", async () => {
    put(".published/000001-old/crm.duckdb")
    publish("000002-new", 24 * hour - 1)
    assert.deepStrictEqual(await paths(), [])
    rmSync(join(output, "published"))
    publish("000002-new", 24 * hour)
    assert.deepStrictEqual(await paths(), [".published/000001-old"])
    await pruned()
    assert.deepStrictEqual(readdirSync(join(output, ".published")), ["000002-new"])
  })
  it("stays if no link says which is the current one", async () => {
    put(".published/000001-old/crm.duckdb")
    assert.deepStrictEqual(await paths(), [])
    // Somebody copied the output without its links.
    put("published/crm.duckdb")
    assert.deepStrictEqual(await paths(), [])
    rmSync(join(output, "published"), { recursive: true })
    // Somebody's own link.
    publish("000009-other", 30 * 24 * hour, newFolder())
    assert.deepStrictEqual(await paths(), [])
  })
})

describe("what sluice did not make", () => {
  it("stays in the folder of the releases: other names, files and links", async () => {
    const elsewhere = join(newFolder(), "photos")
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, "one.jpg"), "a photo")
    publish("000003-new", 30 * 24 * hour)
    put(".published/notes/todo.txt")
    put(".published/00002-five-digits/crm.duckdb")
    put(".published/000002-list.txt")
    symlinkSync(elsewhere, join(output, ".published/000001-photos"))
    symlinkSync("nowhere", join(output, ".published/000002-dangling"))
    assert.deepStrictEqual(await paths(), [])
  })
  it("stays behind a link in a release, and does not count as space", async () => {
    const elsewhere = newFolder()
    writeFileSync(join(elsewhere, "large"), "x".repeat(1_000_000))
    put(".published/000001-old/crm.duckdb", "four")
    symlinkSync(elsewhere, join(output, ".published/000001-old/linked"))
    symlinkSync(".", join(output, ".published/000001-old/circle"))
    publish("000002-new", 30 * 24 * hour)
    const [old, ...more] = await found()
    assert.deepStrictEqual(more, [])
    assert.isBelow(old!.bytes, 1000)
    await pruned()
    assert.isFalse(existsSync(join(output, ".published/000001-old")))
    assert.lengthOf(readFileSync(join(elsewhere, "large"), "utf8"), 1_000_000)
  })
})

it("of the vault and the warehouse, only what was set aside is removed", async () => {
  for (const path of ["vault/000001.ndjson.zst", "vault/000002.ndjson", "warehouse.duckdb", "warehouse.duckdb.wal"])
    put(path)
  put("vault/000002.ndjson.torn-17", "half an ent")
  put("warehouse.damaged.duckdb")
  const kept = readdirSync(output)
    .concat(readdirSync(join(output, "vault")))
    .filter((name) => !/torn|damaged/.test(name))
  assert.sameMembers(await paths(), ["vault/000002.ndjson.torn-17", "warehouse.damaged.duckdb"])
  await pruned()
  assert.deepStrictEqual(readdirSync(output).concat(readdirSync(join(output, "vault"))), kept)
})

it("an output that does not exist has nothing to prune", async () => {
  output = join(output, "missing")
  assert.deepStrictEqual(await paths(), [])
})

describe("a file behind a link", () => {
  const resources = [filesOfRecords]
  const stored = (n: number) => `files/${n}${n}/${"0".repeat(62)}.txt`
  /** Prunes an output with four files, of which rows name these. */
  const unnamed = async (...rows: ReadonlyArray<readonly [schema: string, n: number, isDeleted?: boolean]>) => {
    const template = await templateOf({ resources, familyByTable: new Map() })
    for (let n = 0; n < 4; n++) put(stored(n))
    const looking = Effect.gen(function* () {
      for (const [schema, n, isDeleted] of rows)
        yield* (yield* Warehouse).run(
          `INSERT INTO ${schema}.files (location_id, id, path, _deleted_at) VALUES ('L', '${n}', '${stored(n)}', ${isDeleted ? "now()" : "NULL"})`
        )
      return yield* unnamedFiles(output, resources)
    })
    const warehouse = Warehouse.layer(join(output, "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
    return (await Effect.runPromise(Effect.provide(looking, warehouse))).map(({ path }) => path)
  }

  it("goes if no row names it: neither a current, nor an earlier, nor a deleted one", async () => {
    assert.deepStrictEqual(await unnamed(["crm", 0], ["crm_history", 1], ["crm", 2, true]), [stored(3)])
  })

  it("stays, as all do, where no row names any of them: then it is rather the tables that are missing", async () => {
    assert.deepStrictEqual(await unnamed(), [])
  })
})
