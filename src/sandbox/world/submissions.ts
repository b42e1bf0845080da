import { iso } from "../clock.ts"
import { Collection, type Data, type Entry, entry } from "./collection.ts"
import { customValue } from "./custom-fields.ts"
import { spoiled, spoilFields } from "./nasty.ts"
import { deepValue } from "./nasty-values.ts"
import { person } from "./people.ts"
import { Random, streams } from "./random.ts"
import { creationTime, ownerOf, type Setting } from "./setting.ts"
import { messageText } from "./texts.ts"

/** Form submissions (B 2.7). */
export const createSubmissions = (setting: Setting, contacts: Collection, forms: Collection): Collection => {
  const owners = [...contacts.live()]
  const formIds = [...forms.live()].map((form) => form.id as string)
  const { submissions: count } = setting.settings
  const submissions = new Collection({
    build: spoiled(setting, (entry) => submission(setting, entry, owners, formIds), spoil)
  })
  for (let index = 0; index < count && owners.length > 0; index++) {
    const random = new Random(setting.seed, streams.submission, index)
    const id = random.id()
    const created = creationTime(setting, streams.submission, index, count)
    submissions.add(entry({ id, kind: random.int(formIds.length), created, source: index }))
  }
  return submissions
}

const plainSpoil = spoilFields({ instants: "createdAt", texts: "name email contactId" })

const spoil: typeof plainSpoil = (random, data, entry) => {
  const others = data["others"] as Data
  const deep = random.chance(0.03) ? { ...data, others: { ...others, deep: deepValue(random) } } : data
  return plainSpoil(random, deep, entry)
}

const submission = (
  setting: Setting,
  entry: Entry,
  owners: ReadonlyArray<Entry>,
  formIds: ReadonlyArray<string>
): Data => {
  const index = entry.source as number
  const random = new Random(setting.seed, streams.submission + 500, index)
  const owner = owners[ownerOf(setting, streams.submission, index, owners.length)]!
  const who = person(setting.seed, owner.source as number)
  const fields = random.some(setting.customFields, 5, 0.5)
  const answers = Object.fromEntries(fields.map((field) => [field.id, customValue(random, field)]))
  return {
    id: entry.id,
    contactId: random.chance(0.97) ? owner.id : undefined,
    createdAt: iso(entry.created),
    formId: formIds[entry.kind],
    name: who.name,
    email: who.email,
    others: {
      full_name: who.name,
      email: who.email,
      phone: random.chance(0.8) ? who.phone : "",
      message: messageText(random),
      ...answers,
      fieldsOriSequance: ["full_name", "email", "phone", "message", ...Object.keys(answers)],
      eventData: {
        type: "page-visit",
        page: { url: "https://harborandpine.example/estimate", title: "Free estimate – Harbor & Pine" },
        domain: "harborandpine.example",
        medium: "form",
        source: random.pick(["Direct traffic", "Paid Search"]),
        referrer: random.chance(0.5) ? "https://search.example/?q=decks" : "",
        pageVisitType: "text-opt-in",
        timestamp: entry.created
      },
      ...(random.chance(0.5) && { ip: `203.0.113.${random.int(255)}`, Timezone: "America/New_York (GMT-05:00)" })
    }
  }
}
