/** Enums that several tables share. */

/** The statuses of an appointment (A 2.11). */
export const appointmentStatuses = "new confirmed cancelled showed noshow invalid completed active".split(" ")

/** The directions of a message (A 2.12). */
export const directions = ["inbound", "outbound"]

/** The kinds of sender of a message (A 2.12). */
export const messageSources = ["workflow", "bulk_actions", "campaign", "api", "app"]
