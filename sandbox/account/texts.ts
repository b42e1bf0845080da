import type { Random } from "./random.ts"

/** A short message of a customer or an employee; a few are intentionally difficult for spreadsheets and CSV. */
export const messageText = (random: Random): string => {
  const roll = random.unit()
  if (roll < 0.02) return random.pick(awkward)
  if (roll < 0.06) return `${random.pick(lines)}\n\n${random.pick(lines)}\r\n- ${random.pick(signatures)}`
  return roll < 0.5 ? random.pick(lines) : `${random.pick(lines)} ${random.pick(lines)}`
}

export const noteText = (random: Random): string =>
  random.chance(0.03) ? random.pick(awkward) : `${random.pick(notes)} ${random.pick(lines)}`

const lines = [
  "Can you come by Tuesday to measure?",
  "The estimate looks good, let's go ahead.",
  "Running 15 minutes late, sorry!",
  "Could we do the deck before the wedding in June?",
  "Thanks so much 🙏 the kitchen looks amazing",
  "What would it cost to add two more raised beds?",
  "Please call after 5pm.",
  "The stain colour is darker than the sample.",
  "We got three quotes, yours is in the middle.",
  "Is the pergola kit still in stock?",
  "Rescheduling to next week because of rain.",
  "Who should I ask about the invoice?",
  "Great work from the whole crew.",
  "Merci beaucoup, à bientôt!",
  "見積もりありがとうございます。",
  "Your appointment is confirmed for 9:30 AM.",
  "Reply STOP to opt out.",
  "The gate code is 4471, the dog is friendly.",
  "Do you also do gutters?",
  "Deposit sent this morning."
]

const notes = [
  "Met on site, prefers natural cedar.",
  "Left voicemail.",
  "Wants financing over 12 months.",
  "Budget about 18k, decision by both owners.",
  "Allergic to latex paint.",
  "Referred by neighbour across the street.",
  "Access from the alley only.",
  "Second call: still comparing."
]

const signatures = ["Sent from my phone", "The Harbor & Pine team", "A.", "Mit freundlichen Grüßen"]

/** Texts that break spreadsheets, CSV and naive clients. */
const awkward = [
  "=1+1",
  "+15551234567",
  "-2+3",
  "@SUM(A1:A9)",
  'She said "call me", then hung up',
  "one,two;three\ttab",
  "line one\nline two\nline three",
  "NULL",
  "<b>bold</b> & co",
  " leading and trailing ",
  "שלום ‏mixed‎ direction",
  "e\u0301 is not é",
  "👩‍👩‍👧‍👦 family",
  "\\N",
  "'; DROP TABLE contacts; --"
]
