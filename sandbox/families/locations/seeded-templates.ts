import { iso } from "../../account/clock.ts"
import { Collection, type Data, entry, without } from "../../account/collection.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"

/** Saved message templates (A 2.8). Only `deleted=true` lists the deleted ones. */
export const createTemplates = (context: AccountContext): Collection => {
  const templates = new Collection({ build: () => ({}), full: without("deleted", "originId") })
  for (let index = 0; index < 64; index++) {
    const random = new Random(context.seed, streams.template, index)
    const id = random.id()
    const type = random.pick(["sms", "sms", "email", "email", "whatsapp"])
    const created = context.begin + Math.floor(((context.end - context.begin) * index) / 64)
    const attachments = random.chance(0.2) ? [`https://files.example/${random.id()}.pdf`] : []
    const title = random.pick(titles)
    const source: Data = {
      id,
      name: `${title} ${index + 1}`,
      type,
      template: contentOf(type, title, random, attachments),
      ...(type === "sms" && { urlAttachments: attachments }),
      dateAdded: iso(created),
      locationId: context.locationId,
      deleted: index % 8 === 5,
      // The origin of the template; the live service was observed to accept the location id (field-notes 4).
      originId: context.locationId
    }
    templates.add(entry({ id, kind: index % 8 === 5 ? 1 : 0, created, source }))
  }
  return templates
}

const contentOf = (type: string, title: string, random: Random, attachments: ReadonlyArray<string>): Data => {
  const body = `${random.pick(greetings)} {{contact.first_name}}, ${title.toLowerCase()}.`
  return type === "email"
    ? { subject: `${title} – Harbor & Pine`, html: `<p>${body}</p>\n<p>{{user.signature}}</p>`, attachments }
    : { body, attachments }
}

const greetings = ["Hi", "Hello", "Dear", "Bonjour"]
const titles = [
  "Estimate ready",
  "Appointment reminder",
  "Thank you",
  "Review request",
  "Payment received",
  "We're late"
]
