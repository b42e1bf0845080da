import { conflict, invalid } from "../../http/errors.ts"
import type { Collection, Entry } from "../../account/collection.ts"
import { amountOf } from "../../account/seeded.ts"

/** The member with the number of a document, and the number of the first seeded document. */
export interface Numbering {
  readonly name: "invoiceNumber" | "estimateNumber"
  readonly first: number
}

/** The number of a seeded record follows from its index, so the record need not be built. */
const numberOf = ({ source }: Entry, { first, name }: Numbering): number =>
  typeof source === "number" ? first + source : amountOf(source[name])

/** The number that was sent as digits or as a number. A number in use is a 409 (A 7). */
export const sentNumber = (
  rows: Collection,
  numbering: Numbering,
  sent: unknown,
  own: Entry | undefined
): number | undefined => {
  if (sent === undefined || sent === null || sent === "") return undefined
  const isNumber = ["number", "string"].includes(typeof sent) && /^\d{1,15}$/.test(String(sent))
  const number = isNumber ? Number(sent) : 0
  if (number === 0) throw invalid(`${numbering.name} must be a whole number above 0`)
  if (rows.live().some((row) => row !== own && numberOf(row, numbering) === number)) {
    throw conflict(`The ${numbering.name} ${number} is taken`)
  }
  return number
}

/** One more than the highest number ever used: numbers of deleted documents are not reused. */
export const nextOf = (rows: Collection, numbering: Numbering): number => {
  let greatest = numbering.first - 1
  for (const row of rows.allVersions()) {
    const number = numberOf(row, numbering)
    // With the malformed variant, changed numbers may not be safe integers.
    if (number > greatest && Number.isSafeInteger(number)) greatest = number
  }
  return greatest + 1
}
