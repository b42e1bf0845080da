import {
  alias,
  boolean,
  changed,
  created,
  identifier,
  json,
  object,
  openEnum,
  phone,
  ref,
  text
} from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"

export const phoneNumbers = defineList({
  table: "phone_numbers",
  description: "Phone numbers of the account.",
  source: "C 10.1 GET /phone-system/numbers/location/{locationId}",
  scope: "phonenumbers.read",
  unproven: true,
  full: [
    {
      // By default, the service leaves out the numbers of pools.
      request: get("/phone-system/numbers/location/{locationId}", {
        pageSize: size,
        page: cursorOr(0),
        skipNumberPool: false
      }),
      paging: { kind: "pageNumber", first: 0 },
      records: "data.numbers",
      elsewhere: ["numbers"],
      beside: { message: "text", statusCode: "ok", "data.page": "number", "data.pageSize": "number" },
      pageSize: 1000,
      total: "data.total"
    }
  ],
  key: ["phone_number"],
  fields: {
    phoneNumber: phone("The number of the account, E.164", { personal: "none" }),
    friendlyName: text("Name"),
    sid: identifier("Id at the carrier"),
    countryCode: text("Country, two letters"),
    capabilities: object({
      voice: boolean("It can call"),
      sms: boolean("It can send text messages"),
      mms: boolean("It can send pictures"),
      fax: boolean("It can send faxes")
    }),
    type: openEnum("`local`, `toll-free`, `mobile` or `national`"),
    isDefaultNumber: boolean("Calls are made from it"),
    linkedUser: ref("users", "Whose number it is", { column: "linked_user_id" }),
    linkedRingAllUsers: json("Ids of the users whose phones ring, as sent"),
    inboundCallService: object({
      type: openEnum("What takes its calls: `voice_ai`, `ivr` or `forward`"),
      value: identifier("Id of what takes its calls, such as an assistant", { column: "inbound_call_service_id" })
    }),
    forwardingNumber: phone("Number to which calls are forwarded"),
    isGroupConversationEnabled: boolean("Several people can write in one conversation"),
    addressSid: identifier("Id of the address at the carrier"),
    bundleSid: identifier("Id of the papers at the carrier"),
    dateAdded: created("When it was added"),
    dateCreated: alias("dateAdded"),
    dateUpdated: changed("Last change"),
    origin: openEnum("Where it came from: the carrier, `hosted` or `ported`")
  }
})
