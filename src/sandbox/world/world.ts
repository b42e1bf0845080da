import { Commerce } from "../commerce/world/commerce.ts"
import type { Settings } from "../options.ts"
import { createAppointments } from "./appointments.ts"
import { createCalendars } from "./calendars.ts"
import { createForms, createLocations, createPipelines } from "./account.ts"
import { Collection, type Data, byCreated, byUpdated } from "./collection.ts"
import { createContacts } from "./contacts.ts"
import { createCustomFields } from "./custom-fields.ts"
import { createConversations } from "./conversations.ts"
import { createMessages } from "./messages.ts"
import { DerivedCollection } from "./derived.ts"
import { createEmails } from "./emails.ts"
import { addStrays } from "./nasty.ts"
import { createNotes } from "./notes.ts"
import { createObjectFields } from "./object-fields.ts"
import { createOpportunities } from "./opportunities.ts"
import { createOrders } from "./orders.ts"
import { createRecurringTasks } from "./recurring-tasks.ts"
import { createSetting, type Setting } from "./setting.ts"
import { createSubmissions } from "./submissions.ts"
import { createTasks } from "./tasks.ts"
import { createTemplates } from "./templates.ts"
import { createTranscripts } from "./transcripts.ts"
import { createUsers } from "./users.ts"
import { createWorkflows } from "./workflows.ts"

/** Everything the account holds. Records are built when first read, from the seed and their index alone. */
export interface World {
  readonly setting: Setting
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
  readonly commerce: Commerce
}

export type CollectionName = Exclude<keyof World, "setting" | "commerce">

export const createWorld = (settings: Settings): World => {
  const setting = createSetting(settings)
  const contacts = createContacts(setting)
  const pipelines = createPipelines(setting)
  const orders = createOrders(setting, contacts, () => commerce.goods)
  const commerce = new Commerce(setting, contacts, orders)
  const forms = createForms(setting)
  const calendars = createCalendars(setting)
  const conversations = createConversations(setting, contacts, (index) => lastMessage(index))
  const { messages, lastSeeded } = createMessages(setting, conversations)
  const lastMessage = (index: number): Data => messages.data(lastSeeded[index]!)
  const world: World = {
    setting,
    locations: createLocations(setting),
    users: createUsers(setting),
    contacts,
    customFields: createCustomFields(setting),
    ...createObjectFields(setting),
    templates: createTemplates(setting),
    recurringTasks: createRecurringTasks(setting, contacts),
    workflows: createWorkflows(setting),
    calendars,
    appointments: createAppointments(setting, contacts, calendars),
    emails: createEmails(setting, messages, contacts),
    transcripts: createTranscripts(setting, messages),
    notes: createNotes(setting, contacts),
    tasks: createTasks(setting, contacts),
    pipelines,
    opportunities: createOpportunities(setting, contacts, pipelines),
    conversations,
    messages,
    orders,
    forms,
    submissions: createSubmissions(setting, contacts, forms),
    commerce
  }
  for (const name of straying) addStrays(setting, world[name])
  if (settings.warm) warm(world)
  return world
}

/** The collections whose lists show records without an id and stale copies, in the nasty world. */
const straying = ["contacts", "opportunities", "conversations", "messages", "orders", "submissions"] as const

/** Serialises every record and sorts the lists a full copy walks, so that a bench measures serving alone. */
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
