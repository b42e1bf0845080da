import { Collection, type Data, entry, without } from "../../account/collection.ts"
import { firstNames, lastNames } from "../../account/names.ts"
import { withMalformedValues, malformFields } from "../../account/malformed.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { undocumentedOfUser } from "../../account/undocumented.ts"

/** Users (A 2.7). List items lack permissions and scopes, and alone carry `deleted`. */
export const createUsers = (context: AccountContext): Collection => {
  const users = new Collection({
    build: withMalformedValues(
      context,
      (entry) => user(context, entry.id as string, entry.source as number),
      malformFields({ flags: "deleted", texts: "extension phone platformLanguage" })
    ),
    full: without("deleted"),
    list: without("permissions", "scopes", "scopesAssignedToOnly")
  })
  context.userIds.forEach((id, index) => users.add(entry({ id, created: context.begin + index, source: index })))
  return users
}

const user = (context: AccountContext, id: string, index: number): Data => {
  const random = new Random(context.seed, streams.user, index)
  const firstName = random.pick(firstNames)
  const lastName = random.pick(lastNames)
  return {
    id,
    name: `${firstName} ${lastName}`,
    firstName,
    lastName,
    email: `staff${index}@harborandpine.example`,
    phone: random.chance(0.7) ? `+1207555${String(1000 + index)}` : undefined,
    extension: random.chance(0.3) ? String(random.between(100, 199)) : undefined,
    permissions: Object.fromEntries([
      ...on.map((name) => [name, random.chance(0.9)]),
      ...off.map((name) => [name, random.chance(0.1)])
    ]),
    scopes: random.some(scopes, 6, 0.7),
    scopesAssignedToOnly: random.chance(0.3) ? random.some(scopes, 2, 0.5) : [],
    roles: {
      type: "account",
      role: random.chance(0.2) ? "admin" : "user",
      locationIds: [context.locationId],
      restrictSubAccount: random.chance(0.1)
    },
    lcPhone: random.chance(0.4) ? { [context.locationId]: `+1207555${String(2000 + index)}` } : undefined,
    platformLanguage: random.chance(0.5) ? random.pick(["en_US", "es", "fr_CA", "de", "pt_BR"]) : undefined,
    ...undocumentedOfUser(context, index),
    deleted: random.chance(0.05)
  }
}

const on = (
  "campaignsEnabled contactsEnabled workflowsEnabled triggersEnabled funnelsEnabled opportunitiesEnabled " +
  "dashboardStatsEnabled bulkRequestsEnabled appointmentsEnabled reviewsEnabled onlineListingsEnabled " +
  "phoneCallEnabled conversationsEnabled settingsEnabled tagsEnabled leadValueEnabled marketingEnabled " +
  "agentReportingEnabled socialPlanner bloggingEnabled invoiceEnabled affiliateManagerEnabled contentAiEnabled " +
  "refundsEnabled recordPaymentEnabled cancelSubscriptionEnabled paymentsEnabled communitiesEnabled " +
  "exportPaymentsEnabled"
).split(" ")

const off = (
  "campaignsReadOnly workflowsReadOnly websitesEnabled assignedDataOnly membershipEnabled botService " +
  "attributionsReportingEnabled adwordsReportingEnabled facebookAdsReportingEnabled"
).split(" ")

const scopes = [
  "contacts.write",
  "conversations.readonly",
  "conversations/message.write",
  "opportunities.write",
  "calendars.readonly",
  "payments/orders.readonly"
]
