import {
  alias,
  boolean,
  companyName,
  content,
  count,
  email,
  id,
  identifier,
  json,
  object,
  openEnum,
  phone,
  ref,
  rows,
  text,
  values
} from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"
import { actionParameters } from "#catalog/shapes.ts"

export const voiceAgents = defineList({
  table: "voice_agents",
  description: "Assistants that take calls.",
  source: "C 9.2 GET /voice-ai/agents",
  scope: "voice-ai-agents.readonly",
  unproven: true,
  full: [
    {
      request: get("/voice-ai/agents", { locationId: location, page: cursorOr(1), pageSize: size }),
      paging: { kind: "pageNumber", first: 1 },
      records: "agents",
      beside: { page: "number", pageSize: "number" },
      pageSize: 50,
      total: "total"
    }
  ],
  getOne: { request: get("/voice-ai/agents/{agentId}", { locationId: location }), record: "" },
  fields: {
    id: id("Assistant id"),
    agentName: text("Name"),
    businessName: companyName("Business that it speaks for"),
    welcomeMessage: content("What it says first"),
    agentPrompt: content("Its instructions"),
    voiceId: identifier("Its voice"),
    language: text("Language, for example `en-US`"),
    patienceLevel: openEnum("How long it waits for an answer"),
    maxCallDuration: count("Longest call, in seconds"),
    sendUserIdleReminders: boolean("It asks whether somebody is there"),
    reminderAfterIdleTimeSeconds: count("Seconds of silence before it asks"),
    inboundNumber: phone("Number that it answers"),
    numberPoolId: ref("number_pools", "Numbers that it answers"),
    callEndWorkflowIds: values(
      "voice_agent_workflows",
      "Workflows that begin when a call of each assistant ends.",
      "workflow_id",
      ref("workflows", "The workflow")
    ),
    sendPostCallNotificationTo: object({
      admins: boolean("Administrators are notified of a call"),
      allUsers: boolean("All users are notified of a call"),
      contactAssignedUser: boolean("The user of the contact is notified of a call"),
      specificUsers: json("Users who are notified of a call, as sent"),
      customEmails: values("voice_agent_emails", "Addresses that are notified of calls.", "email", email("The address"))
    }),
    agentWorkingHours: json("Hours in which it answers, as sent"),
    timezone: text("Time zone of these hours"),
    isAgentAsBackupDisabled: boolean("It does not answer for somebody who does not"),
    translation: object({
      enabled: boolean("Calls are translated"),
      language: text("Language they are translated to")
    }),
    actions: rows(
      "voice_agent_actions",
      "What each assistant can do in a call.",
      {
        id: id("Action id"),
        _id: alias("id"),
        actionType: openEnum("Kind of action, for example `CALL_TRANSFER` or `APPOINTMENT_BOOKING`"),
        name: text("Name"),
        actionParameters
      },
      ["id"]
    )
  }
})
