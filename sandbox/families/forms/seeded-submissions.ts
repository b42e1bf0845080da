import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry } from "../../account/collection.ts"
import { customValue } from "../../account/custom-fields.ts"
import { withMalformedValues, malformFields } from "../../account/malformed.ts"
import { deepValue } from "../../account/malformed-values.ts"
import { person } from "../../account/people.ts"
import { Random, streams } from "../../account/random.ts"
import { creationTime, ownerOf, type AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"

/** What differs between the submissions of forms and of surveys (B 2.7). */
interface Kind {
  readonly stream: number
  readonly of: "formId" | "surveyId"
  readonly count: number
}

/** Form submissions (B 2.7). */
export const createSubmissions = (context: AccountContext, contacts: Collection, forms: Collection): Collection =>
  submissionsOf(context, [...contacts.live()], forms, {
    stream: streams.submission,
    of: "formId",
    count: context.settings.submissions
  })

/** Submissions of the given forms or surveys by the initial contacts. */
export const submissionsOf = (
  context: AccountContext,
  owners: ReadonlyArray<Entry>,
  forms: Collection,
  kind: Kind
): Collection => {
  const formIds = [...forms.live()].map((form) => form.id as string)
  const submissions = new Collection({
    build: withMalformedValues(context, (entry) => submission(context, entry, owners, formIds, kind), malform)
  })
  for (let index = 0; index < kind.count && owners.length > 0; index++) {
    const random = new Random(context.seed, kind.stream, index)
    const id = random.id()
    const created = creationTime(context, kind.stream, index, kind.count)
    submissions.add(entry({ id, kind: random.int(formIds.length), created, source: index }))
  }
  return submissions
}

const plainSpoil = malformFields({ instants: "createdAt", texts: "name email contactId" })

const malform: typeof plainSpoil = (random, data, entry) => {
  const others = data["others"] as Data
  const deep = random.chance(0.03) ? { ...data, others: { ...others, deep: deepValue(random) } } : data
  return plainSpoil(random, deep, entry)
}

const submission = (
  context: AccountContext,
  entry: Entry,
  owners: ReadonlyArray<Entry>,
  formIds: ReadonlyArray<string>,
  { of, stream }: Kind
): Data => {
  const index = entry.source as number
  const random = new Random(context.seed, stream + 500, index)
  const owner = owners[ownerOf(context, stream, index, owners.length)]!
  const who = person(context.seed, owner.source as number)
  const fields = random.some(context.customFields, 5, 0.5)
  const answers = Object.fromEntries(fields.map((field) => [field.id, customValue(random, field)]))
  return {
    id: entry.id,
    contactId: random.chance(0.97) ? owner.id : undefined,
    createdAt: iso(entry.created),
    [of]: formIds[entry.kind],
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
