import { alias, boolean, changed, count, created, enumeration, id, ref, text } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const documentTemplates = defineList({
  table: "document_templates",
  description: "Templates that documents are made from; a document does not name its own.",
  source: "C 11.2 GET /proposals/templates",
  scope: "any",
  unproven: true,
  full: [
    byOffset(get("/proposals/templates", { locationId: location, limit: size, skip: cursorOr(0) }), {
      records: "data",
      pageSize: 100,
      total: "total"
    })
  ],
  version: "updatedAt",
  tombstone: "deleted",
  fields: {
    _id: id("Template id"),
    id: alias("_id"),
    name: text("Name"),
    type: enumeration(["proposal", "estimate", "contentLibrary"]),
    version: count("Number of the version"),
    deleted: boolean("Removed"),
    isPublicDocument: boolean("Anybody may fill it in"),
    updatedBy: ref("users", "Who changed it last", { column: "updated_by_id" }),
    documentCount: count("Documents made from it, if it is public"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change")
  }
})
