/** Finds the person that the flags of a command describe, and asks if they may be several. */
import * as Effect from "effect/Effect"
import { commaSeparated } from "../../../values/setting.ts"
import { digitsOf } from "../subject/addresses.ts"
import { type FoundContact, countriesOfLocations, findContacts, findPossible, keepContacts } from "../subject/find.ts"
import { failedError, usageError } from "../../../console/errors.ts"

export interface PersonFlags {
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly contact: string | undefined
  readonly all: boolean
}

/** The contacts of the person: none if only their addresses are known. Leaves the tables of subject/find.ts in memory. */
export const findPerson = Effect.fn("command.findPerson")(function* (flags: PersonFlags) {
  const listOf = (flag: string | undefined) => commaSeparated(flag ?? "")
  const wanted = { emails: listOf(flags.email), phones: listOf(flags.phone), contacts: listOf(flags.contact) }
  if (wanted.emails.length + wanted.phones.length + wanted.contacts.length === 0)
    return yield* usageError(
      "Name the person with --email, --phone or --contact.",
      "./sluice subject export --email jane@example.com"
    )
  const noEmail = wanted.emails.find((email) => !/^[^\s@]+@[^\s@]+$/.test(email))
  if (noEmail !== undefined)
    return yield* usageError(
      `--email ${noEmail}: this is no email address.`,
      "./sluice subject export --email jane@example.com"
    )
  const countries = yield* countriesOfLocations()
  const digits: Array<string> = []
  for (const text of wanted.phones) {
    const forms = yield* Effect.promise(() => digitsOf({ text, countries }))
    if (forms === undefined)
      return yield* usageError(
        `--phone ${text}: this is no phone number of at least 7 digits.`,
        "./sluice subject export --phone +14155550100"
      )
    digits.push(...forms)
  }
  const found = yield* findContacts({ emails: wanted.emails, digits, contacts: wanted.contacts })
  const unknown = wanted.contacts.find((id) => !found.some((contact) => contact.id === id))
  if (unknown !== undefined)
    return yield* failedError(
      `--contact ${unknown}: no table has a contact with this id.`,
      "./sluice sync reads new contacts; --email finds a contact by an address"
    )
  const contacts = flags.all ? found : found.filter(({ isMatch }) => isMatch)
  if (!flags.all && contacts.length > Math.max(1, wanted.contacts.length))
    return yield* usageError(
      `${contacts.length} contacts match: ${found.map(contactText).join("; ")}.`,
      `repeat the command with --contact ${contacts[0]?.id} for one of them, or with --all`
    )
  const possible = yield* findPossible({ emails: wanted.emails, digits })
  yield* keepContacts(contacts, { emails: wanted.emails, digits })
  return {
    contacts,
    /** Contacts that share an address with these, but were not taken. */
    others: found.filter((contact) => !contacts.includes(contact)),
    /** Contacts that may be the person, which only somebody who looks at them can say. */
    possible,
    addresses: [...wanted.emails, ...wanted.phones]
  }
})

export const contactText = ({ deletedAt, emails, id, name, phones }: FoundContact): string =>
  [id, name, ...emails, ...phones, deletedAt === null ? "" : "deleted"].filter(Boolean).join(" ")
