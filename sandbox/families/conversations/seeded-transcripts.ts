import type { Collection, Data, Entry } from "../../account/collection.ts"
import { DerivedCollection } from "../../account/derived.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"

/** Whether the message has a recording and a transcript, like answered calls and voicemail. */
export const isRecorded = (message: Data): boolean =>
  ["completed", "answered", "voicemail"].includes(String((message["meta"] as Data | undefined)?.["callStatus"]))

/** The transcripts of calls, with the id of their message; the sentences have the form of A 2.12. */
export const createTranscripts = (context: AccountContext, messages: Collection): Collection =>
  new DerivedCollection({
    from: messages,
    has: (message) => message.kind === 1 || message.kind === 10,
    idsOf: (message) => (isRecorded(messages.data(message)) ? [message.id!] : []),
    sourceOf: (id) => id,
    build: (id, message) => ({ messageId: id, sentences: sentences(context, message, messages.data(message)) })
  })

const sentences = (context: AccountContext, entry: Entry, message: Data): ReadonlyArray<Data> => {
  const index = typeof entry.source === "number" ? entry.source : entry.created % 1e9
  const random = new Random(context.seed, streams.transcript, index)
  const seconds = Number((message["meta"] as Data)["callDuration"] ?? 5)
  const count = Math.max(1, Math.min(40, Math.floor(seconds / 6)))
  const step = Math.floor((seconds * 1000) / count)
  return Array.from({ length: count }, (_, sentenceIndex) => ({
    mediaChannel: random.pick([1, 2]),
    sentenceIndex,
    startTime: sentenceIndex * step,
    endTime: sentenceIndex * step + Math.floor(step * 0.9),
    transcript: messageText(random),
    confidence: random.between(60, 99) / 100
  }))
}
