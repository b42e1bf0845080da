/**
 * A conversation as a vCon: parties, dialog and analysis in JSON (draft-ietf-vcon-vcon-core-04 of September 2026, syntax
 * 0.4.0; a draft, not a standard). Messages and emails are texts, calls are recordings with their hash, and transcripts are
 * analysis.
 */
import { hash } from "node:crypto"

/** A file of the export. `name`: as the record calls it. */
export interface CopiedFile {
  readonly file: string
  readonly name: string | null
  readonly mediaType: string | null
  readonly sha512: string
}

export interface Message {
  readonly id: string
  readonly conversation: string
  readonly type: string | null
  readonly direction: string | null
  /** ISO 8601. */
  readonly at: string | null
  readonly subject: string | null
  readonly body: string | null
  /** Whether the body is HTML. */
  readonly isHtml: boolean
  readonly from: string | null
  readonly to: string | null
  /** The user who wrote it. */
  readonly user: string | null
  readonly seconds: number | null
  readonly recording: CopiedFile | undefined
  readonly attachments: ReadonlyArray<CopiedFile>
  readonly transcript: ReadonlyArray<{
    readonly channel: number
    readonly startMs: number
    readonly endMs: number
    readonly text: string
  }>
}

export interface Conversation {
  readonly location: string
  readonly id: string
  readonly contact: { readonly name: string | null; readonly email: string | null; readonly phone: string | null }
  readonly messages: ReadonlyArray<Message>
}

/** `createdAt`: when the data were read; ISO 8601. The same conversation has the same UUID. */
export const vconOf = ({ contact, id, location, messages }: Conversation, createdAt: string): object => {
  const users = [...new Set(messages.flatMap(({ user }) => (user === null ? [] : [user])))]
  const account = users.length + 1
  const parties = [
    partyOf(contact.name, contact.email, contact.phone),
    ...users.map((name) => ({ name })),
    { name: "The account", type: "bot" }
  ]
  const dialog: Array<object> = []
  const attachments: Array<object> = []
  const analysis: Array<object> = []
  for (const message of messages) {
    const other = message.user === null ? account : users.indexOf(message.user) + 1
    const isInbound = message.direction === "inbound"
    const common = {
      start: message.at ?? createdAt,
      parties: [0, other],
      originator: isInbound ? 0 : other,
      message_id: message.id,
      application: message.type ?? "unknown"
    }
    if (message.transcript.length > 0)
      analysis.push({
        type: "transcript",
        dialog: dialog.length,
        vendor: "Account Platform",
        mediatype: "application/json",
        encoding: "json",
        body: message.transcript
      })
    for (const attached of message.attachments)
      attachments.push({
        purpose: "attachment",
        start: common.start,
        party: common.originator,
        dialog: dialog.length,
        ...fileOf(attached)
      })
    if (message.recording)
      dialog.push({
        type: "recording",
        ...common,
        ...(message.seconds !== null && { duration: message.seconds }),
        ...fileOf(message.recording)
      })
    else
      dialog.push({
        type: "text",
        ...common,
        mediatype: message.isHtml ? "text/html" : "text/plain",
        encoding: "none",
        body: [message.subject, message.body].filter(Boolean).join("\n\n")
      })
  }
  const subject = messages.find((message) => message.subject)?.subject
  return {
    vcon: "0.4.0",
    uuid: uuidOf(`${location}\0${id}`),
    created_at: createdAt,
    ...(subject && { subject }),
    parties,
    dialog,
    analysis,
    attachments
  }
}

const fileOf = ({ file, mediaType, name, sha512 }: CopiedFile) => ({
  mediatype: mediaType ?? "application/octet-stream",
  filename: name ?? file,
  url: `file:../files/${encodeURIComponent(file)}`,
  content_hash: `sha512-${sha512}`
})

const partyOf = (name: string | null, email: string | null, phone: string | null) => ({
  ...(name && { name }),
  ...(phone && { tel: phone }),
  ...(email && { mailto: email })
})

/** A UUID of version 8 (RFC 9562): its bits are those of a hash. */
const uuidOf = (text: string): string => {
  const hex = hash("sha256", `sluice/vcon/${text}`)
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
