import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { globSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { discard } from "../support/account.ts"
import { checkBroken, flip, openSynced, sql, verifyBroken } from "../support/broken.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

/** Tests change copies of them only. */
let account: Awaited<ReturnType<typeof openSynced>>
/** With few tables, for tests that do not depend on the tables. */
let small: typeof account
beforeAll(async () => {
  account = await openSynced("some")
  small = await openSynced("few")
})
afterAll(() => discard(account, small))

const one = async (statement: string): Promise<string> =>
  String(Object.values((await query(account.warehouse, statement))[0] ?? assert.fail(`nothing found: ${statement}`))[0])
const segment = (folder: string, file: string) => join(folder, "vault", file)
const overwrite = (path: string, at: number, length: number) => {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0xaa, at, at + length))
}
/** Replaces the first segment by its uncompressed form, as before its compression. */
const unseal = (folder: string): string => {
  const sealed = segment(folder, "000001.ndjson.zst")
  const plain = segment(folder, "000001.ndjson")
  writeFileSync(plain, zstdDecompressSync(readFileSync(sealed)))
  rmSync(sealed)
  return plain
}
const recordings = (folder: string): ReadonlyArray<string> =>
  globSync("files/*/*.wav", { cwd: folder })
    .toSorted()
    .map((file) => join(folder, file))

describe("an undamaged account", () => {
  let whole: typeof account
  beforeAll(async () => {
    whole = await openSynced("all")
  })
  afterAll(() => discard(whole))

  it(
    "passes every check, names the next step, and has the same files and warehouse afterwards",
    { tags: ["slow"] },
    async () => {
      const files = () => readdirSync(whole.output, { recursive: true }).sort()
      const before = [files(), readFileSync(whole.warehouse)] as const
      const ran = await sluice(["verify"], { SLUICE_OUTPUT: whole.output })
      assert.strictEqual(ran.code, 0, ran.stderr)
      for (const check of ["vault", "blocks", "keys", "parents", "history", "rejects", "files"])
        assert.match(ran.stdout, new RegExp(`^${check} .*  ok$`, "m"))
      assert.match(ran.stdout, /^vault +3 segments, [1-9][\d,]* entries/m)
      assert.match(ran.stdout, /^history +[1-9]\d* versions/m)
      assert.match(ran.stdout, /^files +[1-9]\d* files/m)
      assert.strictEqual(ran.stderr.trim().split("\n").at(-1), "Next: ./sluice status")
      assert.deepStrictEqual(files(), before[0])
      assert.isTrue(readFileSync(whole.warehouse).equals(before[1]))
    }
  )
})

type Broken = [name: string, damage: (folder: string) => unknown, wrong: RegExp]

describe("verify reports each kind of damage to the vault and nothing else", () => {
  it.each<Broken>([
    [
      "a changed byte of a sealed segment",
      (folder) => flip(segment(folder, "000001.ndjson.zst")),
      /^vault: segment 1: it cannot be unpacked/
    ],
    [
      "a changed byte of a page in a plain segment",
      (folder) => flip(unseal(folder), '\n{"contacts":['),
      /^vault: segment 1: it is damaged at byte [1-9]\d*: [1-9][\d,]* entries after it cannot be read$/
    ],
    [
      "a full segment without its end",
      (folder) => truncateSync(unseal(folder), 5000),
      /^vault: segment 1: it is damaged at byte \d+: its last [\d,]+ bytes are not a complete entry$/
    ],
    ["a missing segment", (folder) => rmSync(segment(folder, "000001.ndjson.zst")), /^vault: segment 1: missing$/],
    [
      "missing last segments",
      (folder) => ["000002.ndjson.zst", "000003.ndjson"].forEach((file) => rmSync(segment(folder, file))),
      /^vault: position: the warehouse has loaded segment 2 up to byte \d+, where no entry of the vault ends$/
    ],
    [
      "a wrong vault offset",
      (folder) => sql(folder, "UPDATE meta.vault_offset SET segment = 2, byte_offset = 77"),
      /^vault: position: the warehouse has loaded segment 2 up to byte 77, where/
    ]
  ])("%s", async (...[, damage, pattern]: Broken) => {
    const { wrong, next } = await checkBroken(small, damage)
    assert.strictEqual(wrong.length, 1, wrong.join("\n"))
    assert.match(wrong[0]!, pattern)
    assert.match(next, /^restore the segments above from a backup of the vault/)
  })
})

describe("verify reports damage to files and to the warehouse", () => {
  it("a missing recording, a changed byte and a truncated one, and nothing else", async () => {
    const { wrong, parts, next } = await checkBroken(account, (folder) => {
      const [missing, changed, truncated] = recordings(folder)
      rmSync(missing!)
      flip(changed!)
      truncateSync(truncated!, 100)
    })
    const path = (index: number) => relative(account.output, recordings(account.output)[index]!)
    assert.deepStrictEqual(
      wrong.toSorted().map((finding) => finding.replace(/its row says \d+$/, "its row says more")),
      [
        `files: ${path(0)}: missing`,
        `files: ${path(1)}: its SHA-256 differs from its row`,
        `files: ${path(2)}: it has 100 bytes; its row says more`
      ]
    )
    assert.deepStrictEqual(parts, ["files"])
    assert.strictEqual(next, "./sluice sync --again all --only recordings,files")
  })

  type Damage = [string, (path: string) => unknown, string]
  const repaired = async (...[, damage, check]: Damage) => {
    const { wrong, result } = await verifyBroken(small, (folder) => damage(join(folder, "warehouse.duckdb")))
    assert.match(wrong.join("\n"), new RegExp(`^${check}: warehouse\\.duckdb: .* is damaged: `, "m"))
    assert.strictEqual(result.next, "./sluice rebuild")
    const { wrong: left } = await checkBroken(small, async (folder) => {
      damage(join(folder, "warehouse.duckdb"))
      const ran = await sluice(["rebuild"], { ...small.environment, SLUICE_OUTPUT: folder })
      assert.strictEqual(ran.code, 0, ran.stderr)
      const rows = "FROM crm.contacts ORDER BY location_id, id"
      assert.deepStrictEqual(await query(join(folder, "warehouse.duckdb"), rows), await query(small.warehouse, rows))
    })
    assert.deepStrictEqual(left, [])
  }
  it.each<Damage>([
    [
      "without its middle",
      (path) => overwrite(path, statSync(path).size >> 2, statSync(path).size >> 1),
      "(blocks|tables)"
    ]
  ])("a warehouse %s, which rebuild repairs", repaired)
  it.each<Damage>([
    ["without its beginning", (path) => overwrite(path, 0, 5000), "tables"],
    ["without its end", (path) => truncateSync(path, 1_000_000), "tables"],
    ["with its beginning only", (path) => truncateSync(path, 100), "tables"]
  ])("a warehouse %s, which rebuild repairs", { tags: ["slow"] }, repaired)

  it("a damaged block of the warehouse that no other check reads", async () => {
    const { wrong } = await checkBroken(small, async (folder) => {
      // The text is not compressible, so that it fills its own blocks, in which a byte is changed.
      await sql(
        folder,
        "CREATE TABLE crm.more AS SELECT repeat('needle in a haystack ' || i, 50) || hash(i) AS text FROM range(20000) AS r(i)"
      )
      const path = join(folder, "warehouse.duckdb")
      const bytes = readFileSync(path)
      const place = bytes.lastIndexOf("needle in a haystack")
      assert.isAbove(place, 0)
      bytes[place]! ^= 0x01
      writeFileSync(path, bytes)
    })
    assert.strictEqual(wrong.length, 1, wrong.join("\n"))
    assert.match(wrong[0]!, /^blocks: warehouse\.duckdb: crm\."more": /)
  })
})

describe("a state that is no damage is not wrong", () => {
  it("an incomplete last write, a write set aside, a file without a row, and a dangling reference are noted", async () => {
    const user = await one("SELECT assigned_to FROM crm.contacts WHERE assigned_to <> ''")
    const { wrong, notes } = await checkBroken(account, async (folder) => {
      writeFileSync(segment(folder, "000003.ndjson"), '{"kind":"page","resource":"cont')
      writeFileSync(segment(folder, "000002.ndjson.torn-99"), "x")
      writeFileSync(join(folder, "files/mine.wav"), "x")
      await sql(folder, `UPDATE crm.contacts SET assigned_to = 'nobody' WHERE assigned_to = '${user}'`)
    })
    assert.deepStrictEqual(wrong, [])
    for (const pattern of [
      /^vault: segment 3: its last 31 bytes are an incomplete write/,
      /^vault: 000002\.ndjson\.torn-99: an incomplete write that a sync has set aside$/,
      /^files: files\/mine\.wav: no row refers to it$/,
      /^references: contacts\.assigned_to: [1-9]\d* rows? without a matching row in users, for example nobody$/
    ])
      assert.isTrue(
        notes.some((note) => pattern.test(note)),
        `${pattern}\n${notes.join("\n")}`
      )
  })

  it("an empty open segment that is missing", async () => {
    const { wrong } = await checkBroken(small, (folder) => rmSync(segment(folder, "000003.ndjson")))
    assert.deepStrictEqual(wrong, [])
  })

  it("entries that are not loaded yet are noted, and a gap before a deleted row is accepted", async () => {
    const { wrong, notes, next } = await checkBroken(account, async (folder) => {
      await sql(folder, "UPDATE meta.vault_offset SET segment = 2, byte_offset = 0")
      await sql(
        folder,
        `UPDATE crm.conversations SET _deleted_at = _synced_at + INTERVAL 1 SECOND, _synced_at = _synced_at + INTERVAL 1 SECOND WHERE id = (SELECT min(id) FROM crm_history.conversations)`
      )
    })
    assert.deepStrictEqual(wrong, [])
    assert.isTrue(notes.some((note) => /^vault: position: [1-9]\d* entries wait for the next sync$/.test(note)))
    assert.strictEqual(next, "./sluice sync")
  })
})
