import { createContact, deleteContact, updateContact } from "./resources/contacts.ts"
import { addMessage } from "./resources/messages.ts"
import { addNote } from "./resources/notes.ts"
import { updateOpportunity } from "./resources/opportunities.ts"
import type { Service } from "./route.ts"
import type { Collection, Entry } from "./world/collection.ts"
import { Random, streams } from "./world/random.ts"
import { messageText, noteText } from "./world/texts.ts"

export interface ChurnRate {
  /** Changes for every second of the sandbox clock, made when the next request arrives. */
  perSecond: number
  /** Changes for every request. */
  perRequest: number
  /** The chance that a change is the deletion of a contact. */
  deletes: number
}

/** An account that goes on changing while it is read. */
export class Churn {
  #rate: ChurnRate = { perSecond: 0, perRequest: 0, deletes: 0 }
  #since = 0
  #random = new Random(0, streams.churn, 0)
  readonly #ids = new Map<Collection, ReadonlyArray<string>>()
  changes = 0

  set(rate: Partial<ChurnRate>, service: Service): ChurnRate {
    this.#rate = { perSecond: 0, perRequest: 0, deletes: 0, ...rate }
    this.#since = service.clock.now()
    this.#random = new Random(service.settings.seed, streams.churn, 0)
    this.#ids.clear()
    return this.#rate
  }

  /** Makes the changes that are due. */
  run(service: Service): void {
    const { perRequest, perSecond } = this.#rate
    if (perRequest === 0 && perSecond === 0) return
    const timed = Math.floor(((service.clock.now() - this.#since) * perSecond) / 1000)
    if (timed > 0) this.#since += (timed * 1000) / perSecond
    for (let left = Math.min(mostAtOnce, timed + perRequest); left > 0; left--) this.#change(service)
  }

  #change(service: Service): void {
    const { contacts, conversations, opportunities } = service.world
    const random = this.#random
    this.changes++
    const contact = this.#pick(contacts)
    const roll = random.int(6)
    if (random.chance(this.#rate.deletes)) return void (contact && deleteContact(service, contact))
    if (roll === 0) return void createContact(service, { firstName: "Churn", lastName: String(this.changes) })
    if (roll === 1) return void (contact && addNote(service, contact, { body: noteText(random) }))
    const conversation = roll === 2 ? this.#pick(conversations) : undefined
    const fields = { direction: random.pick(["inbound", "outbound"]), body: messageText(random) }
    if (conversation !== undefined) return void addMessage(service, conversation, 2, fields)
    const deal = roll === 3 ? this.#pick(opportunities) : undefined
    if (deal !== undefined) return void updateOpportunity(service, deal, { monetaryValue: random.int(100_000) / 100 })
    if (contact !== undefined) updateContact(service, contact, { source: `churn ${this.changes}` })
  }

  /** One of the records there were when it was first asked, if it is still there. */
  #pick(collection: Collection): Entry | undefined {
    const ids = this.#ids.get(collection) ?? [...collection.live()].map((row) => row.id!)
    this.#ids.set(collection, ids)
    return ids.length === 0 ? undefined : collection.get(this.#random.pick(ids))
  }
}

const mostAtOnce = 1000
