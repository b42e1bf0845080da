import type { Route } from "../../http/route.ts"
import { integer, list, object, text, timestamp } from "../../http/shape.ts"
import { containsText, paging } from "../../http/lists.ts"
import { pageRows } from "./parts.ts"

const location = { in: "query", name: "locationId" } as const
const words = (sent: unknown): ReadonlyArray<string> | undefined =>
  typeof sent === "string" && sent !== "" ? sent.split(",") : undefined

/** Documents and their templates (C 11). */
export const documentRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/proposals/document",
    location,
    summary: "List documents",
    query: {
      status: text,
      paymentStatus: text,
      query: text,
      dateFrom: timestamp,
      dateTo: timestamp,
      ...paging(10, 100, "skip")
    },
    returns: { documents: list(object()), total: integer },
    handle: ({ query }, { world: { documents } }) => {
      const [statuses, payments] = [words(query["status"]), words(query["paymentStatus"])]
      const { texts, total } = pageRows(documents, query, {
        key: JSON.stringify([statuses, payments, query["query"]]),
        test: (row) => {
          const { name, paymentStatus, status } = documents.data(row)
          return (
            (statuses?.includes(String(status)) ?? true) &&
            (payments?.includes(String(paymentStatus)) ?? true) &&
            containsText(query["query"], name)
          )
        }
      })
      const sites = `"whiteLabelBaseUrl":"https://site.example","whiteLabelBaseUrlForInvoice":"https://pay.example"`
      return `{"documents":${texts},"total":${total},${sites}}`
    }
  },
  {
    method: "GET",
    path: "/proposals/templates",
    location,
    summary: "List templates of documents",
    query: { type: text, name: text, isPublicDocument: text, userId: text, ...paging(10, 100, "skip") },
    returns: { data: list(object()), total: integer, traceId: text },
    handle: ({ query, traceId }, { world: { documentTemplates } }) => {
      const kinds = words(query["type"])
      const { texts, total } = pageRows(documentTemplates, query, {
        key: JSON.stringify([kinds, query["name"]]),
        test: (row) => {
          const { name, type } = documentTemplates.data(row)
          return (kinds?.includes(String(type)) ?? true) && containsText(query["name"], name)
        }
      })
      return `{"data":${texts},"total":${total},"traceId":"${traceId}"}`
    }
  }
]
