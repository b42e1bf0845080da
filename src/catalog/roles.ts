/**
 * The roles of columns: what a value is to a reader who knows nothing about its table. Masking, retention,
 * control totals and `verify` go by it instead of the name. The functions of `fields.ts` give it.
 */
import type { PersonalData } from "./personal-data.ts"

/** What a value with the role is, and the class of personal data that it usually has. */
const definitions = {
  email: { means: "an e-mail address", personal: "direct" },
  phone: { means: "a phone number", personal: "direct" },
  emailOrPhone: { means: "an e-mail address or a phone number, and sometimes another text", personal: "direct" },
  personName: { means: "the name of a person, or a part of it", personal: "direct" },
  companyName: { means: "the name of a company", personal: "quasi" },
  address: { means: "a place within a city: street and number, or where people meet", personal: "direct" },
  postalCode: { means: "a postal code", personal: "quasi" },
  place: { means: "a city, region, country or time zone", personal: "quasi" },
  url: { means: "the address of a web page", personal: "quasi" },
  tag: { means: "a word by which the account groups people", personal: "quasi" },
  trait: { means: "what helps to recognise a person, such as their web site or browser", personal: "quasi" },
  identifier: { means: "an id or a number that stands for something, by which rows join", personal: "none" },
  contact: { means: "the id of a contact, by which the rows of a person join", personal: "none" },
  customValue: { means: "the value of a custom field, whose class the field decides", personal: "direct" },
  file: { means: "a link to a file, or several of them", personal: "content" },
  storedFile: { means: "the path of a file in the output folder", personal: "content" },
  created: { means: "when the record was made", personal: "none" },
  changed: { means: "when the record was last changed", personal: "none" }
} as const satisfies Readonly<Record<string, { readonly means: string; readonly personal: PersonalData }>>

export type Role = keyof typeof definitions
export const roles: Readonly<Record<Role, { readonly means: string; readonly personal: PersonalData }>> = definitions
