import { Collection, entry } from "../../account/collection.ts"
import type { AccountContext } from "../../account/context.ts"
import { Random, streams } from "../../account/random.ts"

/** Forms (B 2.7). */
export const createForms = (context: AccountContext): Collection => {
  const forms = new Collection({ build: () => ({}) })
  ;["Request an estimate", "Newsletter", "Home show raffle", "Warranty claim", "Kontakt – Garten"].forEach(
    (name, index) => {
      const id = new Random(context.seed, streams.setup, index + 100).id()
      const created = context.begin + index
      forms.add(entry({ id, created, source: { id, name, locationId: context.locationId } }))
    }
  )
  return forms
}
