import { id, json, openEnum, ref, text } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineChild, inOnePage } from "#catalog/resource.ts"

export const conversationAgentActions = defineChild({
  table: "conversation_agent_actions",
  description: "What each assistant for messages can do, and its instructions for it.",
  source: "C 19.2 GET /conversation-ai/agents/{agentId}/actions/list",
  scope: "conversation-ai.readonly",
  unproven: true,
  singleReads: "never",
  childOf: {
    table: "conversation_agents",
    column: "agent_id",
    versionColumn: "updated_at",
    refreshAfter: "30 days",
    strategy: inOnePage(get("/conversation-ai/agents/{agentId}/actions/list"), {
      records: "data",
      beside: { success: "true" }
    })
  },
  fields: {
    id: id("Action id"),
    agentId: ref("conversation_agents", "The assistant"),
    name: text("Name"),
    type: openEnum("Kind of action, for example `appointmentBooking`"),
    details: json("What it does, as sent", { personal: "content" })
  }
})
