import { invalid, malformed } from "../../http/errors.ts"
import type { Service } from "../../service.ts"
import { type Data, type Entry, type Order, byLast } from "../../account/collection.ts"
import { position, startAfter } from "../../account/position.ts"

/** The order of `sortBy` (A 4.9): the last message, the last one somebody wrote, or a score. */
export const orderOf = (query: Data, service: Service): Order => {
  const sortBy = query["sortBy"]
  if (sortBy === "last_manual_message_date") return byLastManual(service)
  if (sortBy !== "score_profile") return byLast
  const profile = String(query["sortScoreProfile"] ?? query["scoreProfile"] ?? "")
  return { name: `score ${profile}`, key: (row) => scoreOf(row, profile) }
}

/** Where the page after `startAfterDate` begins: the sort value of the last row, or an array with its id as well. */
export const startOf = (query: Data, rows: ReadonlyArray<Entry>, order: Order, descending: boolean): number => {
  const [sent = "", id] = [query["startAfterDate"]].flat() as Array<string | undefined>
  if (sent === "") return 0
  if (!/^-?\d+(\.\d+)?$/.test(sent)) throw malformed("startAfterDate must be a number")
  if (id === "") throw invalid("startAfterDate must hold the id of a conversation after its sort value")
  const value = Number(sent)
  if (id !== undefined) return startAfter(rows, order, [value, id], descending)
  // By value alone: rows that share the edge value with the page before are not shown again, so ties there are lost
  // to a client that does not ask for them once more (field-notes 6). startAfterId is not looked at.
  return descending ? rows.length - position(rows, order, value) : position(rows, order, value, undefined, true)
}

/** Whether nobody wrote the message: a workflow, a bulk action, a campaign or another program did. */
export const isAutomated = (source: unknown): boolean =>
  ["workflow", "bulk_actions", "campaign", "api"].includes(source as string)

/** No document says how a score comes about: a number from 0 to 100 that follows from the profile and the contact. */
export const scoreOf = (row: Entry, profile: string): number => {
  let hash = 7
  for (const letter of `${profile} ${row.parent}`) hash = (hash * 31 + letter.codePointAt(0)!) % 4_294_967_291
  return (hash % 100_001) / 1000
}

/** A conversation whose messages are all automated comes before the others, with the value 0. */
const byLastManual = ({ world }: Service): Order => ({
  name: "last manual",
  key: (row) =>
    Math.max(
      0,
      ...world.messages
        .children(row.id ?? "")
        .filter((message) => !isAutomated(world.messages.data(message)["source"]))
        .map((message) => message.created)
    )
})
