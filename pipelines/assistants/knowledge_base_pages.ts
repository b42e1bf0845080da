import { boolean, changed, id, openEnum, ref, text, url } from "#catalog/fields.ts"
import { cursorOr, get, location, parent, size } from "#catalog/request.ts"
import { defineChild } from "#catalog/resource.ts"

export const knowledgeBasePages = defineChild({
  table: "knowledge_base_pages",
  description: "Pages of the web that each knowledge base was made from.",
  source: "C 19.6 GET /knowledge-bases/crawler",
  scope: "any",
  unproven: true,
  singleReads: "never",
  childOf: {
    table: "knowledge_bases",
    column: "knowledge_base_id",
    refreshAfter: "7 days",
    strategy: {
      request: get("/knowledge-bases/crawler", {
        knowledgeBaseId: parent,
        locationId: location,
        page: cursorOr(1),
        pageLength: size
      }),
      paging: { kind: "pageNumber", first: 1 },
      records: "urls",
      pageSize: 100,
      total: "count"
    }
  },
  fields: {
    id: id("Page id"),
    url: url("Address of the page"),
    title: text("Title", { personal: "content" }),
    status: openEnum("`Pending`, `Processing`, `Successful`, `Failed`, …"),
    knowledgeBaseId: ref("knowledge_bases", "Knowledge base it is in"),
    content: text("Link to its text", { role: "file" }),
    contentEditedByUser: boolean("A user has changed the text"),
    updatedAt: changed("Last change")
  }
})
