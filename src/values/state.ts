/** The states of readings and runs. values/status.ts decides which one a reading has that has ended. */

/** How complete a reading is that has ended. */
export type Status = "complete" | "complete_with_warnings" | "incomplete"

/** A state as messages show it. */
export const statusText = (status: string): string => status.replaceAll("_", " ")
