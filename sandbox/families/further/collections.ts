import { crmCollections } from "./seeded-crm.ts"
import { documentCollections } from "./seeded-documents.ts"
import { furtherCalendarCollections } from "./seeded-calendars.ts"
import { furtherCommerceCollections } from "./seeded-commerce.ts"
import { moreCollections } from "./seeded-more.ts"
import { furtherEmailCollections } from "./seeded-emails.ts"
import { objectCollections } from "./seeded-objects.ts"
import { voiceCollections } from "./seeded-voice.ts"

/** The collections of document 3, which are created on first use. */
export const furtherCollections = {
  ...crmCollections,
  ...objectCollections,
  ...furtherEmailCollections,
  ...documentCollections,
  ...voiceCollections,
  ...furtherCalendarCollections,
  ...furtherCommerceCollections,
  ...moreCollections
}
