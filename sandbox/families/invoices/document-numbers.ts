import type { Collection, Entry } from "../../account/collection.ts"
import type { Service } from "../../service.ts"
import { amountOf } from "../../account/seeded.ts"

/** The member with the number of a document, and the number of the first seeded document. */
interface Numbering {
  readonly name: "invoiceNumber" | "estimateNumber"
  readonly first: number
}

/** The number of a seeded record follows from its index, so the record need not be built. */
const numberOf = ({ source }: Entry, { first, name }: Numbering): number =>
  typeof source === "number" ? first + source : amountOf(source[name])

/** One more than the highest number ever used: numbers of deleted documents are not reused. */
const nextOf = (rows: Collection, numbering: Numbering): number => {
  let greatest = numbering.first - 1
  for (const row of rows.allVersions()) {
    const number = numberOf(row, numbering)
    // With the malformed variant, changed numbers may not be safe integers.
    if (number > greatest && Number.isSafeInteger(number)) greatest = number
  }
  return greatest + 1
}

export const nextInvoiceNumber = ({ world }: Service): number =>
  nextOf(world.invoices, { name: "invoiceNumber", first: 1001 })

export const nextEstimateNumber = ({ world }: Service): number =>
  nextOf(world.estimates, { name: "estimateNumber", first: 5001 })
