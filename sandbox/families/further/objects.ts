import { instant } from "../../http/parameters.ts"
import { invalid, notFound } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import type { Call, Route } from "../../http/route.ts"
import { type Data, type Entry, byUpdated } from "../../account/collection.ts"
import { between, described, flag, integer, list, object, required, text } from "../../http/shape.ts"
import { find, wrapRecord } from "../records.ts"
import type { Service } from "../../service.ts"
import { pageRows } from "./parts.ts"

const paged = { skip: required(between(integer, 0)), limit: required(between(integer, 1, 100)) }

/** Objects, their records, and the ties between records (C 1, C 2). */
export const objectRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/objects/",
    scope: "objects/schema.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List objects",
    returns: { objects: list(object()) },
    handle: (_, { world: { objects } }) => pageOf("objects", listed(objects, [...objects.live()]), {})
  },
  {
    method: "GET",
    path: "/objects/:key",
    scope: "objects/schema.readonly",
    location: { in: "query", name: "locationId" },
    summary: "Get an object",
    query: { fetchProperties: text },
    returns: { object: object(), cache: flag, fields: list(object()) },
    handle: ({ params, query }, { world }) => {
      const row = objectNamed(params["key"]!, world)
      const key = String(world.objects.data(row)["key"])
      const fields = query["fetchProperties"] === "true" && {
        fields: world.objectFields.children(key).map((one) => world.objectFields.data(one))
      }
      return { object: world.objects.data(row), cache: true, ...fields }
    }
  },
  {
    method: "POST",
    path: "/objects/:schemaKey/records/search",
    scope: "objects/record.readonly",
    location: { in: "body", name: "locationId" },
    summary: "Search the records of an object",
    body: {
      page: described(integer, "From 1."),
      pageLimit: required(between(integer, 1, 100)),
      query: text,
      searchAfter: list({ type: "any" }),
      filters: list(object()),
      sort: list(object())
    },
    returns: { records: list(object()), total: integer },
    handle: (call, service) => search(call, service)
  },
  {
    method: "GET",
    path: "/objects/:schemaKey/records/:id",
    scope: "objects/record.readonly",
    summary: "Get a record of an object",
    returns: { record: object() },
    handle: ({ params }, { world }) => {
      objectNamed(params["schemaKey"]!, world)
      return wrapRecord("record", world.objectRecords, find(world.objectRecords, params["id"], "Record"))
    }
  },
  {
    method: "GET",
    path: "/associations/",
    scope: "associations.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List associations",
    query: paged,
    returns: { associations: list(object()) },
    handle: ({ query }, { world }) => `{"associations":${pageRows(world.associations, query).texts}}`
  },
  {
    method: "GET",
    path: "/associations/:associationId",
    scope: "associations.readonly",
    summary: "Get an association",
    returns: object(),
    handle: ({ params }, { world: { associations } }) =>
      associations.full(find(associations, params["associationId"], "Association"))
  },
  {
    method: "GET",
    path: "/associations/relations/:recordId",
    scope: "associations/relation.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List the relations of a record",
    query: { ...paged, associationIds: text },
    returns: { relations: list(object()) },
    handle: ({ params, query }, { world: { recordRelations } }) => {
      const id = params["recordId"]
      const filter = {
        key: `of ${id}`,
        test: (row: Entry) => {
          const { firstRecordId, secondRecordId } = recordRelations.data(row)
          return firstRecordId === id || secondRecordId === id
        }
      }
      return `{"relations":${pageRows(recordRelations, query, filter).texts}}`
    }
  }
]

const objectNamed = (key: string, { objects }: Service["world"]): Entry => {
  const row = [...objects.live()].find((one) => objects.data(one)["key"] === key || one.id === key)
  if (row === undefined) throw notFound(`Object with key ${key} not found`)
  return row
}

/** Pages follow `searchAfter` of the last record if it is sent, or `page`. Contacts and deals have searches of their own. */
const search = ({ body, params }: Call, { settings, world }: Service): Data => {
  const { objectRecords } = world
  const key = String(world.objects.data(objectNamed(params["schemaKey"]!, world))["key"])
  if (["contact", "opportunity", settings.variants.refusedRecords].includes(key))
    throw invalid(`${key} has a search of its own`)
  const { page = 1, pageLimit, searchAfter = [] } = body as Record<string, any>
  const since = settings.variants.objectFilters === "honoured" ? sinceIn(body) : undefined
  if (body["filters"] !== undefined && settings.variants.objectFilters === "refused")
    throw invalid("property filters should not exist")
  const all = objectRecords
    .sorted(byUpdated)
    .filter((row) => row.parent === key && (since === undefined || row.updated >= since))
    .toSorted(
      (a, b) => (since === undefined ? a.created - b.created : a.updated - b.updated) || (a.id! < b.id! ? -1 : 1)
    )
  const timeOf = (row: Entry) => (since === undefined ? row.created : row.updated)
  const [time, id] = searchAfter as [unknown, unknown]
  const from =
    searchAfter.length > 0
      ? all.findIndex((row) => timeOf(row) > Number(time) || (timeOf(row) === Number(time) && row.id! > String(id)))
      : (page - 1) * pageLimit
  const rows = from < 0 ? [] : all.slice(from, from + pageLimit)
  return {
    records: rows.map((row) => ({ ...objectRecords.data(row), searchAfter: [timeOf(row), row.id] })),
    total: all.length
  }
}

const sinceIn = ({ filters }: Data): number | undefined => {
  const [first] = (filters ?? []) as ReadonlyArray<{ field?: unknown; value?: { gte?: unknown } }>
  return first?.field === "updatedAt" ? instant(first.value?.gte) : undefined
}
