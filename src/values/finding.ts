/** The results of the checks: errors, and notes. */
import type { Failure } from "./failure.ts"

export interface Finding {
  /** A note does not fail the command. */
  readonly level: "wrong" | "note"
  /** A segment, a table or a file. */
  readonly where: string
  readonly what: string
}

/** The copy that a check examines; it decides which command repairs it. */
export type Part = "vault" | "warehouse" | "published" | "lake" | "files" | "service"

export interface Checked {
  readonly part: Part
  readonly check: string
  /** How much was checked, in words. */
  readonly looked: string
  readonly findings: ReadonlyArray<Finding>
}

export const wrong = (where: string, what: string): Finding => ({ level: "wrong", where, what })
export const note = (where: string, what: string): Finding => ({ level: "note", where, what })

export const isWrong = ({ findings }: Checked): boolean => findings.some(({ level }) => level === "wrong")

/** A number with its noun, for people. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`

/** The columns `n` and `example` of a query: how many rows have an error, and the key of one of them. */
export const countedRows = (
  row: Readonly<Record<string, unknown>> | undefined
): { readonly n: number; readonly example: string } => ({
  n: Number(row?.["n"] ?? 0),
  example: String(row?.["example"] ?? "")
})

/** The failure that stopped a check, in words. */
export const failureText = ({ reason, message }: Failure): string =>
  reason._tag === "WarehouseDamaged" ? `it is damaged: ${message}` : message
