import type { Route } from "../../http/route.ts"
import type { Data } from "../../account/collection.ts"
import { between, choice, described, integer, list, object, text } from "../../http/shape.ts"
import { listed } from "../../http/pages.ts"
import { byCreated } from "../../account/collection.ts"
import { containsText } from "../../http/lists.ts"
import { find } from "../records.ts"

const location = { in: "query", name: "locationId" } as const
const paged = {
  page: described(between(integer, 1, 5000), "From 1."),
  pageSize: described(between(integer, 1, 50), "Default 10.")
}
const pageIn = ({ page = 1, pageSize = 10 }: Data) => ({ page: Number(page), pageSize: Number(pageSize) })

/** Calls that assistants took, and the assistants (C 9). */
export const voiceRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/voice-ai/dashboard/call-logs",
    scope: "voice-ai-dashboard.readonly",
    location,
    summary: "List calls of assistants",
    query: {
      ...paged,
      sortBy: choice("createdAt", "duration"),
      sort: choice("ascend", "descend"),
      agentId: text,
      contactId: text,
      callType: choice("LIVE", "TRIAL"),
      actionType: text,
      startDate: integer,
      endDate: integer
    },
    returns: { total: integer, page: integer, pageSize: integer, callLogs: list(object()) },
    handle: ({ query }, { world: { voiceCalls } }) => {
      const { page, pageSize } = pageIn(query)
      const { agentId, callType, contactId, sort = "descend", sortBy = "createdAt" } = query
      const rows = voiceCalls
        .sorted(byCreated)
        .filter((row) => {
          const data = voiceCalls.data(row)
          return (
            (agentId ?? data["agentId"]) === data["agentId"] &&
            (contactId === undefined || String(contactId).split(",").includes(String(data["contactId"]))) &&
            (callType === undefined || data["trialCall"] === (callType === "TRIAL"))
          )
        })
        .toSorted((a, b) =>
          sortBy === "duration" ? Number(voiceCalls.data(a)["duration"]) - Number(voiceCalls.data(b)["duration"]) : 0
        )
      const ordered = sort === "ascend" ? rows : rows.toReversed()
      const shown = listed(voiceCalls, ordered.slice((page - 1) * pageSize, page * pageSize))
      return `{"total":${rows.length},"page":${page},"pageSize":${pageSize},"callLogs":[${shown.join(",")}]}`
    }
  },
  {
    method: "GET",
    path: "/voice-ai/dashboard/call-logs/:callId",
    scope: "voice-ai-dashboard.readonly",
    location,
    summary: "Get a call of an assistant",
    returns: object(),
    handle: ({ params }, { world: { voiceCalls } }) => voiceCalls.full(find(voiceCalls, params["callId"], "Call"))
  },
  {
    method: "GET",
    path: "/voice-ai/agents",
    scope: "voice-ai-agents.readonly",
    location,
    summary: "List assistants for calls",
    query: { ...paged, query: text },
    returns: { total: integer, page: integer, pageSize: integer, agents: list(object()) },
    handle: ({ query }, { world: { voiceAgents } }) => {
      const { page, pageSize } = pageIn(query)
      const rows = [...voiceAgents.live()].filter((row) =>
        containsText(query["query"], voiceAgents.data(row)["agentName"])
      )
      const shown = listed(voiceAgents, rows.slice((page - 1) * pageSize, page * pageSize))
      return `{"total":${rows.length},"page":${page},"pageSize":${pageSize},"agents":[${shown.join(",")}]}`
    }
  },
  {
    method: "GET",
    path: "/voice-ai/agents/:agentId",
    scope: "voice-ai-agents.readonly",
    location,
    summary: "Get an assistant for calls",
    returns: object(),
    handle: ({ params }, { world: { voiceAgents } }) => voiceAgents.full(find(voiceAgents, params["agentId"], "Agent"))
  }
]
