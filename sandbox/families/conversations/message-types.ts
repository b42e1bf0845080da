/** Message type codes and names (A 2.12). Codes that the documents omit are numbers chosen here. */
export const messageTypes: Record<number, string> = {
  1: "TYPE_CALL",
  2: "TYPE_SMS",
  3: "TYPE_EMAIL",
  10: "TYPE_CAMPAIGN_VOICEMAIL",
  11: "TYPE_FACEBOOK",
  18: "TYPE_INSTAGRAM",
  19: "TYPE_WHATSAPP",
  20: "TYPE_GROUP_SMS",
  21: "TYPE_SMS_REVIEW_REQUEST",
  25: "TYPE_ACTIVITY_CONTACT",
  26: "TYPE_ACTIVITY_INVOICE",
  27: "TYPE_ACTIVITY_PAYMENT",
  28: "TYPE_ACTIVITY_OPPORTUNITY",
  29: "TYPE_LIVE_CHAT",
  30: "TYPE_INTERNAL_COMMENTS",
  31: "TYPE_ACTIVITY_APPOINTMENT",
  32: "TYPE_ACTIVITY_EMPLOYEE_ACTION_LOG",
  33: "TYPE_GMB"
}

export const email = 3

/** The export omits group chats and SMS review requests (A 4.9). */
export const unexported = new Set([20, 21])

/** The channels of the export (A 4.9, field-notes 6). Without one, every type but email is exported. */
export const channels: Record<string, number> = {
  Call: 1,
  SMS: 2,
  Email: 3,
  Facebook: 11,
  Instagram: 18,
  WhatsApp: 19
}

/** Conversation type codes: a search returns the name, a single read the number (A 2.12). */
export const conversationTypes: Record<number, string> = {
  1: "TYPE_PHONE",
  2: "TYPE_EMAIL",
  3: "TYPE_FB_MESSENGER",
  4: "TYPE_REVIEW",
  5: "TYPE_GROUP_SMS",
  // An undocumented type.
  17: "TYPE_KIOSK"
}

/** The kinds of messages of each conversation type, weighted by how often they are listed. */
export const messagesIn: Record<number, ReadonlyArray<number>> = {
  1: [2, 2, 2, 2, 2, 2, 1, 1, 3, 25, 28, 30, 10, 31],
  2: [3, 3, 3, 3, 2, 26],
  3: [11, 11, 18, 19, 29, 33],
  4: [21, 2],
  5: [20],
  17: [2, 29]
}

/** Kinds that sometimes replace another kind. */
export const rarer: Record<number, number> = { 25: 32, 26: 27 }
