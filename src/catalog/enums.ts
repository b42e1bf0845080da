/** Sets of words that the documents name once and several tables hold. */

/** What an appointment can be (A 2.11). */
export const appointmentStatuses = "new confirmed cancelled showed noshow invalid completed active".split(" ")

/** Which way a message went (A 2.12). */
export const directions = ["inbound", "outbound"]

/** What sent a message (A 2.12). */
export const messageSources = ["workflow", "bulk_actions", "campaign", "api", "app"]
