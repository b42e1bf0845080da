import { count, storedFile, text } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { callsWithSound } from "#catalog/shapes.ts"
import { defineChild, oneRecord } from "#catalog/resource.ts"

export const recordings = defineChild({
  table: "recordings",
  description: "Sound of calls and voicemail, one file each.",
  source: "A 4.9 GET /conversations/messages/{messageId}/locations/{locationId}/recording",
  scope: "conversations/message.readonly",
  key: ["message_id"],
  // A recording does not change. The refresh finds recordings that were made after the last change of the call.
  childOf: {
    ...callsWithSound,
    refreshAfter: "180 days",
    noneIsError: true,
    isFile: true,
    strategy: oneRecord({
      request: get("/conversations/messages/{messageId}/locations/{locationId}/recording"),
      record: ""
    })
  },
  person: { records: { message_id: "messages" } },
  fields: {
    path: storedFile("Where the file lies in the output folder"),
    bytes: count("Size in bytes"),
    sha256: text("SHA-256 of the file, hexadecimal"),
    content_type: text("MIME type, as the service gave it")
  }
})
