import { boolean, changed, created, id, text } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const lostReasons = defineList({
  table: "lost_reasons",
  description: "Reasons why deals were lost, the removed ones too.",
  source: "C 4 GET /opportunities/lost-reason",
  scope: "opportunities.readonly",
  unproven: true,
  full: [
    byOffset(
      get("/opportunities/lost-reason", { locationId: location, getCount: true, skip: cursorOr(0), limit: size }),
      { records: "lostReasons", total: "total", pageSize: 100 }
    )
  ],
  // A record does not say whether it was removed. Old deals name removed reasons, so these rows stay.
  partitions: {
    live: { parameters: { deleted: false }, columns: { deleted: false } },
    deleted: { parameters: { deleted: true }, columns: { deleted: true } }
  },
  fields: {
    id: id("Reason id; `lost_reason_id` elsewhere"),
    name: text("The reason"),
    deleted: boolean("Listed among the removed reasons"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change")
  }
})
