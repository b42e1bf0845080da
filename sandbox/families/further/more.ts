import type { Route } from "../../http/route.ts"
import type { Collection, Data } from "../../account/collection.ts"
import { altType, between, choice, described, flag, integer, list, object, required, text } from "../../http/shape.ts"
import { filterBy, windowOf } from "../../http/lists.ts"
import { listed, pageOf } from "../../http/pages.ts"
import { find, wrapRecord } from "../records.ts"
import { pageRows } from "./parts.ts"

const location = { in: "query", name: "locationId" } as const
const inBody = { in: "body", name: "locationId" } as const
const skipped = { skip: between(integer, 0), limit: between(integer, 1, 100) }
/** What follows the record with this id, in the order of creation; everything without one. */
const behind = (rows: Collection, ids: ReadonlyArray<string>, last: unknown, limit: unknown, fallback: number) => {
  const from = last === undefined || last === "" ? 0 : ids.indexOf(String(last)) + 1
  const shown = ids.slice(from, from + Number(limit ?? fallback))
  return {
    texts: listed(
      rows,
      shown.map((id) => rows.get(id)!)
    ),
    last: shown.at(-1),
    hasMore: from + shown.length < ids.length
  }
}
const idsOf = (rows: Collection): ReadonlyArray<string> => [...rows.live()].map(({ id }) => id!)

/** Phone numbers (C 10), links (C 13), files (C 14), campaigns (C 16), queues (C 18) and assistants (C 19). */
export const moreRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/phone-system/numbers/location/:locationId",
    scope: "phonenumbers.read",
    location: { in: "path", name: "locationId" },
    summary: "List phone numbers",
    query: {
      pageSize: described(between(integer, 1, 1000), "Default 50."),
      page: described(between(integer, 0), "From 0."),
      searchFilter: text,
      skipNumberPool: described(flag, "Default true: without the numbers of pools."),
      includeRcsSenderIds: flag
    },
    returns: { status: text, data: object(), message: text, statusCode: integer },
    handle: ({ query }, { world: { phoneNumbers: rows } }) => {
      const { page = 0, pageSize = 50, skipNumberPool = true } = query
      const all = [...rows.live()].filter(({ kind }) => skipNumberPool !== true || kind === 0)
      const numbers = all.slice(Number(page) * Number(pageSize), (Number(page) + 1) * Number(pageSize))
      const data = {
        numbers: numbers.map((row) => rows.data(row)),
        page,
        pageSize,
        accountStatus: "active",
        isUnderLc: true,
        total: all.length
      }
      return { status: "success", statusCode: 200, message: "ok", data }
    }
  },
  {
    method: "GET",
    path: "/phone-system/number-pools",
    scope: "numberpools.read",
    location,
    summary: "List number pools",
    returns: { success: flag, data: list(object()), total: integer },
    handle: (_, { world: { numberPools: rows } }) =>
      `{"success":true,"total":${rows.size},"data":[${listed(rows, [...rows.live()]).join(",")}]}`
  },
  {
    method: "GET",
    path: "/links/",
    scope: "links.readonly",
    location,
    summary: "List trigger links",
    returns: { links: list(object()) },
    handle: (_, { world: { triggerLinks: rows } }) => pageOf("links", listed(rows, [...rows.live()]), {})
  },
  {
    method: "GET",
    path: "/links/id/:linkId",
    scope: "links.readonly",
    location,
    summary: "Get a trigger link",
    returns: { link: object() },
    handle: ({ params }, { world: { triggerLinks: rows } }) =>
      wrapRecord("link", rows, find(rows, params["linkId"], "Link"))
  },
  {
    method: "GET",
    path: "/medias/files",
    scope: "medias.readonly",
    location: { in: "query", name: "altId" },
    summary: "List files or folders",
    query: {
      altType,
      sortBy: required(text),
      sortOrder: required(choice("asc", "desc")),
      type: required(choice("file", "folder")),
      offset: between(integer, 0),
      limit: between(integer, 1, 100),
      query: text,
      parentId: text,
      fetchAll: text
    },
    returns: { files: list(object()) },
    handle: ({ query }, { world: { mediaFiles: rows } }) => {
      const kind = query["type"] === "folder" ? 1 : 0
      const all = [...rows.live()].filter((row) => row.kind === kind).toSorted((a, b) => a.created - b.created)
      return pageOf("files", listed(rows, windowOf(query, query["sortOrder"] === "asc" ? all : all.toReversed())), {})
    }
  },
  {
    method: "GET",
    path: "/campaigns/",
    scope: "campaigns.readonly",
    location,
    summary: "List campaigns of the old kind",
    query: { status: text },
    returns: { campaigns: list(object()) },
    handle: ({ query }, { world: { campaigns: rows } }) => {
      const filter = filterBy(query, "status", (row) => rows.data(row)["status"] === query["status"])
      return `{"campaigns":${pageRows(rows, { limit: 1000 }, filter).texts}}`
    }
  },
  {
    method: "POST",
    path: "/social-media-posting/category/queues/list",
    scope: "socialplanner/category.readonly",
    location: inBody,
    summary: "List queues of categories",
    body: skipped,
    status: 201,
    returns: { success: flag, statusCode: integer, results: object(), traceId: text },
    handle: ({ body, traceId }, { world: { socialCategoryQueues: rows } }) => {
      const { texts, total } = pageRows(rows, body)
      // The total is a text.
      return `{"success":true,"statusCode":201,"results":{"queues":${texts},"meta":{"count":"${total}"}},"traceId":"${traceId}"}`
    }
  },
  {
    method: "POST",
    path: "/social-media-posting/category/queues/:queueId/items",
    scope: "socialplanner/category.readonly",
    location: inBody,
    summary: "List the items of a queue",
    body: { ...skipped, errorFilter: flag, itemId: text, sessionId: text },
    status: 201,
    returns: { success: flag, statusCode: integer, results: object() },
    handle: ({ body, params }, { world: { socialCategoryQueues, socialQueueItems: rows } }) => {
      find(socialCategoryQueues, params["queueId"], "Queue")
      const all = rows.children(params["queueId"]!)
      const items = listed(rows, windowOf(body, all)).join(",")
      const { limit = 10, skip = 0 } = body as Data
      return `{"success":true,"statusCode":201,"results":{"items":[${items}],"meta":{"count":"${all.length}","skip":${skip},"limit":${limit}}}}`
    }
  },
  {
    method: "GET",
    path: "/conversation-ai/agents/search",
    scope: "conversation-ai.readonly",
    summary: "List assistants for messages",
    query: { startAfter: text, limit: between(integer, 1, 100), query: text },
    returns: { agents: list(object()), totalCount: integer, count: integer },
    handle: ({ query }, { world: { conversationAgents: rows } }) => {
      const { texts } = behind(rows, idsOf(rows), query["startAfter"], query["limit"], 20)
      return pageOf("agents", texts, { totalCount: rows.size, count: texts.length })
    }
  },
  {
    method: "GET",
    path: "/conversation-ai/agents/:agentId/actions/list",
    scope: "conversation-ai.readonly",
    summary: "List the actions of an assistant",
    returns: { success: flag, data: list(object()) },
    handle: ({ params }, { world: { conversationAgentActions: rows, conversationAgents } }) => {
      find(conversationAgents, params["agentId"], "Agent")
      return pageOf("data", listed(rows, rows.children(params["agentId"]!)), { success: true })
    }
  },
  {
    method: "GET",
    path: "/knowledge-bases/",
    location,
    summary: "List knowledge bases",
    query: { query: text, limit: between(integer, 1, 100), lastKnowledgeBaseId: text },
    returns: { success: flag, data: object() },
    handle: ({ query }, { world: { knowledgeBases: rows } }) => {
      const { hasMore, last, texts } = behind(rows, idsOf(rows), query["lastKnowledgeBaseId"], query["limit"], 20)
      const data = pageOf("knowledgeBases", texts, {
        activeCount: rows.size,
        hasMore,
        lastKnowledgeBaseId: last ?? null
      })
      return `{"success":true,"data":${data}}`
    }
  },
  {
    method: "GET",
    path: "/knowledge-bases/faqs",
    location,
    summary: "List questions and answers",
    query: { knowledgeBaseId: required(text), limit: between(integer, 1, 100), lastFaqId: text },
    returns: { faqs: list(object()), count: integer, hasMore: flag, lastFaqId: text },
    handle: ({ query }, { world: { knowledgeBaseFaqs: rows } }) => {
      const ids = rows.children(String(query["knowledgeBaseId"])).map(({ id }) => id!)
      const { hasMore, last, texts } = behind(rows, ids, query["lastFaqId"], query["limit"], 10)
      return pageOf("faqs", texts, { count: ids.length, hasMore, lastFaqId: last ?? null })
    }
  },
  {
    method: "GET",
    path: "/knowledge-bases/crawler",
    location,
    summary: "List pages of a knowledge base",
    query: {
      knowledgeBaseId: required(text),
      page: between(integer, 1),
      pageLength: between(integer, 1, 100),
      query: text
    },
    returns: { urls: list(object()), count: integer },
    handle: ({ query }, { world: { knowledgeBasePages: rows } }) => {
      const all = rows.children(String(query["knowledgeBaseId"]))
      const { page = 1, pageLength = 10 } = query as { readonly page?: number; readonly pageLength?: number }
      return pageOf("urls", listed(rows, all.slice((page - 1) * pageLength, page * pageLength)), { count: all.length })
    }
  }
]
