import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Catalogue } from "../../src/catalog/discover.ts"
import type { OutputSettings } from "../../src/settings/settings.ts"
import { verify } from "../../src/features/verify/verify.ts"
import { failure } from "../../src/values/failure.ts"
import { publishNow } from "../../src/run/release.ts"
import { lastRun } from "../../src/stores/warehouse/meta/runs.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import type { Account } from "../support/account.ts"
import { catalogueOf, checkBroken, checksOf, flip, openSynced, sql } from "../support/broken.ts"
import { copyOf } from "../support/fixtures.ts"
import { inDatabase, query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"
import { statementsOf } from "../support/statements.ts"

let account: Account
/** The definitions of the tables of the account. Most tests publish and check only these, because each table takes time. */
let catalogue: Catalogue
/** An output folder of the account with published files. */
let published: string
beforeAll(async () => {
  account = await openSynced("lists")
  catalogue = await catalogueOf("conversations", "forms", "redirects", "surveys")
  published = copyOf(account.output)
  await publishIn(published, { formats: ["duckdb", "parquet", "csv"] })
})
afterAll(() => {
  account.service.stop()
  for (const folder of [account.output, published]) rmSync(folder, { recursive: true })
})
/** As `sluice publish`. */
const publishIn = (folder: string, settings: Pick<OutputSettings, "formats">) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const run = yield* lastRun()
      yield* publishNow(catalogue, { folder, memoryMb: 128, ...settings }, { run: run!.id })
    }).pipe(Effect.provide(Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 128 })))
  )
/** Damages a copy of the folder with the published files and checks it. */
const check = (damage: (folder: string) => unknown) => checkBroken({ output: published, catalogue }, damage)

type BrokenFile = [name: string, damage: (published: string) => unknown, wrong: RegExp]
const conversations = "parquet/conversations/part-0.parquet"
const edit = (path: string, change: (text: string) => string) => writeFileSync(path, change(readFileSync(path, "utf8")))

describe("verify reports each damaged published file and nothing else", () => {
  it.each<BrokenFile>([
    [
      "a truncated file",
      (folder) => truncateSync(join(folder, conversations), 1000),
      /parquet: it has 1,000 bytes; the manifest lists \d+$/
    ],
    ["a changed byte", (folder) => flip(join(folder, "csv/conversations.csv")), /csv\/conversations\.csv: its SHA-256/],
    ["a missing file", (folder) => rmSync(join(folder, "crm.duckdb")), /crm\.duckdb: missing$/],
    [
      "a wrong row count of a CSV file",
      (folder) => edit(join(folder, "manifest.json"), recount("csv/conversations.csv")),
      /csv\/conversations\.csv: it has (\d+) rows; the manifest lists \d+$/
    ],
    [
      "a wrong row count of a Parquet file",
      (folder) => edit(join(folder, "manifest.json"), recount(conversations)),
      /part-0\.parquet: it has (\d+) rows; the manifest lists \d+$/
    ],
    ["a missing manifest", (folder) => rmSync(join(folder, "manifest.json")), /manifest\.json: it cannot be read/],
    [
      "a truncated manifest",
      (folder) => truncateSync(join(folder, "manifest.json"), 500),
      /manifest\.json: it is not a valid manifest/
    ],
    [
      "an unknown run",
      (folder) =>
        edit(join(folder, "manifest.json"), (text) => text.replace(/"run": "\w+"/, '"run": "20200101T000000000Z"')),
      /manifest\.json: it names run 20200101T000000000Z, which is not in meta\.runs$/
    ]
  ])("%s", async (...[, damage, pattern]: BrokenFile) => {
    const { wrong, next } = await check((folder) => damage(join(folder, "published")))
    assert.strictEqual(wrong.length, 1, wrong.join("\n"))
    assert.match(wrong[0]!, pattern)
    assert.strictEqual(next, "./sluice publish --full")
  })
})

const editManifest = (folder: string, change: (manifest: any) => void) =>
  edit(join(folder, "published/manifest.json"), (text) => {
    const manifest = JSON.parse(text)
    change(manifest)
    return JSON.stringify(manifest)
  })

describe("verify reports each difference between warehouse, files and manifest and nothing else", () => {
  it("in rows, child rows and values of the warehouse, and a table that the manifest does not list", async () => {
    const { wrong, next } = await check(async (folder) => {
      await sql(folder, "DELETE FROM crm.redirects WHERE id = (SELECT min(id) FROM crm.redirects)")
      await sql(folder, "DELETE FROM crm.conversation_tags WHERE tag = (SELECT min(tag) FROM crm.conversation_tags)")
      await sql(folder, "UPDATE crm.forms SET name = NULL WHERE id = (SELECT min(id) FROM crm.forms)")
      await sql(folder, "UPDATE crm_history.conversations SET last_message_body = ''")
      const keep = (one: { readonly table: string }) => one.table !== "surveys"
      editManifest(folder, (manifest) => {
        manifest.tables = manifest.tables.filter(keep)
        manifest.files = manifest.files.filter(keep)
      })
    })
    const expected = [
      /^content: crm\.conversation_tags: it has \d+ rows; the manifest lists \d+, and no run has changed it since$/,
      /^content: crm\.forms: its values differ from the manifest, and no run has changed it since$/,
      /^content: crm\.redirects: it has \d+ rows; the manifest lists \d+, and no run has changed it since$/,
      /^content: crm\.surveys: the manifest of the published release does not list it$/,
      /^content: crm_history\.conversations: its values differ/,
      /^content: crm_history\.surveys: the manifest/,
      /^published: csv\/surveys\.csv: no manifest names it$/,
      /^published: parquet\/surveys\/part-0\.parquet: no manifest names it$/
    ]
    const found = wrong.toSorted()
    assert.strictEqual(found.length, expected.length, found.join("\n"))
    for (const [index, pattern] of expected.entries()) assert.match(found[index]!, pattern)
    assert.strictEqual(next, "./sluice rebuild")
  })

  it("in a Parquet file that was changed together with its checksum, and files that the manifest does not list", async () => {
    const { wrong, next } = await check(async (folder) => {
      const path = "parquet/redirects/part-0.parquet"
      const file = join(folder, "published", path)
      await query(
        join(folder, "warehouse.duckdb"),
        `COPY (SELECT * REPLACE ('elsewhere' AS target) FROM crm.redirects) TO '${file}' (FORMAT parquet)`
      )
      const content = readFileSync(file)
      editManifest(folder, (manifest) => {
        manifest.files = manifest.files.filter((one: any) => !["csv/forms.csv", "crm.duckdb"].includes(one.path))
        Object.assign(
          manifest.files.find((one: any) => one.path === path),
          {
            bytes: content.length,
            sha256: createHash("sha256").update(content).digest("hex")
          }
        )
      })
    })
    assert.deepStrictEqual(wrong, [
      "published: crm.duckdb: no manifest names it",
      "published: csv/forms.csv: no manifest names it",
      "formats: manifest.json: it does not list crm.duckdb",
      "formats: parquet/redirects/part-0.parquet: its values differ from the manifest",
      "formats: manifest.json: it lists no csv file of forms"
    ])
    assert.strictEqual(next, "./sluice publish --full")
  })

  const changedSince = async (_: string, change: string) => {
    const night = [
      change,
      `INSERT INTO meta.run_resources (run_id, location_id, resource, new_rows, changed_rows, deleted_rows)
       VALUES ('20990101T000000000Z', 'L', 'redirects', 1, 0, 0)`
    ]
    const version = "UPDATE meta.content_versions SET version = uuid() WHERE resource = 'redirects'"
    const recorded = "UPDATE meta.content_versions SET base = version"
    const contentAfter = async (...statements: ReadonlyArray<string>) => {
      const folder = copyOf(published)
      for (const statement of statements) await sql(folder, statement)
      const checked = await verified(folder, () => Effect.void)
      rmSync(folder, { recursive: true })
      return checked.find(({ check }) => check === "content")!.findings.map(({ level, what }) => `${level}: ${what}`)
    }
    const [note] = await contentAfter(...night, version)
    assert.match(note!, /^note: it shows run \w+; the warehouse has newer changes in 1 table: redirects$/)
    // The next publish compares the versions: after one that saw no other version, or left the release as it was, nothing explains it.
    for (const statements of [night, [...night, version, recorded]]) {
      const [found, ...more] = await contentAfter(...statements)
      assert.match(found!, /^wrong: .*, and no run has changed it since$/)
      assert.deepStrictEqual(more, [])
    }
  }
  const since = "in a release that is older than a run that only %s, unless a publish has found nothing to do since"
  it.each([["changes", "UPDATE crm.redirects SET _row_hash = 'other', target = 'https://example.com/'"]])(
    since,
    changedSince
  )
  it.each([
    ["deletes", "DELETE FROM crm.redirects WHERE id = (SELECT min(id) FROM crm.redirects)"],
    ["adds", "INSERT INTO crm.redirects BY NAME SELECT * REPLACE ('another' AS id) FROM crm.redirects LIMIT 1"]
  ])(since, { tags: ["slow"] }, changedSince)

  it("and announces each check directly before it begins", async () => {
    const begun: Array<{ readonly check: string; readonly sent: Array<string> }> = []
    const send = (text: string) => begun.at(-1)?.sent.push(text)
    const begin = (check: string) => Effect.sync(() => void begun.push({ check, sent: [] }))
    await statementsOf(() => verified(published, begin, send), send)
    const marks = ["bit_xor", "replay", "parquet_file_metadata", "meta.content_versions"]
    assert.deepStrictEqual(
      begun.map(({ check, sent }) => [check, ...marks.filter((mark) => sent.some((text) => text.includes(mark)))]),
      [
        ["the vault"],
        ["the tables", "bit_xor"],
        ["a sample of the records of the vault against their rows", "replay"],
        ["published files", "parquet_file_metadata"],
        ["the tables against the published files", "meta.content_versions"],
        ["files that rows refer to"]
      ]
    )
  })
})

/** As `sluice verify` with the settings of the release; the replay only says that it begins. */
const verified = (
  folder: string,
  onCheck: (check: string) => Effect.Effect<void>,
  onReplay: (text: string) => unknown = () => {}
) => {
  const replay = () =>
    Effect.suspend(() => {
      onReplay("replay")
      return Effect.fail(failure({ _tag: "StatementRejected", path: folder, detail: "not replayed" }))
    })
  const settings = { folder, formats: ["duckdb", "parquet", "csv"] as const, memoryMb: 256 }
  const layer = Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "read", memoryMb: 128 })
  return Effect.runPromise(Effect.provide(verify(catalogue, settings, { all: false, replay }, onCheck), layer))
}

const recount = (path: string) => (text: string) => {
  const manifest = JSON.parse(text)
  manifest.files.find((file: { readonly path: string }) => file.path === path).rows += 1
  return JSON.stringify(manifest)
}

const model = "csv/bi/fct_opportunity.csv"
/** Changes the text of a published file together with its entry in the manifest. */
const changeListed = (folder: string, path: string, change: (text: string) => string) => {
  const text = change(readFileSync(join(folder, path), "utf8"))
  // The file may be a link that an earlier release has, too.
  rmSync(join(folder, path))
  writeFileSync(join(folder, path), text)
  relist(folder, path)
}
/** The manifest lists the file as it is now. */
const relist = (folder: string, path: string) => {
  const bytes = readFileSync(join(folder, path))
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  edit(join(folder, "manifest.json"), (listed) => {
    const manifest = JSON.parse(listed)
    const entry = manifest.files.find((file: { readonly path: string }) => file.path === path)
    Object.assign(entry, { bytes: bytes.length, sha256 })
    return JSON.stringify(manifest)
  })
}
/** Empties a custom value of each wide table of the DuckDB file, together with the entry of the file, and returns their names. */
const emptyWide = async (folder: string): Promise<ReadonlyArray<string>> => {
  const path = join(folder, "crm.duckdb")
  const views = await inDatabase(
    path,
    async (ask) => {
      const columns = await ask(
        `SELECT w.table_name AS view, w.column_name AS own FROM duckdb_columns() AS w ANTI JOIN duckdb_columns() AS t
         ON w.table_name = t.table_name || '_wide' AND w.column_name = t.column_name
         WHERE w.schema_name = 'main' AND w.table_name LIKE '%!_wide' ESCAPE '!'`
      )
      const emptied = new Set<string>()
      for (const { own, view } of columns) {
        const row = `(SELECT min(rowid) FROM main.${view} WHERE "${own}" IS NOT NULL)`
        const [changed] = emptied.has(String(view))
          ? []
          : await ask(`UPDATE main.${view} SET "${own}" = NULL WHERE rowid = ${row} RETURNING 1`)
        if (changed) emptied.add(String(view))
      }
      return [...emptied].sort()
    },
    "READ_WRITE"
  )
  relist(folder, "crm.duckdb")
  return views
}

describe("undamaged published files", () => {
  it(
    "pass in every format and for every table, and not with a model or wide table that was changed together with its entry",
    { tags: ["slow"] },
    async () => {
      const { catalogue, output, service } = await openSynced("all")
      service.stop()
      const ran = await sluice(["publish"], { SLUICE_OUTPUT: output, SLUICE_FORMATS: "duckdb,parquet,csv" })
      assert.strictEqual(ran.code, 0, ran.stderr)
      const { wrong, looked } = await checksOf(output, catalogue)
      const folder = join(output, "published")
      const lines = "csv/opportunities_wide.csv"
      for (const path of [model, lines]) changeListed(folder, path, (text) => text.replace(",open,", ",lost,"))
      const changed = await checksOf(output, catalogue)
      const views = await emptyWide(folder)
      const emptied = await checksOf(output, catalogue)
      rmSync(output, { recursive: true })
      const inFiles = [
        `formats: ${model}: its values differ from bi.fct_opportunity of crm.duckdb`,
        `formats: ${lines}: its values differ from the view opportunities_wide`
      ]
      assert.deepStrictEqual([...changed.wrong].sort(), [...inFiles].sort())
      assert.includeMembers([...views], ["contacts_wide", "opportunities_wide"])
      assert.deepStrictEqual(
        [...emptied.wrong].sort(),
        [...inFiles, ...views.map((view) => `formats: crm.duckdb: its values differ from the view ${view}`)].sort()
      )
      assert.deepStrictEqual(wrong, [])
      assert.match(looked("published"), /^[1-9]\d\d files of run \w+, [1-9]\d* MB$/)
      assert.match(looked("content"), /^\d+ tables, [1-9][\d,]+ rows, compared with the published release$/)
      assert.match(looked("formats"), /^\d+ tables in duckdb, parquet, csv$/)
    }
  )

  it("that are older than the tables are noted", async () => {
    const { wrong, notes } = await check((folder) =>
      sql(folder, "INSERT INTO meta.runs (run_id, command) VALUES ('20990101T000000000Z', 'sync')")
    )
    assert.deepStrictEqual(wrong, [])
    assert.match(
      notes.join("\n"),
      /^published: manifest\.json: run \w+ published it; the latest run is 20990101T000000000Z$/m
    )
  })
})
