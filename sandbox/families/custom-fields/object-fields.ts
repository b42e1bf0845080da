import { iso } from "../../account/clock.ts"
import { conflict, invalid, notFound } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { list, record } from "../../http/shape.ts"
import { type Data, entry } from "../../account/collection.ts"
import { checkRules, objectFieldChangeShape, objectFieldShape } from "./object-field-rules.ts"
import { dropNulls, find, wrapRecord } from "../records.ts"

const location = { in: "body", name: "locationId" } as const

/** Fields of custom objects and company records (A 4.3). */
export const objectFieldRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/custom-fields/object-key/:objectKey",
    scope: "locations/customFields.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List the fields and folders of an object",
    returns: { fields: list(record("ObjectField")), folders: list(record("Folder")) },
    handle: ({ params }, { world: { folders, objectFields } }) => {
      const objectKey = params["objectKey"]!
      const [fields, held] = [objectFields.children(objectKey), folders.children(objectKey)]
      if (fields.length + held.length === 0) throw notFound(`Object with key ${objectKey} not found`)
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
  },
  {
    method: "POST",
    path: "/custom-fields/",
    scope: "locations/customFields.write",
    location,
    summary: "Create a field of an object",
    body: objectFieldShape,
    status: 201,
    returns: { field: record("ObjectField") },
    errors: [409],
    handle: (call, service) => create(call, service)
  },
  {
    method: "PUT",
    path: "/custom-fields/:id",
    scope: "locations/customFields.write",
    location,
    summary: "Update a field of an object",
    body: objectFieldChangeShape,
    returns: { field: record("ObjectField") },
    handle: (call, service) => update(call, service)
  }
]

const create = ({ body }: Call, { clock, random, world }: Service): Answer => {
  const { dataType, fieldKey, objectKey, parentId } = body as Record<string, string>
  const [, object] = /^custom_object\.(\w+)\.\w+$/.exec(fieldKey!) ?? []
  if (object === undefined) throw invalid("fieldKey must have the shape custom_object.<object>.<key>")
  if (object !== objectKey!.replace(/^custom_objects?\./, ""))
    throw invalid("fieldKey must name the object of objectKey")
  const folder = world.folders.get(parentId!)
  if (folder === undefined || folder.parent !== objectKey) throw invalid("parentId is not a folder of this object")
  checkRules(body, dataType!)
  const keys = [...world.objectFields.live()].map((row) => world.objectFields.data(row)["fieldKey"])
  if (keys.includes(fieldKey)) throw conflict(`A custom field ${fieldKey} exists already`)
  const id = random.id()
  const now = iso(clock.now())
  const source = dropNulls({ id, locationId: world.context.locationId, ...body, dateAdded: now, dateUpdated: now })
  const created = world.objectFields.add(entry({ id, parent: objectKey!, created: clock.now(), source }))
  return wrapRecord("field", world.objectFields, created)
}

const update = ({ body, params }: Call, { clock, world }: Service): Answer => {
  const old = find(world.objectFields, params["id"], "Custom field")
  const data = world.objectFields.data(old)
  const changed = ["dataType", "fieldKey", "objectKey", "parentId"].filter(
    (name) => body[name] !== undefined && body[name] !== data[name]
  )
  if (changed.length > 0) throw invalid(...changed.map((name) => `${name} cannot change`))
  checkRules(body, data["dataType"] as string)
  const keys = (field: Data) => ((field["options"] ?? []) as ReadonlyArray<Data>).map((option) => option["key"])
  if (body["options"] !== undefined && keys(data).some((key) => !keys(body).includes(key))) {
    throw invalid("options cannot be removed")
  }
  const source = dropNulls({ ...data, ...body, dateUpdated: iso(clock.now()) })
  const next = world.objectFields.replace(old, entry({ ...old, updated: clock.now(), source }))
  return wrapRecord("field", world.objectFields, next)
}
