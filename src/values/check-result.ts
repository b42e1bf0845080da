/** The results of `doctor`: one line for each check. */
import type { ExitKind } from "./failure.ts"

export interface Line {
  /** A problem prevents a sync, or a part of it. */
  readonly state: "ok" | "warning" | "problem"
  readonly check: string
  readonly what: string
  /** What to do about it. */
  readonly todo?: string
  /** How a sync would end; only for a problem. */
  readonly ends?: ExitKind
}

export const ok = (check: string, what: string): Line => ({ state: "ok", check, what })
export const warning = (check: string, what: string, todo: string): Line => ({ state: "warning", check, what, todo })
export const problem = (check: string, ends: ExitKind, what: string, todo: string): Line => ({
  state: "problem",
  check,
  what,
  todo,
  ends
})

/** An error in words; cli/errors.ts writes it. */
export interface Explanation {
  readonly ends: ExitKind
  readonly message: string
  readonly next: string
  /** When the service accepts requests again, if it is known; epoch milliseconds. */
  readonly resumeAt?: number
}
export const problemOf = (check: string, { ends, message, next }: Explanation): Line =>
  problem(check, ends, message, next)
