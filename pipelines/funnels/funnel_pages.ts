import { boolean, id, ref, text, changed, identifier } from "#catalog/fields.ts"
import { cursorOr, get, location, parent, size } from "#catalog/request.ts"
import { byOffset, defineChild } from "#catalog/resource.ts"

export const funnelPages = defineChild({
  table: "funnel_pages",
  description: "Pages of funnels.",
  source: "B 2.7, B 4.8 GET /funnels/page",
  scope: "funnels/page.readonly",
  // The list of pages has no filter by change timestamp, so the pages of every funnel are read daily.
  childOf: {
    table: "funnels",
    tombstone: "deleted",
    column: "funnel_id",
    refreshAfter: "20 hours",
    strategy: byOffset(
      get("/funnels/page", { locationId: location, funnelId: parent, limit: size, offset: cursorOr(0) }),
      { records: "" }
    )
  },
  tombstone: "deleted",
  fields: {
    _id: id("Page id"),
    funnelId: ref("funnels", "The funnel"),
    name: text("Name"),
    stepId: identifier("Step of the funnel it belongs to"),
    deleted: boolean("Removed"),
    updatedAt: changed("Last change")
  }
})
