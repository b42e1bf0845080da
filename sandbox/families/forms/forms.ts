import { listed, pageNumbers, pageOf } from "../../http/pages.ts"
import { dayMs } from "../../http/parameters.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { between, day, described, integer, list, object, record, text } from "../../http/shape.ts"
import { type Collection, type Data, type Filter, byCreated } from "../../account/collection.ts"
import { slice } from "../../account/position.ts"
import { containsText, paging, windowOf } from "../../http/lists.ts"

interface Kind {
  readonly plural: "forms" | "surveys"
  readonly one: string
  readonly of: "formId" | "surveyId"
  readonly collections: (service: Service) => { readonly all: Collection; readonly submissions: Collection }
}

/** The routes of forms or surveys, and of their submissions, which are alike (B 4.8). */
const routesOf = ({ collections, of, one, plural }: Kind): ReadonlyArray<Route> => [
  {
    method: "GET",
    path: `/${plural}/`,
    summary: `List ${plural}`,
    scope: `${plural}.readonly`,
    location: { in: "query", name: "locationId" },
    query: { ...paging(10, 50, "skip"), type: described(text, "`folder` for folders.") },
    returns: { [plural]: list(record(one)), total: integer },
    handle: ({ query }, service) => {
      const { all } = collections(service)
      // The account has no folders.
      const rows = query["type"] === "folder" ? [] : all.sorted(byCreated)
      return pageOf(plural, listed(all, windowOf(query, rows)), { total: rows.length })
    }
  },
  {
    method: "GET",
    path: `/${plural}/submissions`,
    summary: `List the submissions of ${plural}`,
    scope: `${plural}.readonly`,
    location: { in: "query", name: "locationId" },
    query: {
      [of]: text,
      limit: described(between(integer, 1, 100), "Default 20."),
      page: described(between(integer, 1), "Default 1."),
      q: described(text, "Contact id, name, email or phone."),
      startAt: described(day, "Default one month ago."),
      endAt: described(day, "Default today.")
    },
    returns: { submissions: list(record(`${one}Submission`)), meta: object() },
    handle: ({ query }, service) => {
      const { submissions } = collections(service)
      const { limit = 20, page = 1 } = query as { limit?: number; page?: number }
      const rows = submissions.sorted(byCreated, filter(query, of, submissions, service))
      const shown = slice(rows, (page - 1) * limit, limit, true)
      return pageOf("submissions", listed(submissions, shown), { meta: pageNumbers(page, limit, rows.length) })
    }
  }
]

/** By default, the submissions from one month ago to today (B 4.8), in UTC days. */
const filter = (query: Data, of: Kind["of"], submissions: Collection, { clock }: Service): Filter => {
  const today = new Date(clock.now())
  today.setUTCHours(0, 0, 0, 0)
  const monthAgo = new Date(today)
  monthAgo.setUTCMonth(today.getUTCMonth() - 1)
  const { endAt, [of]: formId, q, startAt } = query
  const from = startAt === undefined ? monthAgo.getTime() : Date.parse(String(startAt))
  const to = (endAt === undefined ? today.getTime() : Date.parse(String(endAt))) + dayMs
  const test: Filter["test"] = (row) => {
    if (row.created < from || row.created >= to) return false
    if (formId === undefined && q === undefined) return true
    const submission = submissions.data(row)
    const { contactId, email, name } = submission
    const others = (submission["others"] ?? {}) as Data
    return (
      (formId === undefined || submission[of] === formId) && containsText(q, contactId, name, email, others["phone"])
    )
  }
  return { key: JSON.stringify([from, to, formId, q]), test }
}

export const formRoutes: ReadonlyArray<Route> = routesOf({
  plural: "forms",
  one: "Form",
  of: "formId",
  collections: ({ world }) => ({ all: world.forms, submissions: world.submissions })
})

export const surveyRoutes: ReadonlyArray<Route> = routesOf({
  plural: "surveys",
  one: "Survey",
  of: "surveyId",
  collections: ({ world }) => ({ all: world.surveys, submissions: world.surveySubmissions })
})
