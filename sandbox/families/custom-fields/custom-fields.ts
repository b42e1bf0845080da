import { notFound } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { choice, list, record } from "../../http/shape.ts"
import type { Entry } from "../../account/collection.ts"
import { wrapRecord } from "../records.ts"

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
  }
]

const findField = ({ world: { customFields } }: Service, id: string): Entry => {
  const row = customFields.get(id) ?? [...customFields.live()].find((own) => customFields.data(own)["fieldKey"] === id)
  if (row === undefined) throw notFound(`Custom field with id ${id} not found`)
  return row
}
