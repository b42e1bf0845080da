/** What `doctor` finds, also where all is well: a line for each check. */
import type { ExitKind, Explanation } from "../../values/failure.ts"
import { type Finding, wrong } from "../../values/finding.ts"

export interface DoctorFinding extends Finding<"wrong" | "warning" | "ok"> {
  /** How a sync would end, or a part of it; only for what is wrong. */
  readonly ends?: ExitKind
}

export const problem = (where: string, { ends, message, next }: Explanation): DoctorFinding => ({
  ...wrong(where, message, next),
  ends
})
