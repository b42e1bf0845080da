/** Which entries of the vault one transaction may hold: the tables must not depend on where one ends. */
import { assert, describe, it } from "@effect/vitest"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Resource, defineChild, defineEmbedded, defineList } from "../../src/catalog/resource.ts"
import { BatchOrder, PageOrder } from "../../src/stages/load/batch-order.ts"
import type { NormalisedPage } from "../../src/stages/load/normalised-page.ts"
import type { Entry, PageEntry } from "../../src/stores/vault/entry.ts"
import { checkpoint } from "../support/checkpoint.ts"

const common = { description: "d", source: "s", scope: "s", fields: { id: id("Id"), name: text("Name") } }
const once = (records: string) => ({ request: get("/x"), paging: { kind: "once" }, records, pageSize: 10 }) as const
const persons = defineList({ ...common, table: "persons", full: [once("persons")] })
const tags = defineEmbedded({ ...common, table: "tags", embeddedIn: { table: "persons", records: "tags" } })
const notes = defineChild({
  ...common,
  table: "notes",
  fields: { ...common.fields, personId: text("Person", { column: "person_id" }) },
  childOf: { table: "persons", column: "person_id", refreshAfter: "1 day", strategy: once("notes") }
})
const resources: ReadonlyArray<Resource> = [persons, tags, notes]

const page = (more: Partial<PageEntry> = {}): PageEntry => ({
  kind: "page",
  run: "r1",
  at: 1,
  location: "L",
  resource: "persons",
  partition: "all",
  request: {},
  records: "persons",
  hasBigNumbers: false,
  checkpoint: { ...checkpoint, mode: "full" },
  ...more
})
const other = (kind: "end" | "deleted" | "existing" | "window", more: Partial<PageEntry> = {}) =>
  ({ ...page(more), kind }) as unknown as Entry
const noteOf = (parent: string, more: Partial<PageEntry> = {}, done = true) =>
  page({
    resource: "notes",
    partition: "notes",
    parent: { id: parent, version: "1", done, full: true },
    ...more
  })

const detail = noteOf("a", { resource: "persons", kind: "detail", partition: "persons/details" })

describe("an entry begins the next batch", () => {
  const isNext = (...entries: ReadonlyArray<Entry>) => {
    const order = new BatchOrder(resources)
    return entries.map((entry) => order.isNext(entry)).at(-1)
  }
  it.each([
    ["a page of a reading that has ended", other("end"), page(), true],
    ["a page of another reading", other("end"), noteOf("p"), false],
    ["a page of the same reading elsewhere", other("end"), page({ location: "M" }), false],
    ["children whose reading has ended", other("end", { resource: "notes" }), noteOf("p"), true],
    [
      "a page of a backfill that has ended a window",
      other("window"),
      page({ checkpoint: { ...checkpoint, mode: "window" } }),
      true
    ],
    ["a page of the list beside a backfill", other("window"), page(), false],
    ["a page of a table with deleted rows", other("deleted"), page(), true],
    ["a page of a table with rows that exist", other("existing"), page(), true],
    ["children of a table with deleted rows", other("deleted"), noteOf("p"), true],
    ["the parents of deleted rows", other("deleted", { resource: "notes" }), page(), false],
    ["a list in whose pages deleted rows are embedded", other("deleted", { resource: "tags" }), page(), true],
    ["rows of the same table elsewhere", other("deleted"), page({ location: "M" }), false],
    ["a page after a page", page(), page(), false],
    ["an end after the end of another reading", other("end"), other("end", { resource: "notes" }), false]
  ] as ReadonlyArray<readonly [string, Entry, Entry, boolean]>)("with %s", (_, first, second, expected) =>
    assert.strictEqual(isNext(first, second), expected)
  )

  it("whatever lies in between", () =>
    assert.isTrue(isNext(other("end"), noteOf("p"), other("deleted", { location: "M" }), page())))
})

describe("a page joins the batch", () => {
  /** Records as key and hash; one without a hash was rejected. */
  type Rows = Readonly<Record<string, number | undefined>>
  const normalised = (rows: Rows, resource: Resource) =>
    ({
      resource,
      results: Object.entries(rows).map(([keyText, hashNumber]) => ({
        keyText,
        row: hashNumber === undefined ? undefined : {},
        hashNumber
      })),
      hasCopies: false
    }) as unknown as NormalisedPage
  const taken = (...pages: ReadonlyArray<readonly [PageEntry, Rows, Resource?]>) => {
    const order = new PageOrder()
    return pages.map(([entry, rows, resource = persons]) => order.takes(entry, [normalised(rows, resource)])).at(-1)
  }

  it.each([
    ["it has other records", [page(), { a: 1 }], [page(), { b: 1 }], true],
    ["it says the same of a record", [page(), { a: 1 }], [page(), { a: 1, b: 2 }], true],
    ["it says something else of a record", [page(), { a: 1 }], [page(), { b: 1, a: 2 }], false],
    ["it says something else of a record elsewhere", [page(), { a: 1 }], [page({ location: "M" }), { a: 2 }], true],
    ["another run has the record, even the same", [page(), { a: 1 }], [page({ run: "r2" }), { a: 1 }], false],
    ["another run has another record", [page(), { a: 1 }], [page({ run: "r2" }), { b: 1 }], true],
    ["a reading of changes has the record", [page(), { a: 1 }], [page({ checkpoint }), { a: 1 }], false],
    ["another partition of the list has the record", [page(), { a: 1 }], [page({ partition: "b" }), { a: 1 }], true],
    ["a detail completes a row of the list", [page(), { a: 1 }], [detail, { a: 2 }], true],
    ["a list follows the detail of its row", [detail, { a: 1 }], [page(), { a: 2 }], false],
    ["the record was rejected", [page(), { a: 1 }], [page({ run: "r2" }), { a: undefined }], true],
    ["the record was rejected before", [page(), { a: undefined }], [page(), { a: 2 }], true]
  ] as ReadonlyArray<readonly [string, readonly [PageEntry, Rows], readonly [PageEntry, Rows], boolean]>)(
    "if %s",
    (_, first, second, expected) => assert.strictEqual(taken(first, second), expected)
  )

  it("of another table, whatever the keys are", () =>
    assert.isTrue(taken([page(), { a: 1 }], [noteOf("p"), { a: 2 }, notes])))

  it("of a parent whose last page is not in the batch", () => {
    const of = (...entries: ReadonlyArray<PageEntry>) =>
      taken(...entries.map((entry, n) => [entry, { [`n${n}`]: 1 }, notes] as const))
    assert.isTrue(of(noteOf("p", {}, false), noteOf("p")))
    assert.isFalse(of(noteOf("p", {}, false), noteOf("p"), noteOf("p")))
    assert.isTrue(of(noteOf("p"), noteOf("q")))
    assert.isTrue(of(noteOf("p"), noteOf("p", { location: "M" })))
    assert.isTrue(of(noteOf("p"), noteOf("p", { partition: "emails" })))
  })

  it("that is refused leaves nothing behind", () => {
    const order = new PageOrder()
    order.takes(page(), [normalised({ a: 1 }, persons)])
    const refused = noteOf("p", { run: "r2", resource: "persons" })
    assert.isFalse(order.takes(refused, [normalised({ a: 1, z: 9 }, persons)]))
    assert.isTrue(order.takes(page(), [normalised({ z: 1 }, persons)]))
    assert.isTrue(order.takes(noteOf("p", { run: "r3", resource: "persons" }), [normalised({ y: 1 }, persons)]))
  })

  it("with all its tables or not at all", () => {
    const order = new PageOrder()
    const both = (persons_: Rows, tags_: Rows) => [normalised(persons_, persons), normalised(tags_, tags)]
    assert.isTrue(order.takes(page(), both({ a: 1 }, { t: 1 })))
    assert.isFalse(order.takes(page(), both({ b: 1 }, { t: 2 })))
    assert.isTrue(order.takes(page(), both({ b: 2 }, { t: 1 })))
  })

  it("and says whether it has different copies of one record itself", () => {
    const twice = (first: number, second: number) => {
      const [one, two] = [normalised({ a: first }, persons), normalised({ a: second }, persons)]
      const both = { ...one, results: [...one.results, ...two.results] } as NormalisedPage
      assert.isTrue(new PageOrder().takes(page(), [both]))
      return both.hasCopies
    }
    assert.isTrue(twice(1, 2))
    assert.isFalse(twice(1, 1))
  })
})
