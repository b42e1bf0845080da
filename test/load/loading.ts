/** Pages as extract stores them, loaded into a warehouse of two small tables. */
import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { id, instant, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Resource, defineChild, defineList } from "../../src/catalog/resource.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import type { Entry, Outcome, PageEntry } from "../../src/stores/vault/entry.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { checkpoint } from "../support/checkpoint.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"

const common = { description: "d", source: "s", scope: "s" }
const once = { request: get("/x"), paging: { kind: "once" }, records: "items", pageSize: 10 } as const
export const people = defineList({
  ...common,
  table: "persons",
  full: [once],
  changes: { field: "updatedAt", overlap: "0 days", strategies: [] },
  fields: {
    id: id("Id"),
    name: text("Name"),
    updatedAt: instant("Change"),
    tags: values("person_tags", "Tags", "tag", text("Tag"))
  }
})
export const notes = defineChild({
  ...common,
  table: "notes",
  childOf: { table: "persons", column: "person_id", refreshAfter: "30 days", strategy: once },
  fields: { id: id("Id"), body: text("Body") }
})
const resources: ReadonlyArray<Resource> = [people, notes]
const catalogue = { resources, familyByTable: new Map<string, string>() }
const template = await templateOf(catalogue)

const base = Date.UTC(2026, 0, 1)
interface From {
  readonly run?: string
  readonly location?: string
  /** Days since the beginning of the year. */
  readonly day?: number
}
const common_ = ({ day = 0, location = "L", run = "r1" }: From) => ({ run, location, at: base + day * 86_400_000 })
const append = (entry: Entry, body?: unknown) =>
  Effect.flatMap(Vault, (vault) => vault.append({ entry, body: body === undefined ? "" : JSON.stringify(body) }))

/** A page of the list of people. */
export const page = (items: ReadonlyArray<unknown>, from: From = {}, more: Partial<PageEntry> = {}) =>
  append(
    {
      ...common_(from),
      kind: "page",
      resource: "persons",
      partition: "all",
      request: {},
      records: "items",
      hasBigNumbers: false,
      checkpoint: { ...checkpoint, mode: "full" },
      ...more
    } as Entry,
    { items }
  )
/** All notes of a person. */
export const notesOf = (person: string, items: ReadonlyArray<unknown>, from: From = {}) =>
  page(items, from, {
    resource: "notes",
    partition: "notes",
    parent: { id: person, version: "1", done: true, full: true }
  })
export const decided = (
  kind: "deleted" | "existing",
  keys: ReadonlyArray<string>,
  from: From = {},
  resource = "persons"
) => append({ ...common_(from), kind, resource }, keys)
export const ended = (outcome: Partial<Outcome> = {}, from: From = {}, resource = "persons") =>
  append({
    ...common_(from),
    kind: "end",
    resource,
    outcome: { mode: "full", shortfalls: [], warnings: [], requests: 1, ...outcome }
  })
/** The service answered by an error that a person has no notes. */
export const noNotesOf = (person: string, from: From) =>
  append({
    ...common_(from),
    kind: "page",
    resource: "notes",
    partition: "notes",
    request: {},
    records: "",
    hasBigNumbers: false,
    parent: { id: person, version: "2", done: true, full: true }
  })
export const load = Effect.flatMap(makeLoader(resources, join(newFolder(), "tmp")), (loader) => loader.load)
export const run = (sql: string) => Effect.flatMap(Warehouse, (warehouse) => warehouse.run(sql))
/** Rows as lists of texts. */
export const select = (sql: string) =>
  Effect.map(
    Effect.flatMap(Warehouse, (warehouse) => warehouse.rows(sql)),
    (rows) =>
      rows.map((row) =>
        Object.values(row)
          .map((value) => (value === null ? null : String(value)))
          .join(" ")
      )
  )

export const test = (name: string, body: Effect.Effect<void, unknown, Vault | Warehouse>) =>
  it.live(name, () => {
    const folder = newFolder()
    return prepare(catalogue).pipe(
      Effect.andThen(body),
      Effect.provide(
        Layer.merge(
          Vault.layer(join(folder, "vault")),
          Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 256, template })
        )
      )
    )
  })
