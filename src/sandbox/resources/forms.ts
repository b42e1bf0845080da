import { listed, pageNumbers, pageOf } from "../pages.ts"
import { day, dayMs, searchText, whole } from "../parameters.ts"
import type { Call, Route, Service } from "../route.ts"
import { type Entry, type Filter, byCreated } from "../world/collection.ts"
import { slice } from "../world/position.ts"

/** Forms and their submissions (B 4.8). */
export const formRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/forms/",
    scope: "forms.readonly",
    location: { in: "query", name: "locationId" },
    handle: ({ query }, { world }) => {
      const limit = whole(query.get("limit"), "limit", { fallback: 10, most: 50 })
      const skip = whole(query.get("skip"), "skip", { fallback: 0, least: 0 })
      // The account keeps no folders.
      const rows = query.get("type") === "folder" ? [] : world.forms.sorted(byCreated)
      return { body: pageOf("forms", listed(world.forms, rows.slice(skip, skip + limit)), { total: rows.length }) }
    }
  },
  {
    method: "GET",
    path: "/forms/submissions",
    scope: "forms.readonly",
    location: { in: "query", name: "locationId" },
    handle: (call, service) => {
      const { submissions } = service.world
      const limit = whole(call.query.get("limit"), "limit", { fallback: 20, most: 100 })
      const page = whole(call.query.get("page"), "page", { fallback: 1 })
      const rows = submissions.sorted(byCreated, filter(call, service))
      const shown = slice(rows, (page - 1) * limit, limit, true)
      return {
        body: pageOf("submissions", listed(submissions, shown), { meta: pageNumbers(page, limit, rows.length) })
      }
    }
  }
]

/** By default from one month ago to today (B 4.8), in days of UTC. */
const filter = ({ query }: Call, { clock, world }: Service): Filter => {
  const today = new Date(clock.now())
  today.setUTCHours(0, 0, 0, 0)
  const monthAgo = new Date(today)
  monthAgo.setUTCMonth(today.getUTCMonth() - 1)
  const from = day(query.get("startAt"), "startAt") ?? monthAgo.getTime()
  const to = (day(query.get("endAt"), "endAt") ?? today.getTime()) + dayMs
  const formId = query.get("formId") || undefined
  const text = searchText(query.get("q"), "q")
  const test = (entry: Entry): boolean => {
    if (entry.created < from || entry.created >= to) return false
    if (formId === undefined && text === undefined) return true
    const submission = world.submissions.data(entry)
    if (formId !== undefined && submission["formId"] !== formId) return false
    const texts = ["contactId", "name", "email"].map((name) => String(submission[name] ?? "").toLowerCase())
    return text === undefined || texts.some((own) => own.includes(text))
  }
  return { key: JSON.stringify([from, to, formId, text]), test }
}
