import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import type { Account } from "../support/account.ts"
import { checkBroken, flip, openSynced, someTables, sql, verifyBroken } from "../support/broken.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

/** Tests change copies of it only. */
let account: Account
beforeAll(async () => {
  account = await openSynced(...someTables)
})
afterAll(() => {
  account.service.stop()
  rmSync(account.output, { recursive: true })
})

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
const recording = (folder: string): string =>
  join(folder, "files/recordings", readdirSync(join(folder, "files/recordings")).sort()[0]!)

describe("an undamaged account", () => {
  let whole: Account
  beforeAll(async () => {
    whole = await openSynced()
  })
  afterAll(() => {
    whole.service.stop()
    rmSync(whole.output, { recursive: true })
  })

  it("passes every check, names the next step, and has the same files and warehouse afterwards", async () => {
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
  })
})

type Broken = [name: string, damage: (folder: string) => unknown, wrong: ReadonlyArray<RegExp>, next: RegExp]
const backup = /^restore the segments above from a backup of the vault/
const warehouseRow = "(SELECT min(id) FROM crm.contacts ANTI JOIN crm_history.contacts USING (id))"
const version = "(SELECT min(id) FROM crm_history.conversations)"
const shiftVersion = (set: string) => (folder: string) =>
  sql(folder, `UPDATE crm_history.conversations SET ${set} WHERE id = ${version}`)

describe("rows that differ from the vault", () => {
  it("are reported with the kind of difference if every record is replayed", async () => {
    const first = (table: string) => `id = (SELECT min(id) FROM crm.${table})`
    const { wrong, result } = await verifyBroken(
      account,
      account.output,
      async (folder) => {
        await sql(folder, `DELETE FROM crm.redirects WHERE ${first("redirects")}`)
        await sql(folder, `UPDATE crm.contacts SET first_name = '', last_name = NULL WHERE ${first("contacts")}`)
        await sql(folder, "DELETE FROM crm.contact_tags WHERE tag = (SELECT min(tag) FROM crm.contact_tags)")
        await sql(folder, `INSERT INTO crm.forms SELECT * REPLACE ('new' AS id) FROM crm.forms WHERE ${first("forms")}`)
        await sql(folder, "UPDATE crm_history.orders SET amount = 1 WHERE rowid = 0")
      },
      "--all"
    )
    const expected = [
      /^replay: contact_tags: \d+ rows? missing that the vault contains, for example \w{20}\//,
      /^replay: contacts: 1 row different from the vault in first_name, last_name, for example \w{20}$/,
      /^replay: forms: 1 row not contained in the vault, for example new$/,
      /^replay: history of orders: 1 row different from the vault in amount, for example/,
      /^replay: redirects: 1 row missing that the vault contains, for example/
    ]
    const found = wrong.toSorted()
    assert.strictEqual(found.length, expected.length, found.join("\n"))
    for (const [index, pattern] of expected.entries()) assert.match(found[index]!, pattern)
    assert.strictEqual(result.next, "./sluice rebuild")
    assert.match(
      result.checks.find(({ check }) => check === "replay")!.looked,
      /^([\d,]+) records of [\d,]+ replayed from the vault, [\d,]+ rows of \d+ tables$/
    )
  })

  it("are found by a sample, which includes every row of a small table", async () => {
    const { wrong, result } = await verifyBroken(account, account.output, (folder) =>
      sql(folder, "UPDATE crm.locations SET name = 'elsewhere'")
    )
    assert.match(wrong.join("\n"), /^replay: locations: 1 row different from the vault in name, for example \w+$/)
    assert.match(
      result.checks.find(({ check }) => check === "replay")!.looked,
      /^\d+ records of [\d,]+ replayed from the vault, [\d,]+ rows of \d+ tables; --all replays all$/
    )
  })
})

describe("verify reports each kind of damage and nothing else", () => {
  it.each<Broken>([
    [
      "a changed byte of a sealed segment",
      (folder) => flip(segment(folder, "000001.ndjson.zst")),
      [/^vault: segment 1: it cannot be unpacked/],
      backup
    ],
    [
      "a changed byte of a page in a plain segment",
      (folder) => flip(unseal(folder), '\n{"contacts":['),
      [/^vault: segment 1: it is damaged at byte [1-9]\d*: [1-9][\d,]* entries after it cannot be read$/],
      backup
    ],
    [
      "a full segment without its end",
      (folder) => truncateSync(unseal(folder), 5000),
      [/^vault: segment 1: it is damaged at byte \d+: its last [\d,]+ bytes are not a complete entry$/],
      backup
    ],
    [
      "a missing segment",
      (folder) => rmSync(segment(folder, "000001.ndjson.zst")),
      [/^vault: segment 1: missing$/],
      backup
    ],
    [
      "missing last segments",
      (folder) => ["000002.ndjson.zst", "000003.ndjson"].forEach((file) => rmSync(segment(folder, file))),
      [/^vault: position: the warehouse has loaded segment 2 up to byte \d+, where no entry of the vault ends$/],
      backup
    ],
    [
      "a wrong vault offset",
      (folder) => sql(folder, "UPDATE meta.vault_offset SET segment = 2, byte_offset = 77"),
      [/^vault: position: the warehouse has loaded segment 2 up to byte 77, where/],
      backup
    ],
    [
      "a duplicate key",
      (folder) => sql(folder, `INSERT INTO crm.contacts SELECT * FROM crm.contacts WHERE id = ${warehouseRow}`),
      [/^keys: contacts: 1 duplicate key, for example \w{20}$/],
      /^\.\/sluice rebuild$/
    ],
    [
      "a key with NULL",
      (folder) =>
        sql(folder, "UPDATE crm.contact_tags SET tag = NULL WHERE rowid = (SELECT min(rowid) FROM crm.contact_tags)"),
      [/^keys: contact_tags: 1 row with NULL in the key$/],
      /^\.\/sluice rebuild$/
    ],
    [
      "a missing row with rows in a child table",
      (folder) => sql(folder, "DELETE FROM crm.pipelines WHERE id = (SELECT min(id) FROM crm.pipelines)"),
      [/^parents: pipeline_stages: [1-9]\d* rows without a row in pipelines, for example/],
      /^\.\/sluice rebuild$/
    ],
    [
      "a missing parent of children",
      (folder) => sql(folder, "DELETE FROM crm.calendars WHERE id = (SELECT min(calendar_id) FROM crm.appointments)"),
      [
        /^parents: calendar_members: [1-9]\d* rows? without a row in calendars, for example/,
        /^parents: appointments: [1-9]\d* rows? without a row in calendars, for example/
      ],
      /^\.\/sluice rebuild$/
    ],
    [
      "a version that ends too late",
      shiftVersion("_valid_to = _valid_to + INTERVAL 1 SECOND"),
      [
        /^history: history of conversations: 1 version overlapping the previous version, for example \w{20}$/,
        /^history: history of conversation_tags: [1-9]\d* versions? without a version in conversations/
      ],
      /^\.\/sluice rebuild$/
    ],
    [
      "a version that ends too early",
      shiftVersion("_valid_to = _valid_to - INTERVAL 1 MILLISECOND"),
      [
        /^history: history of conversations: 1 version with a gap after the previous version, for example/,
        /^history: history of conversation_tags: [1-9]\d* versions? without a version in conversations/
      ],
      /^\.\/sluice rebuild$/
    ],
    [
      "a version that ends before it begins",
      shiftVersion("_valid_from = _valid_to + INTERVAL 1 SECOND"),
      [
        /^history: history of conversations: 1 version with _valid_to not after _valid_from/,
        /^history: history of conversation_tags: [1-9]\d* versions? without a version in conversations/
      ],
      /^\.\/sluice rebuild$/
    ],
    [
      "a missing row with versions",
      (folder) => sql(folder, `DELETE FROM crm.conversations WHERE id = ${version}`),
      [
        /^parents: conversation_tags: [1-9]\d* rows? without a row in conversations/,
        /^history: history of conversations: 1 version without a row/
      ],
      /^\.\/sluice rebuild$/
    ],
    [
      "child rows that do not match an earlier version",
      (folder) => sql(folder, "UPDATE crm_history.contact_tags SET _valid_to = _valid_to - INTERVAL 1 SECOND"),
      [/^history: history of contact_tags: [1-9]\d* versions without a version in contacts/],
      /^\.\/sluice rebuild$/
    ],
    [
      "a watermark after the last read",
      (folder) =>
        sql(folder, "UPDATE meta.watermarks SET watermark = complete_at + INTERVAL 1 HOUR WHERE resource = 'contacts'"),
      [/^times: contacts: its watermark .* is later than its last read at/],
      /^\.\/sluice rebuild$/
    ],
    [
      "a read time in the future",
      (folder) => sql(folder, "UPDATE crm.forms SET _synced_at = now() + INTERVAL 1 DAY"),
      [/^times: forms: [1-9]\d* rows? with _synced_at in the future/],
      /^\.\/sluice rebuild$/
    ],
    [
      "a rejected record that no run counted",
      (folder) =>
        sql(
          folder,
          `INSERT INTO meta.rejected_records SELECT max(run_id), '${account.service.locationId}', 'contact_tags', '{}', 'no tag', now() FROM meta.runs`
        ),
      [/^rejects: contacts: run \w+ counts 0 rejected records; meta\.rejected_records has 1$/],
      /^\.\/sluice rebuild$/
    ],
    [
      "a missing recording",
      (folder) => rmSync(recording(folder)),
      [/^files: files\/recordings\/\S+: missing$/],
      /^\.\/sluice sync --full --only recordings$/
    ],
    [
      "a changed byte of a recording",
      (folder) => flip(recording(folder)),
      [/^files: files\/recordings\/\S+: its SHA-256 differs from its row$/],
      /^\.\/sluice sync --full --only recordings$/
    ],
    [
      "a truncated recording",
      (folder) => truncateSync(recording(folder), 100),
      [/^files: files\/recordings\/\S+: it has 100 bytes; its row says \d+$/],
      /^\.\/sluice sync --full --only recordings$/
    ]
  ])("%s", async (...[, damage, expected, next]: Broken) => {
    const { wrong, next: named } = await checkBroken(account.output, damage)
    assert.strictEqual(wrong.length, expected.length, wrong.join("\n"))
    for (const [index, pattern] of expected.entries()) assert.match(wrong[index]!, pattern)
    assert.match(named, next)
  })

  it.each<[string, (path: string) => unknown, string]>([
    ["without its beginning", (path) => overwrite(path, 0, 5000), "tables"],
    ["without its end", (path) => truncateSync(path, 1_000_000), "tables"],
    ["with its beginning only", (path) => truncateSync(path, 100), "tables"],
    ["without its middle", (path) => overwrite(path, statSync(path).size >> 1, 300_000), "(blocks|tables)"]
  ])("a warehouse %s, which rebuild repairs", async (_, damage, check) => {
    const { wrong, result } = await verifyBroken(account, account.output, (folder) =>
      damage(join(folder, "warehouse.duckdb"))
    )
    assert.match(wrong.join("\n"), new RegExp(`^${check}: warehouse\\.duckdb: .* is damaged: `, "m"))
    assert.strictEqual(result.next, "./sluice rebuild")
    const { wrong: left } = await checkBroken(account.output, async (folder) => {
      damage(join(folder, "warehouse.duckdb"))
      const ran = await sluice(["rebuild"], { SLUICE_OUTPUT: folder, SLUICE_FORMATS: "none" })
      assert.strictEqual(ran.code, 0, ran.stderr)
      const rows = "FROM crm.contacts ORDER BY location_id, id"
      assert.deepStrictEqual(await query(join(folder, "warehouse.duckdb"), rows), await query(account.warehouse, rows))
    })
    assert.deepStrictEqual(left, [])
  })

  it("a damaged block of the warehouse that no other check reads", async () => {
    const { wrong } = await checkBroken(account.output, async (folder) => {
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
    const { wrong, notes } = await checkBroken(account.output, async (folder) => {
      writeFileSync(segment(folder, "000003.ndjson"), '{"kind":"page","resource":"cont')
      writeFileSync(segment(folder, "000002.ndjson.torn-99"), "x")
      writeFileSync(join(folder, "files/recordings/mine.wav"), "x")
      await sql(folder, `UPDATE crm.contacts SET assigned_to = 'nobody' WHERE assigned_to = '${user}'`)
    })
    assert.deepStrictEqual(wrong, [])
    for (const pattern of [
      /^vault: segment 3: its last 31 bytes are an incomplete write/,
      /^vault: 000002\.ndjson\.torn-99: an incomplete write that a sync has set aside$/,
      /^files: files\/recordings\/mine\.wav: no row refers to it$/,
      /^references: contacts\.assigned_to: [1-9]\d* rows? without a matching row in users, for example nobody$/
    ])
      assert.isTrue(
        notes.some((note) => pattern.test(note)),
        `${pattern}\n${notes.join("\n")}`
      )
  })

  it("an empty open segment that is missing", async () => {
    const { wrong } = await checkBroken(account.output, (folder) => rmSync(segment(folder, "000003.ndjson")))
    assert.deepStrictEqual(wrong, [])
  })

  it("entries that are not loaded yet are noted, and a gap before a deleted row is accepted", async () => {
    const { wrong, notes, next } = await checkBroken(account.output, async (folder) => {
      await sql(folder, "UPDATE meta.vault_offset SET segment = 2, byte_offset = 0")
      await sql(
        folder,
        `UPDATE crm.conversations SET _deleted_at = _synced_at + INTERVAL 1 SECOND, _synced_at = _synced_at + INTERVAL 1 SECOND WHERE id = ${version}`
      )
    })
    assert.deepStrictEqual(wrong, [])
    assert.isTrue(notes.some((note) => /^vault: position: [1-9]\d* entries wait for the next sync$/.test(note)))
    assert.strictEqual(next, "./sluice sync")
  })
})
