import { boolean, changed, content, created, id, identifier, ignored, ref } from "#catalog/fields.ts"
import { cursorPart, get, location, parent, size } from "#catalog/request.ts"
import { defineChild } from "#catalog/resource.ts"

export const knowledgeBaseFaqs = defineChild({
  table: "knowledge_base_faqs",
  description: "Questions and answers in each knowledge base.",
  source: "C 19.5 GET /knowledge-bases/faqs",
  scope: "any",
  unproven: true,
  singleReads: "never",
  childOf: {
    table: "knowledge_bases",
    column: "knowledge_base_id",
    refreshAfter: "7 days",
    strategy: {
      request: get("/knowledge-bases/faqs", {
        knowledgeBaseId: parent,
        locationId: location,
        limit: size,
        lastFaqId: cursorPart("lastFaqId")
      }),
      paging: { kind: "body", parts: { lastFaqId: "lastFaqId" } },
      records: "faqs",
      pageSize: 100,
      total: "count",
      more: "hasMore"
    }
  },
  tombstone: "deleted",
  fields: {
    id: id("Question id"),
    question: content("The question"),
    questionLowerCase: ignored,
    answer: content("The answer"),
    knowledgeBaseId: ref("knowledge_bases", "Knowledge base it is in"),
    trainedUrlId: identifier("Page that it was taken from"),
    deleted: boolean("Removed"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change")
  }
})
