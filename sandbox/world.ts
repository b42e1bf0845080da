import { Owners, rowsOf } from "./account/seeded.ts"
import { furtherCollections } from "./families/further/collections.ts"
import type { Make } from "./families/further/parts.ts"
import { LazyCollections } from "./lazy-collections.ts"
import type { Settings } from "./options.ts"
import { createAppointments } from "./families/calendars/seeded-appointments.ts"
import { createCalendars } from "./families/calendars/seeded-calendars.ts"
import { createForms } from "./families/forms/seeded-forms.ts"
import { createLocations } from "./families/locations/seeded-location.ts"
import { createPipelines } from "./families/opportunities/seeded-pipelines.ts"
import { Collection, type Data, byCreated, byUpdated } from "./account/collection.ts"
import { createContacts } from "./families/contacts/seeded-contacts.ts"
import { createCustomFields } from "./families/custom-fields/seeded-custom-fields.ts"
import { createConversations } from "./families/conversations/seeded-conversations.ts"
import { createMessages } from "./families/conversations/seeded-messages.ts"
import { DerivedCollection } from "./account/derived.ts"
import { createEmails } from "./families/conversations/seeded-email-messages.ts"
import { placeLinks } from "./files/places.ts"
import { addOrphans } from "./account/malformed.ts"
import { createNotes } from "./families/contacts/seeded-notes.ts"
import { createObjectFields } from "./families/custom-fields/seeded-object-fields.ts"
import { createOpportunities } from "./families/opportunities/seeded-opportunities.ts"
import { createOrders } from "./families/payments/seeded-orders.ts"
import { createRecurringTasks } from "./families/locations/seeded-recurring-tasks.ts"
import { createContext, type AccountContext } from "./account/context.ts"
import { createSubmissions } from "./families/forms/seeded-submissions.ts"
import { createTasks } from "./families/contacts/seeded-tasks.ts"
import { createTemplates } from "./families/locations/seeded-templates.ts"
import { createTranscripts } from "./families/conversations/seeded-transcripts.ts"
import { createUsers } from "./families/users/seeded-users.ts"
import { createWorkflows } from "./families/workflows/workflow-records.ts"

interface EagerCollections {
  readonly context: AccountContext
  readonly locations: Collection
  readonly users: Collection
  readonly contacts: Collection
  readonly customFields: Collection
  readonly objectFields: Collection
  readonly folders: Collection
  readonly templates: Collection
  readonly recurringTasks: Collection
  readonly workflows: Collection
  readonly calendars: Collection
  readonly appointments: Collection
  readonly emails: Collection
  readonly transcripts: Collection
  readonly notes: Collection
  readonly tasks: Collection
  readonly pipelines: Collection
  readonly opportunities: Collection
  readonly conversations: Collection
  readonly messages: Collection
  readonly orders: Collection
  readonly forms: Collection
  readonly submissions: Collection
}

/** All collections of the account. A record is built when it is first read, from the seed and its index alone. */
export type World = EagerCollections &
  LazyCollections & { readonly [Name in keyof typeof furtherCollections]: Collection }

export const createWorld = (settings: Settings): World => {
  const context = createContext(settings)
  const contacts = createContacts(context)
  const pipelines = createPipelines(context)
  const orders = createOrders(context, contacts, () => lazy.pricedProducts)
  const lazy = new LazyCollections(context, contacts, orders)
  const forms = createForms(context)
  const calendars = createCalendars(context)
  const conversations = createConversations(context, contacts, (index) => lastMessage(index))
  const { messages, lastSeeded } = createMessages(context, conversations)
  const lastMessage = (index: number): Data => messages.data(lastSeeded[index]!)
  const eager: EagerCollections = {
    context,
    locations: createLocations(context),
    users: createUsers(context),
    contacts,
    customFields: createCustomFields(context),
    ...createObjectFields(context),
    templates: createTemplates(context),
    recurringTasks: createRecurringTasks(context, contacts),
    workflows: createWorkflows(context),
    calendars,
    appointments: createAppointments(context, contacts, calendars),
    emails: createEmails(context, messages, contacts),
    transcripts: createTranscripts(context, messages),
    notes: createNotes(context, contacts),
    tasks: createTasks(context, contacts),
    pipelines,
    opportunities: createOpportunities(context, contacts, pipelines, () => rowsOf(world.lostReasons)),
    conversations,
    messages,
    orders,
    forms,
    submissions: createSubmissions(context, contacts, forms)
  }
  const world = Object.assign(lazy, eager) as World
  addFurther(world, context, contacts)
  for (const name of withOrphans) addOrphans(context, world[name])
  for (const [name, collection] of Object.entries(eager)) {
    if (collection instanceof Collection) placeLinks(name, collection, context)
  }
  if (settings.warm) warm(world)
  return world
}

/** Each is replaced by its records when it is first used; without any, in an account that does not have them. */
const addFurther = (world: World, context: AccountContext, contacts: Collection): void => {
  const isEmpty = context.settings.variants.furtherLists !== "offered"
  const none = { build: () => ({}) }
  const of = (name: string) => world[name as keyof typeof furtherCollections]
  let owners: Owners | undefined
  for (const [name, make] of Object.entries<Make>(furtherCollections))
    Object.defineProperty(world, name, {
      configurable: true,
      get: () => {
        owners ??= new Owners(context, contacts)
        const value = isEmpty ? new Collection(none) : placeLinks(name, make({ context, owners, of }), context)
        Object.defineProperty(world, name, { value })
        return value
      }
    })
}

/** The collections whose lists contain records without an id and stale copies, with the malformed variant. */
const withOrphans = ["contacts", "opportunities", "conversations", "messages", "orders", "submissions"] as const

/** Serialises the records and sorts the lists of the eager collections, so that a benchmark measures only the serving. */
const warm = (world: World): void => {
  for (const collection of Object.values(world).filter(
    (part) => part instanceof Collection && !(part instanceof DerivedCollection)
  )) {
    for (const entry of collection.live()) {
      collection.full(entry)
      collection.list(entry)
    }
    collection.sorted(byCreated)
    collection.sorted(byUpdated)
  }
}
