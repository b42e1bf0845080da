import { alias, openEnum, boolean, id, json, text, identifier, personName } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList, inOnePage, succeeded } from "#catalog/resource.ts"

export const socialAccounts = defineList({
  table: "social_accounts",
  description: "Profiles on social networks that posts go to.",
  source: "B 2.5, B 4.7 GET /social-media-posting/{locationId}/accounts",
  scope: "socialplanner/account.readonly",
  full: [
    inOnePage(get("/social-media-posting/{locationId}/accounts"), { records: "results.accounts", beside: succeeded })
  ],
  fields: {
    id: id("Account id"),
    _id: alias("id"),
    platform: openEnum("The network"),
    type: openEnum("Kind of profile: `page`, `group`, …"),
    name: personName("Name of the profile"),
    avatar: text("Picture of the profile, as a link", { role: "file", personal: "direct" }),
    isActive: boolean("Posts can be sent to it"),
    oauthId: identifier("Id of the connection", { personal: "quasi" }),
    profileId: identifier("Id of the profile at the network", { personal: "quasi" }),
    expire: text("When the connection ends, as sent"),
    isExpired: boolean("The connection has ended"),
    meta: json("Details by network, as sent", { personal: "direct" })
  }
})
