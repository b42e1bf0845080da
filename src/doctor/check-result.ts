/** What the doctor says: one line for each thing it looked at. */
import type { Failure } from "../failure.ts"

export interface Line {
  /** A problem stops a sync, or part of it. */
  readonly state: "ok" | "warning" | "problem"
  readonly check: string
  readonly what: string
  /** What to do about it. */
  readonly todo?: string
  /** How a sync would end; of a problem only. */
  readonly ends?: Failure["ends"]
}

export const ok = (check: string, what: string): Line => ({ state: "ok", check, what })
export const warning = (check: string, what: string, todo: string): Line => ({ state: "warning", check, what, todo })
export const problem = (check: string, ends: Failure["ends"], what: string, todo: string): Line => ({
  state: "problem",
  check,
  what,
  todo,
  ends
})

export const problemOf = (check: string, { ends, message, next }: Failure): Line => problem(check, ends, message, next)

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString("en-US")} MB`
