import { notFound } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { list, record } from "../../http/shape.ts"
import { find, wrapRecord } from "../records.ts"

/** Fields of custom objects and company records (A 4.3). */
export const objectFieldRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/custom-fields/object-key/:objectKey",
    scope: "locations/customFields.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List the fields and folders of an object",
    returns: { fields: list(record("ObjectField")), folders: list(record("Folder")) },
    handle: ({ params }, { world: { folders, objectFields, objects } }) => {
      const objectKey = params["objectKey"]!
      const [fields, held] = [objectFields.children(objectKey), folders.children(objectKey)]
      const isKnown = [...objects.live()].some((row) => objects.data(row)["key"] === objectKey)
      if (fields.length + held.length === 0 && !isKnown) throw notFound(`Object with key ${objectKey} not found`)
      const shown = held.map((row) => folders.data(row))
      return pageOf("fields", listed(objectFields, fields), { folders: shown })
    }
  },
  {
    method: "GET",
    path: "/custom-fields/:id",
    scope: "locations/customFields.readonly",
    summary: "Get a field of an object",
    returns: { field: record("ObjectField") },
    handle: ({ params }, { world }) =>
      wrapRecord("field", world.objectFields, find(world.objectFields, params["id"], "Custom field"))
  }
]
