/** When a child counts as deleted: with its parent, or if two readings of the parent did not return it. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime } from "effect"
import { join } from "node:path"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { present } from "../../src/catalog/present.ts"
import { type Resource, defineChild, defineList } from "../../src/catalog/resource.ts"
import { Api } from "../../src/stages/api/api.ts"
import { neverIssued, refusalIn } from "../../src/stages/api/author.ts"
import { RequestRejected } from "../../src/stages/api/errors.ts"
import { decideMissingChildren } from "../../src/stages/extract/deletions.ts"
import type { RunContext } from "../../src/stages/extract/run-context.ts"
import type { Frame } from "../../src/stores/vault/frame.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"
import { contextOf, silentApi, vaultOf } from "./fakes.ts"

const common = { description: "d", source: "s", scope: "s" }
const once = { request: get("/parents/{parentId}/x"), paging: { kind: "once" }, records: "x", pageSize: 10 } as const
const parents = defineList({
  ...common,
  table: "parents",
  full: [once],
  fields: { id: id("Id"), childId: text("Child") }
})
const childOf = { table: "parents", column: "parent_id", refreshAfter: "1 day", strategy: once } as const
const notes = defineChild({ ...common, table: "notes", childOf, fields: { id: id("Id") } })
/** Its records are named by a column of the parent, and can be requested alone. */
const parts = defineChild({
  ...common,
  table: "parts",
  childOf: { ...childOf, column: "id", ids: "child_id" },
  getOne: { request: get("/parts/{partId}"), record: "part" },
  fields: { id: id("Id") }
})
/** Its records can be requested alone, below their parents. */
const lines = defineChild({
  ...common,
  table: "lines",
  childOf,
  getOne: { request: get("/parents/{parentId}/lines/{id}"), record: "part" },
  fields: { id: id("Id") }
})
const resources: ReadonlyArray<Resource> = [parents, notes, parts, lines]
const template = await templateOf({ resources, familyByTable: new Map<string, string>() })
const warehouse = ManagedRuntime.make(
  Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
)
afterAll(() => warehouse.dispose())

let locations = 0
const known = { ...contextOf().known, hasNoDeleted: () => false, hasMissing: () => true }
/** Decides in a location with these rows. `again`: what reading the parents once more leaves. */
const decided = (sql: string, again = "", more: Partial<RunContext> = {}, resource: Resource = notes) => {
  const location = `L${locations++}`
  const [frames, read, asked, paths] = [[] as Array<Frame>, [] as Array<string>, [] as Array<string>, new Set<string>()]
  const at = (statements: string) =>
    Effect.flatMap(Warehouse, ({ run }) => run(statements.replaceAll(/\bHERE\b/g, `'${location}'`)))
  const api = Api.of({
    ...silentApi,
    send: ({ request }) => {
      const one = request.path.split("/").at(-1)!
      asked.push(one)
      paths.add(request.path)
      const body = Buffer.from(JSON.stringify({ message: `${one} is not there` }))
      return one.startsWith("gone") || one === neverIssued("gone1")
        ? Effect.fail(new RequestRejected({ status: 404, message: "no", refusal: refusalIn(404, body, undefined) }))
        : Effect.succeed({
            bytes: Buffer.alloc(0),
            body: { part: { id: one } },
            hasBigNumbers: false,
            at: 0,
            serviceTime: undefined
          })
    }
  })
  return warehouse.runPromise(
    Effect.gen(function* () {
      yield* at(sql)
      const context = contextOf({ location, resources, known, ...more })
      const warnings = yield* decideMissingChildren(resource, present(resource.childOf, "parent"), context, (ids) =>
        Effect.andThen(
          Effect.sync(() => void read.push(...ids)),
          again === "" ? Effect.void : at(again)
        )
      )
      const deleted = frames
        .filter(({ entry }) => entry.kind === "deleted")
        .flatMap(({ body }) => JSON.parse(String(body)) as ReadonlyArray<string>)
      const existing = frames
        .filter(({ entry }) => entry.kind === "existing")
        .flatMap(({ body }) => JSON.parse(String(body)) as ReadonlyArray<string>)
      return { asked, deleted: deleted.sort(), existing, paths, read, warnings }
    }).pipe(Effect.provide(Layer.mergeAll(Layer.succeed(Api, api), Layer.succeed(Vault, vaultOf(frames)))))
  )
}
/** Two parents with twenty notes each; the parent `q` is deleted if it says so. */
const rows = (isDeleted = false) => `
  INSERT INTO crm.parents (location_id, id, _deleted_at) VALUES (HERE, 'p', NULL), (HERE, 'q', ${isDeleted ? "now()" : "NULL"});
  INSERT INTO crm.notes (location_id, id, parent_id) SELECT HERE, p || n, p FROM range(20) AS t(n), (VALUES ('p'), ('q')) AS v(p);`
const missing = (key: string, lastAt: string) =>
  `INSERT INTO meta.missing_children VALUES (HERE, 'notes', '${key}', '${key[0]}', TIMESTAMPTZ '2026-01-01', TIMESTAMPTZ '${lastAt}');`
const [once_, twice] = ["2026-01-01", "2026-01-02"]
const secondReading = `UPDATE meta.missing_children SET last_at = TIMESTAMPTZ '2026-01-02' WHERE location_id = HERE AND key <> 'p2';`

describe("children", () => {
  it("are deleted with their parent, without a question and whatever their share is", async () => {
    const { deleted, read, warnings } = await decided(rows(true), "", { deletionShareMax: 0 })
    assert.deepStrictEqual([deleted.length, deleted.every((one) => one.startsWith("q"))], [20, true])
    assert.deepStrictEqual([read, warnings], [[], []])
  })

  it("are not looked for if no parent is known to be deleted, and none is missing", async () => {
    const nothing = { known: { ...known, hasNoDeleted: () => true, hasMissing: () => false } }
    assert.deepStrictEqual((await decided(rows(true) + missing("p1", twice), "", nothing)).deleted, [])
  })

  it("of a parent that returned without them are deleted if it returns without them again", async () => {
    const { deleted, read, warnings } = await decided(
      rows() + missing("p1", once_) + missing("q1", once_),
      secondReading
    )
    assert.deepStrictEqual([deleted, read.sort(), warnings], [["p1", "q1"], ["p", "q"], []])
  })

  it("are not deleted if the second reading returns them, or is none", async () => {
    const returned = await decided(rows() + missing("p1", once_) + missing("p2", once_), secondReading)
    assert.deepStrictEqual([returned.deleted, returned.warnings], [["p1"], [{ _tag: "DeletionsUnconfirmed", rows: 1 }]])
    assert.deepStrictEqual(returned.read, ["p"], "each parent once")
    const none = await decided(rows() + missing("p1", once_))
    assert.deepStrictEqual([none.deleted, none.warnings], [[], [{ _tag: "DeletionsUnconfirmed", rows: 1 }]])
  })

  it("that two earlier readings did not return are deleted, and their parents are not read again", async () => {
    const { deleted, read } = await decided(rows() + missing("p1", twice))
    assert.deepStrictEqual([deleted, read], [["p1"], []])
  })

  it("are not deleted beyond the share, and then nothing is read again", async () => {
    const many = Array.from({ length: 15 }, (_, n) => missing(`p${n}`, once_)).join("")
    const { deleted, read, warnings } = await decided(rows() + many, secondReading, { deletionShareMax: 0.1 })
    assert.deepStrictEqual([deleted, read], [[], []])
    assert.deepStrictEqual(warnings, [{ _tag: "TooManyDeletions", missing: 15, deleted: 15, rows: 40 }])
  })

  it("of another location, or deleted already, are left alone", async () => {
    const elsewhere = (rows(true) + missing("p1", twice)).replaceAll(/\bHERE\b/g, "'elsewhere'")
    assert.deepStrictEqual((await decided(elsewhere)).deleted, [])
    assert.deepStrictEqual(
      (
        await decided(
          `${rows() + missing("p1", twice)} UPDATE crm.notes SET _deleted_at = now() WHERE location_id = HERE;`
        )
      ).deleted,
      []
    )
  })
})

describe("records that a column of their parent names", () => {
  const sql = `INSERT INTO crm.parents (location_id, id, child_id) VALUES (HERE, 'p', 'named'), (HERE, 'q', 'other');
    INSERT INTO crm.parts (location_id, id) VALUES (HERE, 'named'), (HERE, 'other'), (HERE, 'gone1'), (HERE, 'still');`
  const noneMissing = { known: { ...known, hasNoDeleted: () => true, hasMissing: () => false } }
  it("are asked for one by one once their parents were read in full and no longer name them", async () => {
    const { asked, deleted, existing, warnings } = await decided(
      sql,
      "",
      { ...noneMissing, readInFull: new Set(["parents"]) },
      parts
    )
    assert.deepStrictEqual(
      [deleted, existing, warnings],
      [["gone1"], ["still"], [{ _tag: "MissingRowsExist", rows: 1 }]]
    )
    assert.includeMembers(asked, ["gone1", "still"])
  })

  it("are not asked for if only some parents were read", async () => {
    const { asked, deleted } = await decided(sql, "", noneMissing, parts)
    assert.deepStrictEqual([asked, deleted], [[], []])
  })
})

it("a child and an id that was never issued are requested below the child's parent: the answer of another parent proves nothing", async () => {
  const sql = `INSERT INTO crm.parents (location_id, id) VALUES (HERE, 'p'), (HERE, 'q');
    INSERT INTO crm.lines (location_id, id, parent_id, _run_id) VALUES (HERE, 'gone1', 'p', ''), (HERE, 'gone2', 'q', ''), (HERE, 'still', 'q', ''), (HERE, 'there', 'q', 'run1');
    INSERT INTO meta.missing_children SELECT HERE, 'lines', id, parent_id, TIMESTAMPTZ '2026-01-01', TIMESTAMPTZ '2026-01-01'
      FROM crm.lines WHERE location_id = HERE AND id <> 'there';`
  const { deleted, existing, paths } = await decided(sql, "", {}, lines)
  assert.deepStrictEqual([deleted, existing], [["gone1", "gone2"], ["still"]])
  const expected = [
    "p/lines/gone1",
    "q/lines/gone2",
    "q/lines/still",
    "q/lines/there",
    `p/lines/${neverIssued("gone1")}`
  ]
  assert.deepStrictEqual([...paths].toSorted(), expected.map((one) => `/parents/${one}`).toSorted())
})
