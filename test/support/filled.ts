/** A vault with rows for every table and child table, written from the definitions. */
import { Effect } from "effect"
import type { Catalogue } from "../../src/catalog/discover.ts"
import type { ColumnType, Field, Fields } from "../../src/catalog/fields.ts"
import { type Resource, childRequestOf } from "../../src/catalog/resource.ts"
import { checkpoint } from "./checkpoint.ts"
import type { EndEntry, PageEntry } from "../../src/stores/vault/entry.ts"
import { Vault } from "../../src/stores/vault/vault.ts"

interface Size {
  /** The number of records of each resource. */
  readonly records: number
  /** The number of unknown fields of each record. */
  readonly unknownFields: number
}

type Page = readonly [more: Partial<PageEntry> & { readonly resource: string }, body: unknown]

const common = { run: "20260131T100000000Z", at: Date.UTC(2026, 0, 31, 10), location: "L" }

/** Writes one page of each list, one for each parent of children, one for each detail, and the ends. */
export const fillVault = Effect.fn("test.fillVault")(function* ({ resources }: Catalogue, size: Size) {
  const vault = yield* Vault
  for (const [more, body] of resources.flatMap((resource) => pagesOf(resource, size))) {
    const page = {
      kind: "page",
      partition: "all",
      request: {},
      records: "records",
      hasBigNumbers: false,
      checkpoint
    } as const
    yield* vault.append({ entry: { ...common, ...page, ...more }, body: JSON.stringify(body) })
  }
  for (const { table } of resources.filter(({ embeddedIn }) => !embeddedIn)) {
    const outcome = { mode: "full", shortfalls: [], warnings: [], requests: 1 } as const
    yield* vault.append({ entry: { ...common, kind: "end", resource: table, outcome } satisfies EndEntry, body: "" })
  }
  yield* vault.seal
})

const pagesOf = (resource: Resource, { records, unknownFields }: Size): ReadonlyArray<Page> => {
  const { table, fields, detail, embeddedIn, filter } = resource
  const unknown = Object.fromEntries(
    Array.from({ length: unknownFields }, (_, n) => [`unknownField${n}`, `value ${n} of ${table}`])
  )
  const all = Array.from({ length: records }, (_, n) => ({
    ...sample(fields, n),
    ...unknown,
    ...(filter && { [filter.field]: filter.is })
  }))
  const childRequest = childRequestOf(resource)
  const under = (n: number) => ({
    resource: table,
    partition: childRequest!.label,
    parent: { id: `t${n}`, version: "1", done: true, full: true }
  })
  if (table === "free_slots")
    return all.map((_, n) => [{ ...under(n), records: "" }, { "2026-01-31": { slots: ["2026-01-31T10:00:00Z"] } }])
  if (childRequest?.kind === "children") return all.map((record, n) => [under(n), { records: [record] }])
  const list: Page = embeddedIn
    ? [{ resource: embeddedIn.table, records: "none" }, { [embeddedIn.records]: all }]
    : [{ resource: table }, { records: all }]
  const details =
    childRequest === undefined
      ? []
      : all.map((record, n): Page => [
          { ...under(n), kind: "detail" },
          { records: { ...record, ...sample(detail?.fields ?? {}, n) } }
        ])
  return [list, ...details]
}

/** A record with a value in every field. */
const sample = (fields: Fields, n: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = valueOf(field, n)
      return value === undefined ? [] : [[name, value]]
    })
  )

const valueOf = (field: Field, n: number): unknown => {
  switch (field.kind) {
    case "column":
      return field.column === "location_id" ? common.location : values[field.type](n)
    case "object":
      return { ...sample(field.fields, n), ...(field.rest && { other: "x" }) }
    case "list":
      return [itemOf(field.fields, n)]
    case "entries":
      return { key: itemOf(field.fields, n) }
    case "alias":
    case "transport":
      return undefined
  }
}
const itemOf = (fields: Fields, n: number) => {
  const item = sample(fields, n)
  return Object.keys(fields).join() === "value" ? item["value"] : item
}

const values: Readonly<Record<ColumnType, (n: number) => unknown>> = {
  text: (n) => `t${n}`,
  instant: (n) => new Date(common.at - n * 60_000).toISOString(),
  date: () => "2026-01-31",
  decimal: (n) => n + 0.5,
  count: (n) => n,
  flag: () => false,
  json: (n) => ({ a: n })
}
