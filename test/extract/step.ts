/** One page of a list, and what follows it. */
import { usualLimits } from "../../src/values/limits.ts"
import { get } from "../../src/catalog/request.ts"
import type { Changes, Paging, Strategy } from "../../src/catalog/resource.ts"
import { type ListProgress, type Page, idOf } from "../../src/stages/extract/list-progress.ts"
import { advance } from "../../src/stages/extract/paging.ts"
import { checkpoint } from "../support/checkpoint.ts"

/** Of a page. */
export const size = 10
/** The time of the first record. */
export const base = 1_800_000_000_000
export const list = (paging: Paging, more: Partial<Strategy> = {}): Strategy => ({
  request: get("/x"),
  paging,
  records: "x",
  pageSize: size,
  ...more
})
export const offset = list({ kind: "offset" })
export const numbered = list({ kind: "pageNumber", first: 1 })
export const byCursor = list({ kind: "lastRecord", field: "next" })
export const inBody = list({ kind: "body", parts: { at: "meta.at", id: "meta.id" } })
export const exported = list({ kind: "expiring", field: "next", anchor: "at" })

export const records = (count: number, from = 0): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  Array.from({ length: count }, (_, n) => ({ id: `i${from + n}`, at: base + from + n, next: from + n }))
export const idsOf = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `i${from + n}`)

export interface Given extends Partial<Omit<Page, "body">> {
  readonly before?: Partial<ListProgress>
  /** Members of the body. */
  readonly body?: object
  readonly since?: number
  readonly changes?: Partial<Changes>
}

interface After extends Partial<Omit<ListProgress, "cursor" | "warnings">> {
  readonly next?: unknown
  readonly warnings?: ReadonlyArray<string>
  readonly failed?: string
  readonly isAgain?: boolean
}

/** What follows this page. */
export const after = (strategy: Strategy, { before = {}, body = {}, since, changes, ...page }: Given): After => {
  const { records: shown = records(size) } = page
  const start: ListProgress = { ...checkpoint, ...before }
  const step = advance(
    {
      strategy,
      since,
      limits: usualLimits.extract,
      changes: changes && { field: "at", overlap: "0 days", strategies: [], ...changes }
    },
    start,
    { size, ...page, records: shown, ids: shown.map(idOf), body: { x: shown, ...body } }
  )
  if (step.kind === "failed") return { failed: step.reason.message, isAgain: step.again === true }
  const { cursor, warnings, ...rest } = step.progress
  return { ...rest, next: rest.done ? undefined : cursor, warnings: warnings.map(({ _tag }) => _tag) }
}
