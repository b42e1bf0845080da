/**
 * However the vault is split into batches, the tables, their history and the state are those of one frame at a time. A sync
 * after a kill and a rebuild split it elsewhere than the runs that wrote it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { boolean, count, id, instant, rows, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Resource, defineChild, defineEmbedded, defineList } from "../../src/catalog/resource.ts"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import type { Entry } from "../../src/stores/vault/entry.ts"
import { type Position } from "../../src/stores/vault/position.ts"
import { compactor } from "../../src/features/prune/compact.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { checkpoint } from "../support/checkpoint.ts"
import { templateOf } from "../support/fixtures.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const common = { description: "d", source: "s", scope: "s" }
const list = (path: `/${string}`, records: string) => ({
  request: get(path),
  paging: { kind: "once" } as const,
  records,
  pageSize: 10
})
const people = defineList({
  ...common,
  table: "persons",
  full: [list("/persons", "people")],
  changes: { field: "updatedAt", overlap: "0 days", strategies: [] },
  fields: {
    id: id("Id"),
    name: text("Name"),
    updatedAt: instant("Change"),
    tags: values("person_tags", "Tags", "tag", text("Tag"))
  }
})
const bills = defineList({
  ...common,
  table: "bills",
  full: [list("/bills", "bills")],
  fields: { id: id("Id"), status: text("Status"), total: count("Total"), deleted: boolean("Deleted") },
  tombstone: "deleted",
  getOne: { request: get("/bills/{billId}"), record: "" },
  detail: {
    refreshAfter: "30 days",
    fields: { memo: text("Memo"), lines: rows("bill_lines", "Lines", { sku: text("Article") }) }
  }
})
const folders = defineEmbedded({
  ...common,
  table: "bill_folders",
  embeddedIn: { table: "bills", records: "folders" },
  fields: { id: id("Id"), name: text("Name") }
})
const notes = defineChild({
  ...common,
  table: "notes",
  childOf: {
    table: "persons",
    column: "person_id",
    refreshAfter: "30 days",
    strategy: list("/people/{personId}/notes", "notes")
  },
  fields: { id: id("Id"), body: text("Body") }
})
const resources: ReadonlyArray<Resource> = [people, bills, folders, notes]
const catalogue = { resources, familyByTable: new Map<string, string>() }
const template = await templateOf(catalogue)

interface Frame {
  readonly entry: Entry
  readonly body: string | Buffer
}

/** Some runs: readings take turns, children follow their parents, and a kill ends a run anywhere. */
const vaultOf = (seed: number, runs = 4, location = "L"): ReadonlyArray<Frame> => {
  const random = randomFrom(seed)
  const int = (max: number) => Math.floor(random() * max)
  const some = (prefix: string) => Array.from({ length: 5 }, (_, n) => `${prefix}${n}`).filter(() => random() < 0.6)
  const frames: Array<Frame> = []
  let at = 1_800_000_000_000
  for (let number = 1; number <= runs; number++) {
    const run = `run${number}`
    const push = (resource: string, entry: object, body: unknown = "") => {
      at += 1 + int(1000)
      const common = { run, at, location, resource }
      frames.push({
        entry: { ...common, ...entry } as Entry,
        body: typeof body === "string" ? body : JSON.stringify(body)
      })
    }
    const page = (resource: string, records: string, body: unknown, more: object = {}) =>
      push(
        resource,
        {
          kind: "page",
          partition: "all",
          request: {},
          records,
          hasBigNumbers: false,
          checkpoint: { ...checkpoint, mode, startedAt: at },
          ...more
        },
        body
      )
    const end = (label: string, finished = true) =>
      push(label, {
        kind: "end",
        outcome: {
          mode: ["persons", "bills"].includes(label) ? mode : "children",
          shortfalls: finished ? [] : [{ _tag: "Text", text: "stopped" }],
          warnings: [],
          requests: 1,
          watermark: at
        }
      })
    const mode = random() < 0.6 ? "full" : "incremental"
    /** Most records are as they were. */
    const changed = <A>(usual: A, other: () => A) => (random() < 0.9 ? usual : other())
    const version = (days: number) => new Date(1_790_000_000_000 + days * 86_400_000).toISOString()
    const person = (key: string) =>
      changed({ id: key, name: "n", updatedAt: version(0), tags: ["t"] }, () => ({
        id: key,
        name: `n${int(3)}`,
        updatedAt: version(int(6)),
        tags: some("t")
      }))
    /** A page may have two versions of a record. */
    const twice = (keys: ReadonlyArray<string>) => (random() < 0.2 ? [...keys, ...keys.slice(0, 2)] : keys)
    const bill = (key: string) =>
      changed({ id: key, status: "s", total: 1, deleted: false }, () => ({
        id: key,
        status: `s${int(3)}`,
        total: int(3),
        deleted: random() < 0.3
      }))
    const pages: Record<string, () => void> = {
      persons: () => page("persons", "people", { people: twice(some("p")).map(person) }),
      bills: () =>
        page("bills", "bills", {
          bills: twice(some("b")).map(bill),
          folders: some("f").map((key) => ({ id: key, name: run }))
        }),
      "bills/details": () => {
        const key = `b${int(5)}`
        page(
          "bills",
          "",
          { ...bill(key), memo: `m${int(3)}`, lines: some("l").map((sku) => ({ sku })) },
          {
            kind: "detail",
            partition: "bills/details",
            parent: { id: key, version: `v${int(3)}`, done: true, full: true }
          }
        )
      },
      notes: () => {
        const parent = `p${int(5)}`
        const isEmpty = random() < 0.15
        const body = isEmpty ? "" : { notes: some(`${parent}n`).map((key) => ({ id: key, body: `b${int(3)}` })) }
        page("notes", "notes", body, {
          partition: "notes",
          parent: {
            id: parent,
            version: `v${int(3)}`,
            done: isEmpty || random() < 0.7,
            full: random() < 0.8
          }
        })
      },
      decision: () => {
        const table = ["persons", "bills", "notes", "bill_folders"][int(4)]!
        const keys = table === "notes" ? some(`p${int(5)}n`) : some(table === "bill_folders" ? "f" : table[0]!)
        push(table, { kind: table === "notes" && random() < 0.3 ? "existing" : "deleted" }, keys)
      }
    }
    const left = new Map(Object.keys(pages).map((label) => [label, 1 + int(4)]))
    while (left.size > 0) {
      if (random() < 0.03) break // Killed.
      const label = [...left.keys()][int(left.size)]!
      pages[label]!()
      const remaining = left.get(label)! - 1
      left.set(label, remaining)
      if (remaining > 0) continue
      left.delete(label)
      if (label !== "decision") end(label, random() < 0.8)
    }
  }
  return frames
}

/** All rows of all tables, except those that name a batch. */
const contents = Effect.gen(function* () {
  const warehouse = yield* Warehouse
  const tables = yield* warehouse.rows(
    `SELECT schema_name || '.' || table_name AS path FROM duckdb_tables() WHERE schema_name IN ('crm', 'crm_history', 'meta')
     AND table_name NOT IN ('vault_offset', 'content_versions', 'columns', 'schema_version') ORDER BY 1`
  )
  const found: Record<string, ReadonlyArray<string>> = {}
  for (const { path } of tables)
    // Batches may note a key twice.
    found[String(path)] = (yield* warehouse.rows(
      `SELECT ${String(path).startsWith("meta.") ? "DISTINCT" : ""} to_json(t)::VARCHAR AS row FROM ${path} AS t`
    ))
      .map(({ row }) => String(row))
      .sort()
  return found
})

/**
 * Loads the vault with one frame at a time, and closes a batch where `closes` says so. `restarts`: whether another loader
 * goes on after a batch, which knows nothing of the batches before.
 */
const loadedWith = (folder: string, closes: () => boolean, restarts = () => false) =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const single = Vault.of({ ...vault, read: (from: Position) => vault.read(from, 1) })
    yield* prepare(catalogue)
    yield* Effect.gen(function* () {
      const isAtEnd = ({ segment, offset }: Position) =>
        segment === vault.end().segment && offset === vault.end().offset
      let ended = false
      while (!ended) {
        const loader = yield* makeLoader(resources, join(newFolder(), "tmp"))
        let restarting = false
        yield* loader.loadContinuously((position, bytes) =>
          Effect.sync(() => {
            ended = isAtEnd(position)
            if (ended || (bytes > 0 && closes())) return false
            restarting ||= bytes > 0 && restarts()
            return !restarting
          })
        )
      }
    }).pipe(Effect.provideService(Vault, single))
    return yield* contents
  }).pipe(
    Effect.provide(
      Layer.merge(
        Vault.layer(join(folder, "vault")),
        Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 256, template })
      )
    )
  )

/** Writes frames into a new vault. */
const written = (frames: ReadonlyArray<Frame>) =>
  Effect.gen(function* () {
    const folder = newFolder()
    yield* Effect.gen(function* () {
      const vault = yield* Vault
      for (const frame of frames) yield* vault.append(frame)
      yield* vault.seal
    }).pipe(Effect.provide(Vault.layer(join(folder, "vault"))))
    return folder
  })

describe("a vault", () => {
  it.live("of one run gives the same tables in one batch as in many", () =>
    Effect.gen(function* () {
      const folder = yield* written(vaultOf(1, 1))
      const [whole, split] = [yield* loadedWith(folder, () => false), yield* loadedWith(folder, () => true)]
      for (const table of Object.keys(whole)) assert.deepStrictEqual(split[table], whole[table], table)
    })
  )

  it.live("gives the rows of a location, whatever another one has with the same ids in the same batches", () =>
    Effect.gen(function* () {
      // Some of them are enough, and ends of readings would close batches.
      const some = (frames: ReadonlyArray<Frame>) =>
        frames.filter(({ entry }, n) => n % 2 === 0 && entry.kind !== "end")
      const [own, other] = [some(vaultOf(2, 2)), some(vaultOf(102, 2, "M"))]
      const mixed = [...own, ...other].toSorted((one, another) => one.entry.at - another.entry.at)
      const alone = yield* loadedWith(yield* written(own), () => false)
      const beside = yield* loadedWith(yield* written(mixed), () => false)
      const ofLocation = (rows: ReadonlyArray<string>) => rows.filter((row) => row.includes('"location_id":"L"'))
      for (const table of Object.keys(alone))
        assert.deepStrictEqual(ofLocation(beside[table]!), ofLocation(alone[table]!), table)
    })
  )

  /** How often a batch closes, and how often another loader goes on after it. */
  const ways = [
    [0, 0],
    [0.3, 0],
    [1, 1],
    [0.3, 0.1]
  ] as const
  for (const [seed, tried] of [
    [9, ways],
    [1, ways.slice(-1)],
    [38, ways.slice(-1)]
  ] as const)
    it.live(
      `gives the same tables, history and state however it is split into batches (seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const folder = yield* written(vaultOf(seed))
          const one = yield* loadedWith(folder, () => true)
          const random = randomFrom(seed + 100)
          for (const [often, restart] of tried) {
            const most = Math.floor(random() * 8)
            const split = yield* loadedWith(
              folder,
              () => random() < often,
              () => random() < restart
            ).pipe(
              Effect.provideService(
                Limits,
                limitsOf({
                  load: {
                    knownRows: most,
                    smallKnownRows: most >> 1,
                    knownPages: most % 3,
                    batchRecords: 1 + most,
                    batchTables: 1 + (most % 3),
                    sliceBytes: 1 + most * 100
                  }
                })
              )
            )
            for (const table of Object.keys(one))
              assert.deepStrictEqual(split[table], one[table], `${table}, ${often}, ${restart}`)
          }
          // Without the records that repeat what was read before.
          const { compact, look } = compactor(resources, Number.POSITIVE_INFINITY)
          for (const frame of vaultOf(seed)) look(frame)
          const compacted = yield* loadedWith(yield* written(vaultOf(seed).map(compact)), () => random() < 0.3)
          for (const table of Object.keys(one).filter((name) => !name.startsWith("meta.")))
            assert.deepStrictEqual(compacted[table], one[table], `${table}, compacted`)
        }),
      { tags: ["slow"] }
    )
})
