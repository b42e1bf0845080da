import type { Route } from "../../http/route.ts"
import { list, object } from "../../http/shape.ts"
import { listed, pageOf } from "../../http/pages.ts"
import { find, wrapRecord } from "../records.ts"

const location = { in: "path", name: "locationId" } as const

/** Tags (C 5) and custom values (C 6) of the location, all at once. */
export const accountRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/locations/:locationId/tags",
    scope: "locations/tags.readonly",
    location,
    summary: "List the tags of a location",
    returns: { tags: list(object()) },
    handle: (_, { world: { locationTags: rows } }) => pageOf("tags", listed(rows, [...rows.live()]), {})
  },
  {
    method: "GET",
    path: "/locations/:locationId/tags/:tagId",
    scope: "locations/tags.readonly",
    location,
    summary: "Get a tag of a location",
    returns: { tag: object() },
    handle: ({ params }, { world: { locationTags } }) =>
      wrapRecord("tag", locationTags, find(locationTags, params["tagId"], "Tag"))
  },
  {
    method: "GET",
    path: "/locations/:locationId/customValues",
    scope: "locations/customValues.readonly",
    location,
    summary: "List the custom values of a location",
    returns: { customValues: list(object()) },
    handle: (_, { world: { customValues: rows } }) => pageOf("customValues", listed(rows, [...rows.live()]), {})
  },
  {
    method: "GET",
    path: "/locations/:locationId/customValues/:id",
    scope: "locations/customValues.readonly",
    location,
    summary: "Get a custom value of a location",
    returns: { customValue: object() },
    handle: ({ params }, { world: { customValues } }) =>
      wrapRecord("customValue", customValues, find(customValues, params["id"], "Custom value"))
  }
]
