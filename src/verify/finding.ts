/** What the checks say: what is wrong, and what is only worth knowing. */
import type { Failure } from "../failure.ts"

import type { Row } from "../warehouse/warehouse.ts"

export interface Finding {
  /** Only what is wrong fails the command. */
  readonly level: "wrong" | "note"
  /** A segment, a table, a file. */
  readonly where: string
  readonly what: string
}

/** Which of our copies a check is about; it decides what mends it. */
export type Part = "vault" | "warehouse" | "published" | "files" | "service"

export interface Checked {
  readonly part: Part
  readonly check: string
  /** How much was looked at, in words. */
  readonly looked: string
  readonly findings: ReadonlyArray<Finding>
}

export const wrong = (where: string, what: string): Finding => ({ level: "wrong", where, what })
export const note = (where: string, what: string): Finding => ({ level: "note", where, what })

export const isWrong = ({ findings }: Checked): boolean => findings.some(({ level }) => level === "wrong")

/** A number as people read it, with its noun. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`

/** Rows that a query found at fault: how many, and the key of one of them. It gives `n` and `example`. */
export const countedRows = (row: Row | undefined): { readonly n: number; readonly example: string } => ({
  n: Number(row?.["n"] ?? 0),
  example: String(row?.["example"] ?? "")
})

/** What stopped a check. */
export const failureText = ({ reason, message }: Failure): string =>
  reason._tag === "WarehouseDamaged" ? `it is damaged: ${message}` : message
