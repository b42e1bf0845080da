import { boolean, id, object, enumeration, text } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const messagingProviders = defineList({
  table: "messaging_providers",
  description: "Services that carry the location's text messages and email.",
  source: "A 2.8, A 4.6 GET /locations/{locationId}/conversationChannels/{type}",
  scope: "locations.readonly",
  full: [
    inOnePage(get("/locations/{locationId}/conversationChannels/{partition}"), {
      records: "conversationChannel.{partition}"
    })
  ],
  partitions: { SMS: { columns: { channel: "SMS" } }, Email: { columns: { channel: "Email" } } },
  fields: {
    // Each item is an object with this single member.
    conversationProvider: object({
      _id: id("Provider id; `conversation_provider_id` elsewhere"),
      name: text("Name", { column: "name" }),
      type: enumeration(["SMS", "Email"], "", { column: "type" }),
      default: boolean("The provider used where none is chosen", { column: "is_default" })
    }),
    channel: enumeration(["SMS", "Email"], "Channel it was listed under")
  }
})
