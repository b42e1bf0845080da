/** Coverage: what sluice does with each read operation of the API documents, and what else the description of the API has. */
import type { Catalogue } from "./discover.ts"
import { whyOptional } from "./optional-settings.ts"
import type { Request } from "./request.ts"
import { type Resource, childRequestOf, embeddedResourcesOf, settingOf } from "./resource.ts"
import { tablesOf } from "./tables.ts"

export interface Covered {
  /** Method and path as in the API documents. */
  readonly operation: string
  readonly purpose: Purpose
  readonly tables: ReadonlyArray<string>
  /** Tables of the definitions that request it. */
  readonly resources: ReadonlyArray<string>
  /** Why it is not read, or the setting that turns it on; empty if it is always read. */
  readonly reason: string
}

export const coverageOf = ({ resources }: Catalogue): ReadonlyArray<Covered> => {
  const byOperation = new Map<string, Covered>()
  for (const resource of resources)
    for (const operation of operationsOf(resource)) {
      const { tables, resources: readers } = byOperation.get(operation) ?? { tables: [], resources: [] }
      const more = [resource, ...embeddedResourcesOf(resources, resource.table)].flatMap((one) =>
        tablesOf(one).map(({ name }) => name)
      )
      const { detail, childOf } = resource
      const isListed = listStrategiesOf(resource).some(({ request }) => operationOf(request) === operation)
      const setting = settingOf(resource) ?? (isListed ? undefined : (detail?.enabledBy ?? childOf?.partial?.unless))
      byOperation.set(operation, {
        operation,
        purpose: "tables",
        tables: [...new Set([...tables, ...more])],
        resources: [...readers, resource.table],
        reason: setting ? whyOptional(setting) : ""
      })
    }
  const none = { tables: [], resources: [] }
  const checks = resources.flatMap((resource): ReadonlyArray<Covered> => {
    const operation = resource.getOne && operationOf(resource.getOne.request)
    if (operation === undefined || byOperation.has(operation)) return []
    const reason = "the list shows the same record; read to confirm that it is gone, and by `verify --sample`"
    return [{ operation, purpose: "check", ...none, reason }]
  })
  const others = notExtracted.map(([purpose, operation, reason]) => ({ operation, purpose, ...none, reason }))
  return [...byOperation.values(), ...checks, ...others].sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))
}

/** The requests of a definition, as method and path in the form of the API documents. */
export const operationsOf = (resource: Resource): ReadonlyArray<string> => {
  const childRequest = childRequestOf(resource)
  const strategies = [
    ...listStrategiesOf(resource),
    ...(childRequest ? [childRequest.strategy] : []),
    ...(resource.childOf?.incremental ? [resource.childOf.incremental.strategy] : [])
  ]
  return [...new Set(strategies.map(({ request }) => operationOf(request)))]
}

const listStrategiesOf = ({ full = [], changes }: Resource) => [...full, ...(changes?.strategies ?? [])]
const operationOf = ({ method, path }: Request) => `${method} ${path.replace("{partition}", "{id}")}`
const pathOf = ({ operation }: Covered) => operation.replace(/^[A-Z]+ /, "")

/** What a read operation of the API is used for. */
type Purpose = "tables" | "check" | "not data" | "not documented" | "not read"

type NotExtracted = readonly [purpose: Exclude<Purpose, "tables">, operation: string, reason: string]

const sameAsListed = "the list shows the same record"

export const notExtracted: ReadonlyArray<NotExtracted> = [
  ["not data", "GET /contacts/lookup", "finds one contact by address or phone"],
  ["not data", "GET /contacts/search/duplicate", "says which contact a new one would repeat"],
  [
    "not data",
    "GET /contacts/{contactId}/tasks",
    "the task search of the location shows the same tasks, a hundred at once"
  ],
  ["not data", "GET /custom-fields/{id}", sameAsListed],
  ["not data", "GET /opportunities/pipelines/{pipelineId}", sameAsListed],
  ["not data", "GET /objects/{key}", sameAsListed],
  ["not data", "GET /calendars/services/bookings/{bookingId}", sameAsListed],
  ["not data", "GET /objects/{id}/records/{id}", sameAsListed],
  ["not data", "GET /locations/search", "lists locations of an agency; each location is read with its own token"],
  [
    "not data",
    "GET /conversations/locations/{locationId}/messages/{messageId}/transcription/download",
    "the same sentences as a text without times and speakers"
  ],
  ["not data", "GET /invoices/generate-invoice-number", "gives out a new number"],
  ["not data", "GET /invoices/estimate/number/generate", "gives out a new number"],
  ["not data", "GET /invoices/estimate/template/preview", "a page for people, made of the template"],
  ["not data", "GET /blogs/posts/url-slug-exists", "says whether an address is taken"],
  ["not data", "GET /funnels/page/count", "the pages themselves are listed, to the last one"],
  ["not documented", "visibility in the online store", "scope products.readonly; no operation is shown"],
  ["not read", "reports of advertising networks", "the description says nothing of their answers"],
  ["not read", "comments under social posts", "the description names neither a scope nor a token that may read them"],
  ["not read", "statistics of social networks", "the description does not say of which days the series are"],
  ["not read", "statistics of the steps of a workflow's emails", "those of the whole workflow are read"],
  ["not read", "imports of social posts", "files of users; their posts are in social_posts"],
  ["not read", "how an assistant made a message", "one request for each message, which repeats the conversation"],
  ["not read", "notifications of calendars", "settings; one request for each calendar"],
  ["not read", "statistics of stores", "counts of products, which are listed"],
  ["not read", "contacts of a company", "contacts.business_id says the same"],
  ["not read", "appointments of users, groups and contacts", "the appointments of calendars once more"],
  ["not read", "companies, snapshots, plans and wallets of an agency", "a token of a location may not read them"],
  ["not read", "chat widgets, brands, pixels, audiences and permission sets", "settings of the product, not data"]
]
