/** The results of the checks of `verify`. */
import type { Failure } from "./failure.ts"
import type { Finding } from "./finding.ts"

export type VerifyFinding = Finding<"wrong" | "note">

/** The copy that a check examines; it decides which command repairs it. `rights`: this user may not examine it. */
export const partNames = ["rights", "vault", "warehouse", "published", "lake", "database", "files", "service"] as const
export type Part = (typeof partNames)[number]

export interface Checked {
  readonly part: Part
  readonly check: string
  /** How much was checked, in words. */
  readonly looked: string
  readonly findings: ReadonlyArray<VerifyFinding>
}

export const isWrong = ({ findings }: Checked): boolean => findings.some(({ level }) => level === "wrong")

/** The failure that stopped a check, in words. */
export const failureText = ({ reason, message }: Failure): string =>
  reason._tag === "WarehouseDamaged" ? `it is damaged: ${message}` : message
