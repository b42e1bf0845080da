import { iso } from "../clock.ts"
import { Collection, type Data, entry } from "./collection.ts"
import { Random, streams } from "./random.ts"
import type { Setting } from "./setting.ts"

/** The one location the account of the sandbox is (A 2.8). */
export const createLocations = (setting: Setting): Collection => {
  const location: Data = {
    id: setting.locationId,
    companyId: setting.companyId,
    name: "Harbor & Pine Renovations",
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
    // From here to the business no document names a field.
    currency: "USD",
    dateAdded: iso(setting.begin),
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
      allowDuplicateContact: setting.settings.allowDuplicateContact,
      allowDuplicateOpportunity: true,
      allowFacebookNameMerge: false,
      disableContactTimezone: false
    }
  }
  const locations = new Collection({ build: () => location })
  locations.add(entry({ id: setting.locationId, created: setting.begin, source: location }))
  return locations
}

/** Pipelines with their stages in order (A 2.6); `position` of a pipeline is a text that sorts. */
export const createPipelines = (setting: Setting): Collection => {
  const pipelines = new Collection({ build: () => ({}) })
  definitions.forEach(([name, stages], index) => {
    const random = new Random(setting.seed, streams.setup, index + 1)
    const id = random.id()
    const pipeline = {
      id,
      name,
      locationId: setting.locationId,
      showInFunnel: index !== 1,
      showInPieChart: true,
      useOpportunityProbability: index === 0,
      colorRenderMode: ["dot", "bg-tint", "none"][index % 3],
      position: `a${index}`,
      stages: stages.map((stage, position) => ({
        id: random.id(),
        name: stage,
        position,
        showInFunnel: position !== stages.length - 1,
        ...(index === 0 && { stageWinProbability: Math.round((100 * position) / (stages.length - 1)) })
      }))
    }
    pipelines.add(entry({ id, created: setting.begin + index, source: pipeline }))
  })
  return pipelines
}

const definitions: ReadonlyArray<[string, ReadonlyArray<string>]> = [
  ["Renovations", ["Inquiry", "Site visit", "Estimate sent", "Deposit paid", "In progress"]],
  ["Garden care", ["Asked", "Quoted", "Scheduled"]],
  ["Commercial", ["Lead", "Proposal", "Negotiation", "Contract"]]
]

/** Forms (B 2.7). */
export const createForms = (setting: Setting): Collection => {
  const forms = new Collection({ build: () => ({}) })
  ;["Request an estimate", "Newsletter", "Home show raffle", "Warranty claim", "Kontakt – Garten"].forEach(
    (name, index) => {
      const id = new Random(setting.seed, streams.setup, index + 100).id()
      const created = setting.begin + index
      forms.add(entry({ id, created, source: { id, name, locationId: setting.locationId } }))
    }
  )
  return forms
}
