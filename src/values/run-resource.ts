import type { BegunState } from "./state.ts"

/** What a run did for a resource of a location. */
export interface RunResource {
  readonly location: string
  readonly resource: string
  readonly requests: number
  readonly records: number
  readonly newRows: number
  readonly changedRows: number
  readonly deletedRows: number
  /** Rejected values and records. */
  readonly rejected: number
  /** Numbers that were stored with fewer decimals than sent. */
  readonly rounded: number
  readonly status: BegunState
  readonly warnings: ReadonlyArray<string>
}

/** Whether the reading brought more than the confirmation of what was known. */
export const hasChanges = (row: Pick<RunResource, "newRows" | "changedRows" | "deletedRows" | "rejected">): boolean =>
  row.newRows + row.changedRows + row.deletedRows + row.rejected > 0
