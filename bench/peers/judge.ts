/** Compares the rows that a tool has written with the records of the sandbox: each row by its id, and its values by type. */

export type Row = Readonly<Record<string, unknown>>
export type Rows = Readonly<Record<string, ReadonlyArray<Row>>>

type Type = "text" | "number" | "instant" | "day" | "set"

interface List {
  readonly id: string
  readonly fields: Readonly<Record<string, Type>>
}

/** The lists that are compared, each with the fields that somebody would ask about. */
export const lists: Readonly<Record<string, List>> = {
  contacts: {
    id: "id",
    fields: {
      firstName: "text",
      email: "text",
      source: "text",
      dateAdded: "instant",
      dateUpdated: "instant",
      tags: "set"
    }
  },
  opportunities: {
    id: "id",
    fields: { name: "text", status: "text", monetaryValue: "number", pipelineStageId: "text", updatedAt: "instant" }
  },
  conversations: { id: "id", fields: { type: "text", unreadCount: "number", lastMessageDate: "instant" } },
  users: { id: "id", fields: { name: "text", email: "text" } },
  calendars: { id: "id", fields: { name: "text", calendarType: "text" } },
  invoices: { id: "_id", fields: { status: "text", total: "number", amountDue: "number", issueDate: "day" } },
  orders: { id: "_id", fields: { status: "text", amount: "number", paymentStatus: "text", createdAt: "instant" } }
}

export const fieldsOf = (list: string): ReadonlyArray<string> => [lists[list]!.id, ...Object.keys(lists[list]!.fields)]

export interface Judgement {
  /** By list, those that have any. */
  readonly missing: Readonly<Record<string, number>>
  readonly extra: Readonly<Record<string, number>>
  readonly duplicates: Readonly<Record<string, number>>
  /** By `list.field`, those that have any. */
  readonly wrong: Readonly<Record<string, number>>
}

/**
 * `expected` has the lists that the tool offers. What the service lists with a mark of deletion counts for nobody: some
 * keep such a row with the mark, and some as deleted.
 */
export const judge = (expected: Rows, written: Rows): Judgement => {
  const missing: Record<string, number> = {}
  const extra: Record<string, number> = {}
  const duplicates: Record<string, number> = {}
  const wrong: Record<string, number> = {}
  const count = (counts: Record<string, number>, name: string) => (counts[name] = (counts[name] ?? 0) + 1)
  for (const [list, records] of Object.entries(expected)) {
    const { fields, id } = lists[list]!
    const left = new Map(records.map((record) => [String(record[id]), record]))
    const seen = new Set<string>()
    for (const row of written[list] ?? []) {
      const key = String(row[id])
      const record = left.get(key)
      if (record?.["deleted"] === true) continue
      if (seen.has(key)) count(duplicates, list)
      else if (record === undefined) count(extra, list)
      else
        for (const [field, type] of Object.entries(fields))
          if (plain(record[field], type) !== plain(row[field], type)) count(wrong, `${list}.${field}`)
      seen.add(key)
    }
    for (const [key, record] of left) if (!seen.has(key) && record["deleted"] !== true) count(missing, list)
  }
  return { missing, extra, duplicates, wrong }
}

/** A value as text, so that each form in which a tool may store it is the same. Nothing and an empty text are the same. */
const plain = (value: unknown, type: Type): string => {
  if (value === null || value === undefined || value === "") return ""
  if (type === "set") {
    const items: unknown = typeof value === "string" ? JSON.parse(value) : value
    return (items as ReadonlyArray<string>).toSorted().join("\n")
  }
  if (type === "number") return String(Math.round(Number(value) * 1e6) / 1e6)
  if (type === "day") return String(value).slice(0, 10)
  if (type === "instant") return String(Date.parse(withZone(String(value))))
  return String(value)
}

/** Databases leave out the zone, or write it as `+00`. */
const withZone = (text: string): string => {
  const iso = text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00")
  return /Z$|[+-]\d\d:\d\d$/.test(iso) ? iso : `${iso}Z`
}

export const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0)

/** The records of the sandbox now, as its lists show them. */
export const recordsOf = async (url: string, names: ReadonlyArray<string>): Promise<Rows> => {
  const all = names.map(async (name) => {
    const answer = await fetch(`${url}/__sandbox/records/${name}?form=list`)
    const lines = (await answer.text()).split("\n").filter((line) => line !== "")
    return [name, lines.map((line) => JSON.parse(line) as Row)] as const
  })
  return Object.fromEntries(await Promise.all(all))
}
