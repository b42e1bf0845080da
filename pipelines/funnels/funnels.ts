import { alias, flag, id, json, ref, text, transport } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { define } from "#catalog/resource.ts"

export const funnels = define({
  table: "funnels",
  description: "Funnels and web sites: pages that lead visitors from one to the next.",
  source: "B 2.7, B 4.8 GET /funnels/funnel/list",
  scope: "any",
  full: [
    {
      request: get("/funnels/funnel/list", { locationId: location, limit: size, offset: cursorOr(0) }),
      paging: { kind: "offset" },
      records: "funnels",
      pageSize: 100,
      probeSize: 500,
      total: "count"
    }
  ],
  tombstone: "deleted",
  fields: {
    id: id("Funnel id"),
    _id: alias("id"),
    name: text("Name"),
    steps: json("Its steps, as sent"),
    deleted: flag("Removed"),
    locationId: ref("locations", "The location", { column: "location_id" }),
    traceId: transport
  }
})
