import { invalid } from "../../http/errors.ts"
import type { Service } from "../../service.ts"
import {
  anything,
  between,
  choice,
  email,
  type Field,
  flag,
  list,
  number,
  object,
  required,
  type Shape,
  text
} from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"
import { checkReference, find } from "../records.ts"

/** The bodies of invoices, estimates and their templates (B 2.3). */

export const day: Field = { type: "string", format: "date" }

export const lineItems = required(
  list(
    object({
      name: required(text),
      currency: required(text),
      amount: required(between(number, 0)),
      qty: required(between(number, 0))
    }),
    1
  )
)

export const discount = object({ type: required(choice("percentage", "fixed")), value: required(between(number, 0)) })

export const contactDetails = object({ id: required(text), name: required(text), phoneNo: text, email })

export const sentTo = object({ email: required(list(email, 1)), phoneNo: list(text) })

export const businessDetails = object({ name: required(text) })

const every = (...intervals: ReadonlyArray<string>) =>
  object({ intervalCount: between(number, 0), interval: required(choice(...intervals)) })

export const lateFeesConfiguration = object({
  enable: required(flag),
  value: required(between(number, 0)),
  type: required(choice("fixed", "percentage")),
  frequency: required(every("minute", "hour", "day", "week", "month", "one_time")),
  grace: object({ intervalCount: required(between(number, 0)), interval: required(choice("day")) }),
  maxLateFees: object({ type: required(choice("fixed")), value: required(between(number, 0)) })
})

/** Members of both kinds of documents, which the sandbox stores without using them. */
export const kept: Shape = {
  title: text,
  termsNotes: text,
  automaticTaxesEnabled: flag,
  attachments: list(anything),
  miscellaneousCharges: anything
}

export const sending: Shape = {
  action: required(choice("email", "sms", "sms_and_email", "send_manually")),
  liveMode: required(flag),
  userId: required(text),
  sentFrom: object({ fromName: text, fromEmail: email })
}

/** A document that is sent manually must not have a sender, and the user must exist (B 4.3). */
export const checkSending = ({ world }: Service, { action, sentFrom, userId }: Data): void => {
  checkReference(world.users, userId, "userId")
  if (action === "send_manually" && sentFrom !== undefined) throw invalid("property sentFrom should not exist")
}

/** The recipient must be a contact of the account. */
export const checkContact = ({ world }: Service, details: unknown): void => {
  if (details !== undefined) checkReference(world.contacts, (details as Data)["id"], "contactDetails.id")
}

/** A recorded payment must be positive, and at most the amount due. */
export const checkPayment = (amount: unknown, due: number): void => {
  if (amount === 0) throw invalid("amount must be greater than 0")
  if (Number(amount ?? 0) > due) throw invalid("amount must not be greater than the amount due")
}

export const findInvoice = ({ world }: Service, params: Readonly<Record<string, string>>) =>
  find(world.invoices, params["invoiceId"], "Invoice")
