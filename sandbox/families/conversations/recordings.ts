import { notFound } from "../../http/errors.ts"
import { Download, type Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { record } from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { isRecorded } from "./seeded-transcripts.ts"
import { find } from "../records.ts"

const location = { in: "path", name: "locationId" } as const
const scope = "conversations/message.readonly"

/** Emails, and the recordings and transcripts of calls (A 4.9). */
export const recordingRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/conversations/messages/email/:emailMessageId",
    scope,
    summary: "Get an email message",
    returns: record("EmailMessage"),
    handle: ({ params }, { world: { emails } }) => emails.full(find(emails, params["emailMessageId"], "Email message"))
  },
  {
    method: "GET",
    path: "/conversations/messages/:messageId/locations/:locationId/recording",
    scope,
    location,
    summary: "Get the recording of a call",
    produces: "audio/x-wav",
    handle: ({ params }, service) => {
      const { messages } = service.world
      const message = find(messages, params["messageId"], "Message")
      const data = messages.data(message)
      if (!isRecorded(data)) throw notFound(`Message with id ${message.id} has no recording`)
      return new Download(wave(message, data), "audio/x-wav", "audio.wav")
    }
  },
  {
    method: "GET",
    path: "/conversations/locations/:locationId/messages/:messageId/transcription",
    scope,
    location,
    summary: "Get the transcript of a call",
    returns: { type: "array", items: record("TranscriptSentence") },
    handle: ({ params }, service) => JSON.stringify(sentencesOf(service, params["messageId"]!))
  },
  {
    method: "GET",
    path: "/conversations/locations/:locationId/messages/:messageId/transcription/download",
    scope,
    location,
    summary: "Get the transcript of a call as a file",
    produces: "text/plain",
    handle: ({ params }, service) => {
      const lines = sentencesOf(service, params["messageId"]!).map((sentence) => {
        const seconds = Math.floor(Number(sentence["startTime"]) / 1000)
        const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
        return `[${time}] Speaker ${String(sentence["mediaChannel"])}: ${String(sentence["transcript"])}\n`
      })
      return new Download(lines.join(""), "text/plain", "transcription.txt")
    }
  }
]

const sentencesOf = ({ world: { messages, transcripts } }: Service, messageId: string): ReadonlyArray<Data> => {
  find(messages, messageId, "Message")
  const transcript = find(transcripts, messageId, "Transcript")
  return transcripts.data(transcript)["sentences"] as ReadonlyArray<Data>
}

/** A tone of at most two seconds, with a pitch for each call: 8,000 samples per second, 8 bits, one channel. */
const wave = (message: Entry, data: Data): Buffer => {
  const seconds = Math.min(2, Number((data["meta"] as Data)["callDuration"] ?? 1))
  const samples = Math.round(seconds * 8000)
  const bytes = Buffer.alloc(44 + samples)
  bytes.write("RIFF", 0)
  bytes.writeUInt32LE(36 + samples, 4)
  bytes.write("WAVEfmt ", 8)
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(8000, 24)
  bytes.writeUInt32LE(8000, 28)
  bytes.writeUInt16LE(1, 32)
  bytes.writeUInt16LE(8, 34)
  bytes.write("data", 36)
  bytes.writeUInt32LE(samples, 40)
  const pitch = 200 + (message.created % 400)
  for (let sample = 0; sample < samples; sample++) {
    bytes[44 + sample] = 128 + Math.round(100 * Math.sin((2 * Math.PI * pitch * sample) / 8000))
  }
  return bytes
}
