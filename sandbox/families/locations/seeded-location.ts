import { iso } from "../../account/clock.ts"
import { Collection, type Data, entry } from "../../account/collection.ts"
import type { AccountContext } from "../../account/context.ts"

/** The location of the account (A 2.8). */
export const createLocations = (context: AccountContext): Collection => {
  const { location: number } = context.settings
  const location: Data = {
    id: context.locationId,
    companyId: context.companyId,
    name: `Harbor & Pine Renovations${number === 0 ? "" : ` ${number + 1}`}`,
    firstName: "Maeve",
    lastName: "O'Brien",
    email: "office@harborandpine.example",
    phone: "+12075550100",
    address: "12 Quarry Rd",
    city: "Portland",
    state: "ME",
    country: "US",
    postalCode: "04101",
    website: "https://harborandpine.example/",
    timezone: "America/New_York",
    logoUrl: "https://files.example/logo.png",
    // The fields from here to the business are undocumented.
    currency: "USD",
    dateAdded: iso(context.begin),
    domain: "harborandpine.example",
    permissions: { dashboardStatsEnabled: true, contactsEnabled: true },
    business: {
      name: "Harbor & Pine Renovations, LLC",
      address: "12 Quarry Rd",
      city: "Portland",
      state: "ME",
      country: "US",
      postalCode: "04101",
      website: "https://harborandpine.example/",
      timezone: "America/New_York",
      logoUrl: "https://files.example/logo.png"
    },
    social: { facebookUrl: "https://social.example/harborandpine", blogRss: "", googlePlacesId: "ChIJx0" },
    settings: {
      allowDuplicateContact: context.settings.allowDuplicateContact,
      allowDuplicateOpportunity: true,
      allowFacebookNameMerge: false,
      disableContactTimezone: false
    }
  }
  const locations = new Collection({ build: () => location })
  locations.add(entry({ id: context.locationId, created: context.begin, source: location }))
  return locations
}
