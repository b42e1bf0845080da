import { invalid, malformed } from "../../http/errors.ts"
import type { Service } from "../../service.ts"
import { type Data, type Entry, type Order, byLast } from "../../account/collection.ts"
import { position, startAfter } from "../../account/position.ts"

/** The order of `sortBy` (A 4.9): by last message, by last manual message, or by score. */
export const orderOf = (query: Data, service: Service): Order => {
  const sortBy = query["sortBy"]
  if (sortBy === "last_manual_message_date") return byLastManual(service)
  if (sortBy !== "score_profile") return byLast
  const profile = String(query["sortScoreProfile"] ?? query["scoreProfile"] ?? "")
  return { name: `score ${profile}`, key: (row) => scoreOf(row, profile) }
}

/** The index at which the page after `startAfterDate` begins: after a sort value, or after an array of sort value and id. */
export const startOf = (query: Data, rows: ReadonlyArray<Entry>, order: Order, descending: boolean): number => {
  const [sent = "", id] = [query["startAfterDate"]].flat() as Array<string | undefined>
  if (sent === "") return 0
  if (!/^-?\d+(\.\d+)?$/.test(sent)) throw malformed("startAfterDate must be a number")
  if (id === "") throw invalid("startAfterDate must hold the id of a conversation after its sort value")
  const value = Number(sent)
  if (id !== undefined) return startAfter(rows, order, [value, id], descending)
  // A value alone excludes all rows with this value, so that a client misses ties at the edge of a page unless it starts
  // before them (field-notes 6). `startAfterId` has no effect.
  return descending ? rows.length - position(rows, order, value) : position(rows, order, value, undefined, true)
}

/** Whether a program sent the message: a workflow, a bulk action, a campaign, or a client of the API. */
export const isAutomated = (source: unknown): boolean =>
  ["workflow", "bulk_actions", "campaign", "api"].includes(source as string)

/** A score from 0 to 100, derived from the profile and the contact; the documents do not define it. */
export const scoreOf = (row: Entry, profile: string): number => {
  let hash = 7
  for (const letter of `${profile} ${row.parent}`) hash = (hash * 31 + letter.codePointAt(0)!) % 4_294_967_291
  return (hash % 100_001) / 1000
}

/** Orders by the time of the last manual message; the value of a conversation without one is 0. */
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
