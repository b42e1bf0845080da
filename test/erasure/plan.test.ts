/** Who a person is, and what their erasure would remove: computed a second time from drawn contacts and their records. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { planErasure } from "../../src/features/privacy/erasure/plan.ts"
import type { Identifier } from "../../src/features/privacy/erasure/job.ts"
import { digitsOf } from "../../src/features/privacy/subject/addresses.ts"
import { findCandidates } from "../../src/features/privacy/subject/candidates.ts"
import { findContacts, keepContacts } from "../../src/features/privacy/subject/find.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder, restrictedTo } from "../support/sluice.ts"

const catalogue = restrictedTo("contacts,contact_notes,transactions")(await discover())
const template = await templateOf(catalogue)

interface Contact {
  readonly location: string
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly phone: string | null
  /** What it had before. */
  readonly earlier: string | null
  /** Its further addresses. */
  readonly more: string | null
  readonly morePhone: string | null
}
interface Owned {
  readonly location: string
  readonly id: string
  readonly contact: string | null
  readonly email: string | null
  readonly merged: string | null
}

const draw = (seed: number) => {
  const random = randomFrom(seed)
  const oneOf = <One>(of: ReadonlyArray<One>): One => of[Math.floor(random() * of.length)]!
  const some = <One>(share: number, of: ReadonlyArray<One>): One | null => (random() < share ? oneOf(of) : null)
  const emails = Array.from({ length: 14 }, (_, index) => `person${index}@example.com`)
  const phones = Array.from({ length: 9 }, (_, index) => `+1415555010${index}`)
  const names = ["Ann Bell", "Cher", "Dan de Vries", "Eve Fox"]
  const locations = ["L", "M"]
  const contacts = locations.flatMap((location) =>
    Array.from({ length: 9 }, (_, index): Contact => ({
      location,
      id: `c${index}`,
      name: oneOf(names),
      email: some(0.8, emails),
      phone: some(0.5, phones),
      earlier: some(0.2, emails),
      more: some(0.15, emails),
      morePhone: some(0.15, phones)
    }))
  )
  const owned = (prefix: string) =>
    Array.from({ length: 40 }, (_, index): Owned => ({
      location: oneOf(locations),
      id: `${prefix}${index}`,
      contact: some(0.8, [...contacts.map(({ id }) => id), "gone", ""]),
      email: some(0.3, emails),
      merged: some(0.05, ["c0", "c1", "old"])
    }))
  const [first] = contacts.filter(({ email, phone }) => email !== null && phone !== null)
  return {
    contacts,
    notes: owned("n"),
    payments: owned("p"),
    given: (["email", "phone", "id"] as const)[seed % 3]!,
    first: first!
  }
}
type World = ReturnType<typeof draw>

const rowsInto = (table: string, columns: string, rows: ReadonlyArray<ReadonlyArray<string | null>>) =>
  rows.length === 0
    ? []
    : [`INSERT INTO ${table} (${columns}) VALUES ${rows.map((row) => `(${row.map(literal).join(", ")})`).join(", ")}`]

const statements = ({ contacts, notes, payments }: World) => [
  "INSERT INTO crm.locations (location_id, id, country) VALUES ('L', 'L', 'US'), ('M', 'M', 'us')",
  ...rowsInto(
    "crm.contacts",
    "location_id, id, name, email, phone",
    contacts.map((one) => [one.location, one.id, one.name, one.email, one.phone])
  ),
  ...rowsInto(
    "crm_history.contacts",
    "location_id, id, email",
    contacts.flatMap((one) => (one.earlier === null ? [] : [[one.location, one.id, one.earlier]]))
  ),
  ...rowsInto(
    "crm.contact_emails",
    "location_id, contact_id, email",
    contacts.flatMap((one) => (one.more === null ? [] : [[one.location, one.id, one.more]]))
  ),
  ...rowsInto(
    "crm.contact_phones",
    "location_id, contact_id, phone",
    contacts.flatMap((one) => (one.morePhone === null ? [] : [[one.location, one.id, one.morePhone]]))
  ),
  ...rowsInto(
    "crm.contact_notes",
    "location_id, id, contact_id, body",
    notes.map((one) => [one.location, one.id, one.contact, `wrote to ${one.email}`])
  ),
  ...rowsInto(
    "crm.transactions",
    "location_id, id, contact_id, contact_email, merged_from_contact_id",
    payments.map((one) => [one.location, one.id, one.contact, one.email, one.merged])
  )
]

const keyOf = ({ id, location }: { readonly id: string; readonly location: string }) => `${location} ${id}`
const addressesOf = (one: Contact) =>
  [one.email, one.phone?.slice(1), one.earlier, one.more, one.morePhone?.slice(1)].flatMap((value) => value ?? [])

/** The contacts that are named, and those that share an address with one that is known, however many steps away. */
const foundIn = (
  { contacts, payments }: World,
  given: { readonly addresses: ReadonlyArray<string>; readonly ids: ReadonlyArray<string> }
) => {
  const matches = contacts.filter(
    (one) => given.ids.includes(one.id) || addressesOf(one).some((value) => given.addresses.includes(value))
  )
  const known = new Map<string, boolean>(matches.map((one) => [keyOf(one), true]))
  for (let before = -1; known.size > before;) {
    before = known.size
    const shared = new Set(contacts.filter((one) => known.has(keyOf(one))).flatMap(addressesOf))
    const merged = payments.flatMap((one) =>
      one.merged !== null && one.contact !== null && known.has(`${one.location} ${one.contact}`)
        ? [`${one.location} ${one.merged}`]
        : []
    )
    const more = contacts.filter((one) => addressesOf(one).some((value) => shared.has(value))).map(keyOf)
    for (const key of [...more, ...merged]) if (!known.has(key)) known.set(key, false)
  }
  return known
}

const textOf = (one: Identifier): string =>
  one.kind === "contact"
    ? `contact ${one.location} ${one.id}`
    : one.kind === "address"
      ? one.value
      : one.kind === "record"
        ? `${one.table} ${one.location} ${one.key}`
        : `financial: ${textOf(one.of)}`

it.live.each([1, 2, 3])("a person is who is named, and their erasure has what is theirs alone: %d", (seed) =>
  Effect.gen(function* () {
    const world = draw(seed)
    const { contacts, first, given, notes, payments } = world
    const keepFinancial = seed === 2
    const emails = given === "email" ? [first.email!] : []
    const digits =
      given === "phone" ? [...(yield* Effect.promise(() => digitsOf({ text: first.phone!, countries: ["US"] })))!] : []
    if (given === "phone") assert.sameMembers(digits, [first.phone!.slice(1), first.phone!.slice(2)])
    const ids = given === "id" ? [first.id] : []
    for (const statement of statements(world)) yield* (yield* Warehouse).run(statement)
    const found = yield* findContacts({ emails, digits, contacts: ids })
    const expected = foundIn(world, { addresses: [...emails, ...digits], ids })
    assert.deepStrictEqual(
      new Map(found.map((one) => [keyOf(one), one.isMatch])),
      new Map(
        [...expected].toSorted(
          ([one, isOne], [other, isOther]) => Number(isOther) - Number(isOne) || (one < other ? -1 : 1)
        )
      )
    )

    const kept = found.filter(({ isMatch }) => isMatch)
    const others = found.filter(({ isMatch }) => !isMatch)
    yield* keepContacts(kept, { emails, digits })
    const plan = yield* planErasure(catalogue, kept, others, keepFinancial)
    const isKept = (location: string, id: string | null) =>
      id !== null && kept.some((one) => one.id === id && one.location === location)
    const ofKept = contacts.filter((one) => isKept(one.location, one.id))
    const current = contacts.filter((one) => others.some((other) => keyOf(other) === keyOf(one)))
    const shared = new Set(
      current.flatMap((one) => [one.email, one.phone?.slice(1), one.more, one.morePhone?.slice(1)])
    )
    const all = new Set([...emails, ...digits, ...ofKept.flatMap(addressesOf)])
    // A number without the code of its country is on the list with it as well.
    const whole = (value: string) => (value.startsWith("415") ? `1${value}` : value)
    const own = [...all].filter((value) => !shared.has(whole(value)))
    const persons = [
      ...kept.map((one) => `contact ${one.location} ${one.id}`),
      ...own.flatMap((value) => [value, whole(value)])
    ]
    const isOwn = ({ contact, email, location, merged }: Owned) => {
      const named = [contact, merged].filter((id) => id !== null && id !== "")
      return named.length > 0 ? named.every((id) => isKept(location, id)) : email !== null && all.has(email)
    }
    const ownNotes = notes.filter((one) => isKept(one.location, one.contact))
    const ownPayments = payments.filter(isOwn)
    const records = [
      ...ofKept.map((one) => `contacts ${one.location} ${one.id}`),
      ...ownNotes.map((one) => `contact_notes ${one.location} ${one.id}`),
      ...ownPayments.map((one) => `${keepFinancial ? "financial: " : ""}transactions ${one.location} ${one.id}`),
      ...(keepFinancial ? persons.map((one) => `financial: ${one}`) : [])
    ]
    assert.deepStrictEqual(
      [...new Set(plan.identifiers.map(textOf))].toSorted(),
      [...new Set([...persons, ...records])].toSorted()
    )

    const rows = {
      contacts: ofKept.length + ofKept.filter((one) => one.earlier !== null).length,
      contact_notes: ownNotes.length,
      contact_emails: ofKept.filter((one) => one.more !== null).length,
      contact_phones: ofKept.filter((one) => one.morePhone !== null).length
    }
    const counts = (of: Readonly<Record<string, number>>) =>
      Object.fromEntries(Object.entries(of).filter(([, n]) => n > 0))
    assert.deepStrictEqual(
      counts(plan.rows),
      counts({ ...rows, ...(!keepFinancial && { transactions: ownPayments.length }) })
    )
    assert.deepStrictEqual(counts(plan.kept), counts(keepFinancial ? { transactions: ownPayments.length } : {}))
    const labelled = (label: string) => plan.texts.filter((one) => one.label.startsWith(label)).map(({ text }) => text)
    assert.sameMembers(
      labelled("email "),
      own.filter((value) => value.includes("@"))
    )
    assert.sameMembers(labelled("phone "), [
      ...new Set(
        own.filter((value) => !value.includes("@")).flatMap((value) => [value, whole(value), whole(value).slice(1)])
      )
    ])
    assert.sameMembers(labelled("contact id "), [...new Set(kept.map(({ id }) => id))])
    assert.sameMembers(labelled("name "), [
      ...new Set(ofKept.map(({ name }) => name).filter((name) => name.includes(" ")))
    ])

    const wanted = [
      ...new Set(ofKept.flatMap((one) => [one.email, one.more, one.name.length < 6 ? null : one.name.toLowerCase()]))
    ].filter((one) => one !== null)
    const candidates = yield* findCandidates(catalogue, kept, [])
    assert.sameMembers(
      candidates
        .filter(({ table }) => table === "contact_notes")
        .map((one) => `${one.location} ${one.key} ${one.column} ${one.contains}`),
      notes.flatMap((one) =>
        one.email !== null && wanted.includes(one.email) && !ownNotes.includes(one)
          ? [`${one.location} ${one.id} body ${wanted.find((text) => text === one.email)}`]
          : []
      )
    )
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128, template })))
)
