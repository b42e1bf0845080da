import { alias, openEnum, decimal, boolean, id, json, rows, text, changed, created } from "#catalog/fields.ts"
import { identifier } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const funnels = defineList({
  table: "funnels",
  description: "Funnels and web sites: pages that lead visitors from one to the next.",
  source: "B 2.7, B 4.8 GET /funnels/funnel/list",
  scope: "funnels/funnel.readonly",
  full: [
    byOffset(get("/funnels/funnel/list", { locationId: location, limit: size, offset: cursorOr(0) }), {
      records: "funnels",
      total: "count"
    })
  ],
  tombstone: "deleted",
  fields: {
    id: id("Funnel id"),
    _id: alias("id"),
    name: text("Name"),
    type: openEnum("`funnel` or `website`"),
    category: openEnum("What it is for"),
    url: text("Path of its first page"),
    domainId: identifier("Domain it is on"),
    parentId: identifier("Folder it lies in"),
    isStoreActive: boolean("It is an online store, and open"),
    dateAdded: created("When it was made"),
    updatedAt: changed("Last change"),
    steps: rows(
      "funnel_steps",
      "Steps of each funnel.",
      {
        id: id("Step id; `step_id` of its pages"),
        _id: alias("id"),
        name: text("Name"),
        url: text("Path of the step"),
        type: openEnum("Kind of step"),
        sequence: decimal("Place among the steps"),
        pages: json("Ids of its pages, as sent")
      },
      ["id"]
    ),
    deleted: boolean("Removed")
  }
})
