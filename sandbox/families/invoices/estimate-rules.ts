import type { Service } from "../../service.ts"
import { anything, email, flag, list, object, required, type Shape, text } from "../../http/shape.ts"
import type { Data, Entry, Filter } from "../../account/collection.ts"
import { businessDetails, checkContact, contactDetails, day, discount, lineItems } from "./document-shapes.ts"
import { nextOf, type Numbering, sentNumber } from "./document-numbers.ts"
import { filterBy, containsText } from "../../http/lists.ts"
import { checkRule, schedule } from "./recurrence-rules.ts"
import { totalOf } from "./seeded-invoices.ts"
import { dayOf } from "../../account/seeded.ts"
import { dropUndefined, find } from "../records.ts"

/** The body of an estimate (B 4.3). */
export const estimateShape: Shape = {
  name: required(text),
  businessDetails: required(businessDetails),
  currency: required(text),
  items: lineItems,
  discount: required(discount),
  contactDetails: required(contactDetails),
  frequencySettings: required(object({ enabled: required(flag), schedule: required(schedule) })),
  issueDate: day,
  expiryDate: day,
  estimateNumber: anything,
  estimateNumberPrefix: text,
  sentTo: object({ email: list(email), phoneNo: list(text) }),
  sendEstimateDetails: anything,
  autoInvoice: anything,
  paymentScheduleConfig: anything,
  termsNotes: text,
  attachments: list(anything)
}

export const findEstimate = ({ world }: Service, params: Readonly<Record<string, string>>): Entry =>
  find(world.estimates, params["estimateId"], "Estimate")

/** A repeating estimate needs a recurrence rule (B 2.3). */
export const checkEstimate = (body: Data, service: Service, old: Entry | undefined): Data => {
  const { discount, frequencySettings, items } = body
  const { enabled, schedule } = frequencySettings as { enabled: boolean; schedule: Data }
  checkRule((schedule["rrule"] ?? {}) as Data, enabled, "frequencySettings.schedule.rrule")
  checkContact(service, body["contactDetails"])
  const estimateNumber = sentNumber(service.world.estimates, numbering, body["estimateNumber"], old)
  const total = totalOf(items as ReadonlyArray<Data>, discount as Data)
  return dropUndefined({ ...body, estimateNumber, total })
}

const numbering: Numbering = { name: "estimateNumber", first: 5001 }

export const nextEstimateNumber = ({ world }: Service): number => nextOf(world.estimates, numbering)

export const estimateFilter = (query: Data, { world }: Service): Filter | undefined => {
  const { contactId, endAt = "9999", search, startAt = "", status = "all" } = query
  return filterBy(query, "status contactId search startAt endAt", (row) => {
    const data = world.estimates.data(row)
    const issued = String(data["issueDate"] ?? dayOf(row.created))
    return (
      issued >= String(startAt) &&
      issued <= String(endAt) &&
      (status === "all" || data["estimateStatus"] === status) &&
      (contactId === undefined || ((data["contactDetails"] ?? {}) as Data)["id"] === contactId) &&
      containsText(search, data["name"])
    )
  })
}
