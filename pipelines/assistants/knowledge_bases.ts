import { created, id, text } from "#catalog/fields.ts"
import { cursorPart, get, location, size } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"

export const knowledgeBases = defineList({
  table: "knowledge_bases",
  description: "What assistants know.",
  source: "C 19.4 GET /knowledge-bases/",
  scope: "any",
  unproven: true,
  full: [
    {
      request: get("/knowledge-bases/", {
        locationId: location,
        limit: size,
        lastKnowledgeBaseId: cursorPart("lastKnowledgeBaseId")
      }),
      paging: { kind: "body", parts: { lastKnowledgeBaseId: "data.lastKnowledgeBaseId" } },
      records: "data.knowledgeBases",
      beside: { success: "true" },
      pageSize: 20,
      total: "data.activeCount",
      more: "data.hasMore"
    }
  ],
  fields: { id: id("Knowledge base id"), name: text("Name"), createdAt: created("When it was made") }
})
