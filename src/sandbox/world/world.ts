import type { Settings } from "../options.ts"
import { createForms, createLocations, createPipelines } from "./account.ts"
import { Collection, type Data, byCreated, byUpdated } from "./collection.ts"
import { createContacts } from "./contacts.ts"
import { createConversations } from "./conversations.ts"
import { createMessages } from "./messages.ts"
import { addStrays } from "./nasty.ts"
import { createNotes } from "./notes.ts"
import { createOpportunities } from "./opportunities.ts"
import { createOrders } from "./orders.ts"
import { createSetting, type Setting } from "./setting.ts"
import { createSubmissions } from "./submissions.ts"
import { createTasks } from "./tasks.ts"
import { createUsers } from "./users.ts"

/** Everything the account holds. Records are built when first read, from the seed and their index alone. */
export interface World {
  readonly setting: Setting
  readonly locations: Collection
  readonly users: Collection
  readonly contacts: Collection
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

export type CollectionName = Exclude<keyof World, "setting">

export const createWorld = (settings: Settings): World => {
  const setting = createSetting(settings)
  const contacts = createContacts(setting)
  const pipelines = createPipelines(setting)
  const forms = createForms(setting)
  const conversations = createConversations(setting, contacts, (index) => lastMessage(index))
  const { messages, lastSeeded } = createMessages(setting, conversations)
  const lastMessage = (index: number): Data => messages.data(lastSeeded[index]!)
  const world: World = {
    setting,
    locations: createLocations(setting),
    users: createUsers(setting),
    contacts,
    notes: createNotes(setting, contacts),
    tasks: createTasks(setting, contacts),
    pipelines,
    opportunities: createOpportunities(setting, contacts, pipelines),
    conversations,
    messages,
    orders: createOrders(setting, contacts),
    forms,
    submissions: createSubmissions(setting, contacts, forms)
  }
  for (const name of straying) addStrays(setting, world[name])
  if (settings.warm) warm(world)
  return world
}

/** The collections whose lists show records without an id and stale copies, in the nasty world. */
const straying = ["contacts", "opportunities", "conversations", "messages", "orders", "submissions"] as const

/** Serialises every record and sorts the lists a full copy walks, so that a bench measures serving alone. */
const warm = (world: World): void => {
  for (const collection of Object.values(world).filter((part) => part instanceof Collection)) {
    for (const entry of collection.live()) {
      collection.full(entry)
      collection.list(entry)
    }
    collection.sorted(byCreated)
    collection.sorted(byUpdated)
  }
}
