import { content, count, decimal } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { callsWithSound } from "#catalog/shapes.ts"
import { defineChild, inOnePage } from "#catalog/resource.ts"

export const transcriptSentences = defineChild({
  table: "transcript_sentences",
  description: "What was said on calls and voicemail, sentence by sentence.",
  source: "A 2.12, A 4.9 GET /conversations/locations/{locationId}/messages/{messageId}/transcription",
  scope: "conversations/message.readonly",
  key: ["message_id", "sentence_index", "media_channel"],
  // A transcript may be made after the last change of its call, so every call is requested again.
  childOf: {
    ...callsWithSound,
    refreshAfter: "60 days",
    noneIsError: true,
    strategy: inOnePage(get("/conversations/locations/{locationId}/messages/{messageId}/transcription"), {
      records: ""
    })
  },
  person: { records: { message_id: "messages" } },
  fields: {
    mediaChannel: count("Who speaks: channel of the recording"),
    sentenceIndex: count("Place of the sentence in the call, from 0"),
    startTime: count("Begin, milliseconds into the call"),
    endTime: count("End, milliseconds into the call"),
    transcript: content("What was said"),
    confidence: decimal("How sure the service is of it, 0 to 1")
  }
})
