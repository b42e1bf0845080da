import { invalid, malformed } from "../../http/errors.ts"
import { dayOf } from "../../http/parameters.ts"
import type { Service } from "../../service.ts"
import { type Shape, anything, email, flag, forbidden, list, object, phone, text } from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"
import { customValues } from "../custom-fields/custom-values.ts"
import { checkUser } from "../records.ts"

/** The fields of a contact that a body may set (A 2.2). */
export const contactShape: Shape = {
  firstName: text,
  lastName: text,
  name: text,
  email,
  phone,
  gender: text,
  address1: text,
  city: text,
  state: text,
  postalCode: text,
  country: text,
  website: text,
  timezone: text,
  dateOfBirth: text,
  companyName: text,
  assignedTo: text,
  source: text,
  tags: list(text),
  customFields: list(object({ id: text, key: text, fieldValue: anything, field_value: anything })),
  dnd: flag,
  dndSettings: object(),
  inboundDndSettings: object()
}

/** The same fields for an update, which does not accept three of them (A 4.2). */
export const contactChangeShape: Shape = {
  ...contactShape,
  locationId: forbidden,
  gender: forbidden,
  companyName: forbidden
}

/** The fields of a body that matches its shape, as they are stored. */
export const readContact = (body: Data, service: Service): Data => {
  const fields = Object.fromEntries(Object.entries(body).filter(([name]) => name in contactShape))
  const { assignedTo, country, customFields, dateOfBirth, dndSettings, inboundDndSettings } = fields
  if (typeof country === "string" && country !== "" && !/^[A-Z]{2}$/.test(country)) {
    throw invalid("country must be a valid ISO31661 Alpha2 code")
  }
  if (typeof dateOfBirth === "string" && dateOfBirth !== "" && dayOf(dateOfBirth) === undefined) {
    throw invalid("dateOfBirth must be a date in one of the accepted formats")
  }
  checkUser(assignedTo, "assignedTo", service)
  checkChannels(dndSettings, "dndSettings", ["active", "inactive", "permanent"])
  checkChannels(inboundDndSettings, "inboundDndSettings", ["active", "inactive"])
  if (!Array.isArray(customFields)) return fields
  return {
    ...fields,
    customFields: customFields.flatMap((sent: Data, place) => customValues(sent, place, "contact", service))
  }
}

const checkChannels = (settings: unknown, name: string, statuses: ReadonlyArray<string>): void => {
  for (const [channel, value] of Object.entries((settings ?? {}) as Data)) {
    if (typeof value !== "object" || value === null) throw malformed(`${name}.${channel} must be an object`)
    const { code = null, message = null, status } = value as Data
    if (!statuses.includes(status as string)) {
      throw invalid(`${name}.${channel}.status must be one of the following values: ${statuses.join(", ")}`)
    }
    for (const [member, sent] of Object.entries({ message, code })) {
      if (sent !== null && typeof sent !== "string") throw malformed(`${name}.${channel}.${member} must be a string`)
    }
  }
}
