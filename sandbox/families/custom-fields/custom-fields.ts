import { invalid, notFound } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { choice, list, record } from "../../http/shape.ts"
import { type Data, type Entry, entry } from "../../account/collection.ts"
import { checkRules, fieldChangeShape, storedField } from "./custom-field-rules.ts"
import { dropNulls, wrapRecord } from "../records.ts"

const path = "/locations/:locationId/customFields"
const location = { in: "path", name: "locationId" } as const
const returns = { customField: record("CustomField") }

/** Custom fields of contacts and opportunities (A 4.3). The list has no pages and no count. */
export const customFieldRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path,
    scope: "locations/customFields.readonly",
    location,
    summary: "List custom fields",
    query: { model: choice("contact", "opportunity", "all") },
    returns: { customFields: list(record("CustomField")) },
    handle: ({ query }, { world: { customFields } }) => {
      // The default of `model` is not documented; here it is all.
      const model = query["model"] ?? "all"
      const rows = [...customFields.live()].filter(
        (row) => model === "all" || customFields.data(row)["model"] === model
      )
      return pageOf("customFields", listed(customFields, rows), {})
    }
  },
  {
    method: "GET",
    path: `${path}/:id`,
    scope: "locations/customFields.readonly",
    location,
    summary: "Get a custom field by its id or key",
    returns,
    handle: ({ params }, service) =>
      wrapRecord("customField", service.world.customFields, findField(service, params["id"]!))
  },
  {
    method: "PUT",
    path: `${path}/:id`,
    scope: "locations/customFields.write",
    location,
    summary: "Update a custom field",
    body: fieldChangeShape,
    returns,
    handle: ({ body, params }, service) => {
      const { customFields } = service.world
      const old = findField(service, params["id"]!)
      const data = customFields.data(old)
      refuseImmutable(body, data)
      checkRules(body, data["dataType"] as string, data)
      const source = dropNulls({ ...data, ...storedField(body) })
      const next = customFields.replace(old, entry({ ...old, updated: service.clock.now(), source }))
      return wrapRecord("customField", customFields, next)
    }
  }
]

const findField = ({ world: { customFields } }: Service, id: string): Entry => {
  const row = customFields.get(id) ?? [...customFields.live()].find((own) => customFields.data(own)["fieldKey"] === id)
  if (row === undefined) throw notFound(`Custom field with id ${id} not found`)
  return row
}

/** The data type cannot change, nor whether the field accepts one user or several (A 2.4). */
const refuseImmutable = (body: Data, data: Data): void => {
  if (body["dataType"] !== undefined && body["dataType"] !== data["dataType"]) throw invalid("dataType cannot change")
  const { multiSelect } = (body["userFieldConfig"] ?? {}) as Data
  const old = (data["userFieldConfig"] ?? {}) as Data
  if (multiSelect !== undefined && multiSelect !== old["multiSelect"]) {
    throw invalid("userFieldConfig.multiSelect cannot change")
  }
}
