import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry, without } from "../../account/collection.ts"
import { contactSummary } from "../contacts/seeded-contacts.ts"
import { customValue } from "../../account/custom-fields.ts"
import { inspectionId } from "../custom-fields/seeded-custom-fields.ts"
import { projects, sources } from "../../account/names.ts"
import { withMalformedValues, malformFields } from "../../account/malformed.ts"
import { person } from "../../account/people.ts"
import { Random, streams } from "../../account/random.ts"
import { creationTime, ownerOf, type AccountContext } from "../../account/context.ts"
import { noteText } from "../../account/texts.ts"
import { undocumentedOfOpportunity } from "../../account/undocumented.ts"

/** Opportunities (A 2.6). Their notes, tasks and events are stored with them, and shown only if a search requests them. */
export const createOpportunities = (
  context: AccountContext,
  contacts: Collection,
  pipelines: Collection,
  /** The seeded reasons, also those that were removed. */
  lostReasons: () => ReadonlyArray<Entry>
): Collection => {
  const owners = [...contacts.live()]
  const stages = [...pipelines.live()].map((entry) => pipelines.data(entry))
  const opportunities = new Collection({
    build: withMalformedValues(
      context,
      (entry) => opportunity(context, entry, { contacts, owners, pipelines: stages, lostReasons: lostReasons() }),
      malformFor(context)
    ),
    full: without("notes", "tasks", "calendarEvents", "effectiveProbability"),
    list: without("notes", "tasks", "calendarEvents")
  })
  const { opportunities: count } = context.settings
  for (let index = 0; index < count && owners.length > 0; index++) {
    const random = new Random(context.seed, streams.opportunity, index)
    const id = random.id()
    const created = creationTime(context, streams.opportunity, index, count)
    const updated = random.chance(0.2) ? created : created + Math.floor((context.end - created) * random.unit() ** 2)
    const parent = owners[ownerOf(context, streams.opportunity, index, owners.length)]!.id
    opportunities.add(entry({ id, parent, created, updated, source: index }))
  }
  return opportunities
}

const malformPlain = malformFields({
  instants: "createdAt updatedAt lastStatusChangeAt lastStageChangeAt lastActionDate",
  money: "monetaryValue forecastProbability",
  texts: "name source forecastExpectedCloseDate"
})

/** The live service was observed to name a custom value by its kind. */
const malformFor =
  (context: AccountContext): typeof malformPlain =>
  (random, data, entry) => ({
    ...malformPlain(random, data, entry),
    customFields: [
      ...(data["customFields"] as ReadonlyArray<Data>).map(({ id, fieldValue }) =>
        random.chance(0.5) ? { id, fieldValue } : { id, ...namedByKind(fieldValue) }
      ),
      ...(random.chance(0.3) ? [{ id: inspectionId(context), type: "date", fieldValueDate: entry.updated }] : [])
    ]
  })

const namedByKind = (value: unknown): Data => {
  if (typeof value === "number") return { type: "number", fieldValueNumber: value }
  if (Array.isArray(value)) return { type: "array", fieldValueArray: value }
  return { type: "string", fieldValueString: value }
}

interface Sources {
  readonly contacts: Collection
  readonly owners: ReadonlyArray<Entry>
  readonly pipelines: ReadonlyArray<Data>
  readonly lostReasons: ReadonlyArray<Entry>
}

const opportunity = (
  context: AccountContext,
  entry: Entry,
  { contacts, lostReasons, owners, pipelines }: Sources
): Data => {
  const index = entry.source as number
  const owner = owners[ownerOf(context, streams.opportunity, index, owners.length)]!
  const random = new Random(context.seed, streams.opportunity + 500, index)
  const who = person(context.seed, owner.source as number)
  const pipeline = random.pick(pipelines)
  const stage = random.pick(pipeline["stages"] as ReadonlyArray<Data>)
  const status = random.chance(0.01) ? "on_hold" : random.pick(["open", "open", "won", "lost", "abandoned"])
  const moved = entry.created + Math.floor((entry.updated - entry.created) * random.unit())
  const { userIds } = context
  /** Of one in ten, nobody knows the reason any more. */
  const reason = (unknown: string) =>
    index % 10 === 9 ? unknown : (lostReasons[index % lostReasons.length]?.id ?? unknown)
  return {
    id: entry.id,
    name: `${random.pick(projects)} - ${who.lastName}`,
    locationId: context.locationId,
    pipelineId: pipeline["id"],
    pipelineStageId: stage["id"],
    status,
    contactId: owner.id,
    assignedTo: random.chance(0.7) && userIds.length > 0 ? random.pick(userIds) : undefined,
    source: random.chance(0.5) ? random.pick(sources) : undefined,
    monetaryValue: random.chance(0.85) ? random.between(200, 6_000_000) / 100 : undefined,
    lostReasonId: status === "lost" && random.chance(0.6) ? reason(random.id()) : undefined,
    forecastExpectedCloseDate: random.chance(0.4) ? iso(entry.updated + 2_592_000_000).slice(0, 10) : undefined,
    forecastProbability: random.chance(0.3) ? random.int(101) : undefined,
    ...undocumentedOfOpportunity(context, entry, owner.id),
    effectiveProbability: random.int(101),
    customFields: context.customFields
      .filter((field) => field.model === "opportunity" && random.chance(0.3))
      .map((field) => ({ id: field.id, fieldValue: customValue(random, field) })),
    followers: random.some(userIds, Math.min(3, userIds.length), 0.3),
    contact: contactSummary(contacts.data(owner)),
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated),
    lastStatusChangeAt: iso(moved),
    lastStageChangeAt: random.chance(0.8) ? iso(moved) : undefined,
    lastActionDate: random.chance(0.3) ? iso(entry.updated) : undefined,
    notes: listOf(random, 0.2, () => ({
      id: random.id(),
      body: noteText(random),
      contactId: owner.id,
      dateAdded: iso(moved)
    })),
    tasks: listOf(random, 0.15, () => ({
      id: random.id(),
      title: "Send estimate",
      contactId: owner.id,
      dueDate: iso(moved + 86_400_000),
      completed: random.chance(0.5)
    })),
    calendarEvents: listOf(random, 0.1, () => ({
      id: random.id(),
      title: "Site visit",
      contactId: owner.id,
      appointmentStatus: random.pick(["confirmed", "showed", "noshow"]),
      startTime: iso(moved + 172_800_000),
      endTime: iso(moved + 175_500_000)
    }))
  }
}

const listOf = (random: Random, probability: number, make: () => Data): Array<Data> => {
  const made: Array<Data> = []
  while (made.length < 4 && random.chance(probability)) made.push(make())
  return made
}
