import { messageText, noteText } from "../account/texts.ts"
import { createContact, deleteContact, updateContact } from "../families/contacts/contacts.ts"
import { addNote } from "../families/contacts/notes.ts"
import { addMessage } from "../families/conversations/messages.ts"
import { updateOpportunity } from "../families/opportunities/opportunities.ts"
import type { Service } from "../service.ts"

/** Makes the due changes of an account that changes while it is read. */
export const churn = (service: Service): void => {
  for (let left = service.churn.due(service.clock.now()); left > 0; left--) changeOne(service)
}

const changeOne = (service: Service): void => {
  const { churn, world } = service
  const { random } = churn
  churn.changes++
  if (churn.rate.removes > 0 && random.chance(churn.rate.removes)) return removeOne(service)
  const contact = churn.pick(world.contacts)
  const roll = random.int(6)
  if (random.chance(churn.rate.deletes)) return void (contact && deleteContact(service, contact))
  if (roll === 0) return void createContact(service, { firstName: "Churn", lastName: String(churn.changes) })
  if (roll === 1) return void (contact && addNote(service, contact, { body: noteText(random) }))
  const conversation = roll === 2 ? churn.pick(world.conversations) : undefined
  const fields = { direction: random.pick(["inbound", "outbound"]), body: messageText(random) }
  if (conversation !== undefined) return void addMessage(service, conversation, 2, fields)
  const opportunity = roll === 3 ? churn.pick(world.opportunities) : undefined
  if (opportunity !== undefined) {
    return void updateOpportunity(service, opportunity, { monetaryValue: random.int(100_000) / 100 })
  }
  if (contact !== undefined) updateContact(service, contact, { source: `churn ${churn.changes}` })
}

/** Removes one of the newest records of a list, because lists begin with them: what follows moves up. */
const removeOne = ({ churn, world }: Service): void => {
  const { conversations, invoices, messages, opportunities, orders } = world
  const list = churn.random.pick([conversations, invoices, messages, opportunities, orders])
  const row = [...list.live()].at(-1 - churn.random.int(newest))
  if (row === undefined) return
  if (list === conversations) for (const message of messages.children(row.id!)) messages.remove(message)
  list.remove(row)
}
const newest = 10
