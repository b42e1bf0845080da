import { invalidFilter, malformed } from "../../http/errors.ts"
import { instant } from "../../http/parameters.ts"
import type { Service } from "../../service.ts"
import type { Data, Entry, Filter } from "../../account/collection.ts"

type Test = Filter["test"]

/** The filters of a contact search (A 4.2, field-notes 2), combined with AND; `undefined` if there are none. */
export const contactFilter = (filters: unknown, query: string | undefined, service: Service): Filter | undefined => {
  if (filters !== undefined && filters !== null && !Array.isArray(filters)) throw malformed("filters must be an array")
  const read = new Map<Entry, Data>()
  // A search builds each contact once for all its filters.
  const data = (entry: Entry): Data => {
    const known = read.get(entry)
    if (known !== undefined) return known
    read.clear()
    const built = service.world.contacts.data(entry)
    read.set(entry, built)
    return built
  }
  const tests = ((filters ?? []) as ReadonlyArray<unknown>).map((filter) => toTest(filter, data, service))
  if (query !== undefined) tests.push((entry) => matchesQuery(data(entry), query))
  if (tests.length === 0) return undefined
  const key = JSON.stringify([filters, query])
  return { key, test: (entry) => tests.every((test) => test(entry)) }
}

const toTest = (filter: unknown, data: (entry: Entry) => Data, service: Service): Test => {
  if (typeof filter !== "object" || filter === null) throw malformed("each value in filters must be an object")
  const { field, filters, group, operator, value } = filter as Data
  if (group !== undefined) {
    if ((group !== "OR" && group !== "AND") || !Array.isArray(filters))
      throw invalidFilter("group", "Invalid filter group")
    const tests = filters.map((inner) => toTest(inner, data, service))
    return group === "OR" ? (entry) => tests.some((test) => test(entry)) : (entry) => tests.every((test) => test(entry))
  }
  const name = String(field)
  if (typeof field !== "string" || !(fields.has(field) || /^customFields\.\w+$/.test(field))) {
    throw invalidFilter(name, `Invalid field (${name}) passed for filter`)
  }
  if (field === "dateAdded" || field === "dateUpdated") return dateTest(field, operator, value, service)
  const values = (entry: Entry) => valuesOf(data(entry), field)
  if (operator === "exists") return (entry) => values(entry).length > 0
  if (operator === "not_exists") return (entry) => values(entry).length === 0
  const compare = operators[String(operator)]
  if (compare === undefined)
    throw invalidFilter(field, `Invalid Operator (${String(operator)}) passed for field ${field}`)
  if (value === undefined || value === null) throw invalidFilter(field, `Invalid value passed for field ${field}`)
  const wanted = (Array.isArray(value) ? value : [value]).map((one) => String(one).toLowerCase())
  const isNegated = String(operator).startsWith("not_")
  return (entry) => isNegated !== wanted.some((one) => values(entry).some((own) => compare(own, one)))
}

/** Dates accept only a range, in ISO 8601 or in epoch milliseconds; observations differ (field-notes 2). */
const dateTest = (field: "dateAdded" | "dateUpdated", operator: unknown, value: unknown, service: Service): Test => {
  const { contactDateFilter } = service.settings.variants
  if (operator !== "range" || contactDateFilter === "refused") {
    throw invalidFilter(field, `Invalid Operator (${String(operator)}) passed for field ${field}`)
  }
  const bounds = Object.entries((value ?? {}) as Data)
  if (bounds.length === 0) throw invalidFilter(field, `Invalid value passed for field ${field}`)
  const tests = bounds.map(([bound, limit]): ((own: number) => boolean) => {
    const at = contactDateFilter === "epoch" && typeof limit !== "number" ? undefined : instant(limit)
    if (at === undefined || !["gte", "gt", "lte", "lt"].includes(bound)) {
      throw invalidFilter(field, `Invalid value passed for field ${field}`)
    }
    if (bound === "gte") return (own) => own >= at
    if (bound === "gt") return (own) => own > at
    return bound === "lte" ? (own) => own <= at : (own) => own < at
  })
  return (entry) => {
    // A contact without the date matches no range.
    if (field === "dateUpdated" && service.world.contacts.data(entry)["dateUpdated"] === undefined) return false
    const own = field === "dateAdded" ? entry.created : entry.updated
    return tests.every((test) => test(own))
  }
}

const operators: Record<string, (own: string, wanted: string) => boolean> = {
  eq: (own, wanted) => own === wanted,
  not_eq: (own, wanted) => own === wanted,
  contains: (own, wanted) => own.includes(wanted),
  not_contains: (own, wanted) => own.includes(wanted)
}

const valuesOf = (data: Data, field: string): ReadonlyArray<string> => {
  const custom = /^customFields\.(\w+)$/.exec(field)?.[1]
  const value =
    custom === undefined
      ? data[field]
      : ((data["customFields"] ?? []) as ReadonlyArray<Data>).find((entry) => entry["id"] === custom)?.["value"]
  if (value === undefined || value === null || value === "") return []
  return (Array.isArray(value) ? value : [value]).map((one) => String(one).toLowerCase())
}

const matchesQuery = (data: Data, query: string): boolean =>
  ["name", "email", "phone", "companyName"].some((name) =>
    String(data[name] ?? "")
      .toLowerCase()
      .includes(query)
  )

/** `tags` is valid and `tags.value` is not (A 4.2). */
const fields = new Set(
  (
    "id firstName lastName name email phone companyName gender city state country postalCode address1 website timezone " +
    "assignedTo source type tags dnd businessId dateOfBirth dateAdded dateUpdated"
  ).split(" ")
)
