import { boolean, content, id, json, phone, rows, text } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const numberPools = defineList({
  table: "number_pools",
  description: "Numbers of which each visitor of a site is shown another one.",
  source: "C 10.2 GET /phone-system/number-pools",
  scope: "numberpools.read",
  unproven: true,
  full: [
    inOnePage(get("/phone-system/number-pools", { locationId: location }), {
      records: "data",
      elsewhere: ["data.pools", "data.numberPools", "pools"],
      beside: { success: "true", total: "number" }
    })
  ],
  fields: {
    id: id("Pool id; `number_pool_id` elsewhere"),
    name: text("Name"),
    numbers: rows(
      "number_pool_numbers",
      "Numbers of each pool.",
      { phoneNumber: phone("The number, E.164"), friendlyName: text("Name") },
      ["phone_number"]
    ),
    forwardingNumber: phone("Number to which calls are forwarded"),
    whisper: boolean("Who takes a call hears something first"),
    whisperMessage: content("What is heard"),
    callRecording: boolean("Calls are recorded"),
    isActive: boolean("It is in use"),
    inboundCallService: json("What takes its calls, as sent")
  }
})
