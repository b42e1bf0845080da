import type { BegunState } from "./state.ts"

/** How a resource was read. */
export type Mode = "full" | "incremental" | "children" | "window"

/** What a run did for a resource of a location. */
export interface RunResource {
  /** The last one, if there are several. */
  readonly run: string
  readonly location: string
  readonly resource: string
  /** Absent until the reading has ended. */
  readonly mode?: Mode
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

/** What several runs did for one resource; `runs`: oldest first. */
export const addedUp = (runs: ReadonlyArray<RunResource>): RunResource => {
  const sum = (count: "requests" | "records" | "newRows" | "changedRows" | "deletedRows" | "rejected" | "rounded") =>
    runs.reduce((all, run) => all + run[count], 0)
  return {
    ...runs.at(-1)!,
    requests: sum("requests"),
    records: sum("records"),
    newRows: sum("newRows"),
    changedRows: sum("changedRows"),
    deletedRows: sum("deletedRows"),
    rejected: sum("rejected"),
    rounded: sum("rounded")
  }
}
