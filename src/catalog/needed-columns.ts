/** The columns without which sluice cannot read, merge or erase rows, so that no setting keeps them out. */
import { placesOf } from "./field-places.ts"
import { rowColumns } from "./request.ts"
import { type Resource, childRequestOf } from "./resource.ts"
import type { Paging, Strategy } from "./strategy.ts"
import { snakeCase } from "./fields.ts"
import { keyOf, tablesOf } from "./tables.ts"
import { pathIn } from "./withheld.ts"

/** What a column is needed for. */
export type Need = "key" | "parent" | "change" | "request" | "person" | "whole"

/** A file, or a record that is made of another one, is stored whole or not at all. */
export const isIndivisible = ({ isReshaped, childOf, kind }: Resource): boolean =>
  isReshaped === true || childOf?.isFile === true || kind === "files"

/** By `table.column`, and by child table. */
export const neededColumns = (resources: ReadonlyArray<Resource>): ReadonlyMap<string, Need> => {
  const needed = new Map<string, Need>()
  for (const resource of resources) {
    const { table, person, wide } = resource
    const tables = tablesOf(resource)
    const places = placesOf(resource)
    /** The first need of a column counts. */
    const need = (why: Need, column: string | undefined, of = table) => {
      if (column !== undefined && !needed.has(pathIn(of, column))) needed.set(pathIn(of, column), why)
    }
    if (isIndivisible(resource)) for (const { name } of tables[0].columns) need("whole", name)
    for (const key of keyOf(resource)) need("key", key)
    for (const child of tables.slice(1)) for (const key of child.key) need("key", key, child.name)
    for (const place of places.columns)
      if (place.table === table ? place.names.some((name) => name === "id" || name === "_id") : place.column === "id")
        need("key", place.column, place.table)
    if (wide) need("key", wide.field, wide.table)
    for (const column of [resource.childOf?.column, resource.cascadesFrom?.column, resource.partitionColumn])
      need("parent", column)
    for (const path of [
      ...(person?.contacts ?? []),
      ...Object.keys(person?.records ?? {}),
      ...Object.values(person?.owner ?? {})
    ]) {
      const [own = "", column] = path.split(".")
      need("person", column ?? own, column === undefined ? table : own)
    }
    for (const { name, role } of tables[0].columns) if (role === "created" || role === "changed") need("change", name)
    for (const field of changeFields(resource)) need("change", snakeCase(field))
    for (const column of [resource.tombstone, resource.expires, resource.filter?.field]) need("change", column)
    // The id of the company completes requests.
    if (table === "locations") need("request", "company_id")
    for (const column of resource.getOne ? rowColumns(resource.getOne.request) : []) need("request", column)
    const child = childRequestOf(resource)
    const parent = resources.find((one) => one.table === child?.table)
    if (child && parent) {
      const words = new Set(`${child.where ?? ""} ${child.ids ?? ""} ${child.versionColumn ?? ""}`.match(/\w+/g))
      const { children, columns } = placesOf(parent)
      // What an object has beside its own columns is no part of a request; the child tables in it may be.
      const isWhole = (column: string) => columns.some((one) => one.column === column && one.inside !== undefined)
      for (const { name } of tablesOf(parent)[0].columns)
        if (words.has(name) && !isWhole(name)) need("request", name, parent.table)
      for (const { child: inside, whole } of children)
        if (whole !== undefined && words.has(whole)) needed.set(inside.table, "request")
    }
  }
  return needed
}

/** The fields by which pages follow each other, and by which changes are found. */
const changeFields = ({ changes, backfill, version, full = [], childOf }: Resource): ReadonlyArray<string> => {
  const strategies: ReadonlyArray<Strategy> = [
    ...full,
    ...(changes?.newest ? [changes.newest] : []),
    ...(changes?.strategies ?? []),
    ...(changes?.added ?? []),
    ...(backfill?.strategies ?? []),
    ...(childOf ? [childOf.strategy, ...(childOf.incremental ? [childOf.incremental.strategy] : [])] : [])
  ]
  return [
    changes?.field,
    changes?.fallback?.field,
    version,
    backfill?.dateField,
    ...strategies.flatMap(({ notSortedBy, paging, stopBefore, verifyField }) => [
      notSortedBy,
      stopBefore,
      verifyField,
      ...fieldsOf(paging)
    ])
  ].filter((field) => field !== undefined)
}

const fieldsOf = (paging: Paging): ReadonlyArray<string | undefined> => {
  switch (paging.kind) {
    case "lastRecord":
    case "sortValue":
      return [paging.field]
    case "expiring":
      return [paging.anchor]
    default:
      return []
  }
}
