import {
  boolean,
  content,
  count,
  created,
  id,
  identifier,
  instant,
  json,
  object,
  openEnum,
  phone,
  ref,
  rows,
  text
} from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { type Strategy, defineList } from "#catalog/resource.ts"
import { actionParameters } from "#catalog/shapes.ts"

const list = (sort: "ascend" | "descend"): Strategy => ({
  request: get("/voice-ai/dashboard/call-logs", {
    locationId: location,
    page: cursorOr(1),
    pageSize: size,
    sortBy: "createdAt",
    sort
  }),
  paging: { kind: "pageNumber", first: 1 },
  records: "callLogs",
  beside: { page: "number", pageSize: "number" },
  pageSize: 50,
  total: "total"
})

export const voiceCalls = defineList({
  table: "voice_calls",
  description: "Calls that assistants took: what was said, and what they did.",
  source: "C 9.1 GET /voice-ai/dashboard/call-logs",
  scope: "voice-ai-dashboard.readonly",
  unproven: true,
  full: [list("ascend")],
  // Nothing says that a call has changed; its summary may come after it has ended.
  changes: {
    field: "createdAt",
    overlap: "3 days",
    fullEvery: "30 days",
    strategies: [{ ...list("descend"), stopBefore: "createdAt" }]
  },
  getOne: { request: get("/voice-ai/dashboard/call-logs/{callId}", { locationId: location }), record: "" },
  person: { contacts: ["contact_id"] },
  fields: {
    id: id("Call id"),
    contactId: ref("contacts", "Who called"),
    agentId: ref("voice_agents", "Assistant that took the call"),
    isAgentDeleted: boolean("That assistant was removed"),
    fromNumber: phone("Number of who called"),
    createdAt: created("When the call began"),
    duration: count("Length in seconds"),
    trialCall: boolean("A test, not a call of a customer"),
    summary: content("Summary of the call"),
    transcript: content("What was said, in lines that begin with `bot:` or `human:`"),
    translation: object({ enabled: boolean("It was translated"), language: text("Language it was translated to") }),
    extractedData: json("What the assistant was to find out, as sent", { personal: "direct" }),
    messageId: ref("messages", "Message of the call"),
    executedCallActions: rows("voice_call_actions", "What the assistant did in each call.", {
      actionId: identifier("Id of the action"),
      actionType: openEnum("Kind of action, for example `CALL_TRANSFER` or `APPOINTMENT_BOOKING`"),
      actionName: text("Name of the action"),
      actionParameters,
      executedAt: instant("When it was done"),
      triggerReceivedAt: instant("When it was called for")
    })
  }
})
