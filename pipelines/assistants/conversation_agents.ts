import {
  boolean,
  changed,
  companyName,
  content,
  count,
  created,
  enumeration,
  id,
  identifier,
  object,
  openEnum,
  ref,
  rows,
  text,
  values
} from "#catalog/fields.ts"
import { cursor, get, size } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"

export const conversationAgents = defineList({
  table: "conversation_agents",
  description: "Assistants that answer messages.",
  source: "C 19.1 GET /conversation-ai/agents/search",
  scope: "conversation-ai.readonly",
  unproven: true,
  full: [
    {
      request: get("/conversation-ai/agents/search", { startAfter: cursor, limit: size }),
      paging: { kind: "lastRecord", field: "id" },
      records: "agents",
      beside: { count: "number" },
      pageSize: 100,
      total: "totalCount"
    }
  ],
  version: "updatedAt",
  fields: {
    id: id("Assistant id"),
    name: text("Name"),
    businessName: companyName("Business that it speaks for"),
    mode: enumeration(["off", "suggestive", "auto-pilot"], "Whether it answers by itself"),
    channels: values(
      "conversation_agent_channels",
      "Channels on which each of them answers.",
      "channel",
      openEnum("The channel")
    ),
    waitTime: count("Time before it answers, in `wait_time_unit`"),
    waitTimeUnit: enumeration(["minutes", "seconds"]),
    sleepEnabled: boolean("It is silent for a while at times"),
    sleepTime: count("How long it is silent, in `sleep_time_unit`"),
    sleepTimeUnit: enumeration(["hours", "minutes", "seconds"]),
    sleepOnManualMessage: boolean("It is silent after a message of a user"),
    sleepOnWorkflowMessage: boolean("It is silent after a message of a workflow"),
    actions: rows(
      "conversation_agent_abilities",
      "What each of them can do.",
      { id: identifier("Id of the action", { column: "action_id" }), type: openEnum("Kind of action") },
      ["action_id"]
    ),
    isPrimary: boolean("The main one"),
    autoPilotMaxMessages: count("Most messages that it sends by itself"),
    goal: object(
      {
        prompt: content("What it is to reach"),
        type: openEnum("Kind of goal"),
        actionId: identifier("Action of the goal")
      },
      { plain: "prompt" }
    ),
    knowledgeBaseIds: values(
      "conversation_agent_knowledge",
      "What each of them knows.",
      "knowledge_base_id",
      ref("knowledge_bases", "The knowledge base")
    ),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change")
  }
})
