/** The conversations of a person: the messages of each in the order of their times, with recordings and transcripts. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { Resource } from "../../../catalog/resource.ts"
import { onDisk } from "../../../output/files.ts"
import { Html, html } from "../../../values/html.ts"
import { timeHtml } from "../../../values/moment.ts"
import { pageStyle } from "../../../values/page-style.ts"
import { type Row, Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { keysTable } from "./belongings.ts"
import type { Conversation, Message } from "./vcon.ts"

const instant = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ')`

/** `files`: the folder with the copies of the recordings. */
export const conversationsOf = Effect.fn("subject.conversations")(function* (
  resources: ReadonlyArray<Resource>,
  files: string,
  copied: ReadonlyArray<string>
) {
  const warehouse = yield* Warehouse
  const keys = keysTable(resources.find(({ table }) => table === "messages")!)
  const rows = yield* warehouse.rows(
    `SELECT m.location_id, coalesce(m.conversation_id, m.id) AS conversation_id, m.id, m.message_type, m.direction, ${instant("m.date_added")} AS at,
       coalesce(e.subject, m.subject) AS subject, coalesce(e.body, m.body) AS body, coalesce(e.content_type, m.content_type, '') LIKE '%html%' AS is_html,
       m.from_address, m.to_address, u.name AS user_name, m.call_duration_seconds AS seconds, r.path, r.content_type AS media_type,
       c.full_name, c.email, c.phone
     FROM crm.messages AS m
     LEFT JOIN (SELECT location_id, message_id, min(email_id) AS email_id FROM crm.message_emails GROUP BY ALL) AS l ON l.location_id = m.location_id AND l.message_id = m.id
     LEFT JOIN crm.emails AS e ON e.location_id = m.location_id AND e.id = l.email_id
     LEFT JOIN crm.users AS u ON u.location_id = m.location_id AND u.id = m.user_id
     LEFT JOIN crm.recordings AS r ON r.location_id = m.location_id AND r.message_id = m.id
     LEFT JOIN crm.conversations AS c ON c.location_id = m.location_id AND c.id = m.conversation_id
     WHERE (m.location_id, m.id) IN (SELECT (location_id, key) FROM ${keys}) ORDER BY m.location_id, conversation_id, m.date_added, m.id`
  )
  const sentences = Map.groupBy(
    yield* warehouse.rows(
      `SELECT message_id, media_channel, start_time, end_time, transcript FROM crm.transcript_sentences
       WHERE (location_id, message_id) IN (SELECT (location_id, key) FROM ${keys}) ORDER BY message_id, start_time, sentence_index`
    ),
    (row) => String(row["message_id"])
  )
  const conversations = new Map<string, Conversation & { readonly messages: Array<Message> }>()
  for (const row of rows) {
    const [location, id] = [String(row["location_id"]), String(row["conversation_id"])]
    const key = `${location}\n${id}`
    const conversation = conversations.get(key) ?? {
      location,
      id,
      contact: { name: textOf(row["full_name"]), email: textOf(row["email"]), phone: textOf(row["phone"]) },
      messages: []
    }
    conversations.set(key, conversation)
    const file = String(row["path"] ?? "")
      .split("/")
      .at(-1)!
    const recording = copied.includes(file)
      ? { file, mediaType: textOf(row["media_type"]), sha512: yield* sha512Of(join(files, file)) }
      : undefined
    conversation.messages.push(messageOf(row, id, recording, sentences.get(String(row["id"])) ?? []))
  }
  return [...conversations.values()]
})

const messageOf = (
  row: Row,
  conversation: string,
  recording: Message["recording"],
  sentences: ReadonlyArray<Row>
): Message => ({
  id: String(row["id"]),
  conversation,
  type: textOf(row["message_type"]),
  direction: textOf(row["direction"]),
  at: textOf(row["at"]),
  subject: textOf(row["subject"]),
  body: textOf(row["body"]),
  isHtml: row["is_html"] === true,
  from: textOf(row["from_address"]),
  to: textOf(row["to_address"]),
  user: textOf(row["user_name"]),
  seconds: row["seconds"] === null ? null : Number(row["seconds"]),
  recording,
  transcript: sentences.map((sentence) => ({
    channel: Number(sentence["media_channel"]),
    startMs: Number(sentence["start_time"]),
    endMs: Number(sentence["end_time"]),
    text: String(sentence["transcript"] ?? "")
  }))
})

const textOf = (value: Row[string] | undefined): string | null =>
  value === null || value === undefined ? null : String(value)

/** In Base64 for URLs, as a vCon has it. */
const sha512Of = (path: string) =>
  onDisk(path, "read", async () =>
    createHash("sha512")
      .update(await readFile(path))
      .digest("base64url")
  )

/** A conversation to read. HTML of messages is shown as text, because it could load pictures that report the reader. */
export const threadOf = ({ contact, messages }: Conversation): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Conversation with ${contact.name ?? contact.email ?? contact.phone ?? "a contact"}</title>
        ${threadStyle}
      </head>
      <body>
        <h1>Conversation with ${contact.name ?? contact.email ?? contact.phone ?? "a contact"}</h1>
        ${messages.map(
          ({ at, body, direction, from, recording, seconds, subject, to, transcript, type, user }) =>
            html`<article>
              <header>
                ${at === null ? "without a time" : timeHtml(at)}, ${direction ?? ""}
                ${type ?? ""}${user === null ? "" : `, ${user}`}${from === null ? "" : `, from ${from}`}${to === null ? "" : ` to ${to}`}
              </header>
              ${subject === null ? undefined : html`<p><b>${subject}</b></p>`}
              ${body === null ? undefined : html`<p>${body}</p>`}
              ${recording ? html`<p><a href="../files/${recording.file}">Recording</a>${seconds === null ? "" : `, ${seconds} s`}</p>` : undefined}
              ${transcript.map(({ channel, text }) => html`<p>${`Channel ${channel}: ${text}`}</p>`)}
            </article>`
        )}
      </body>
    </html> `.text

const threadStyle = new Html(`<style>${pageStyle}
:root{--frame:48rem}
body{padding-bottom:3rem}
h1{max-width:var(--frame);margin:0 auto;padding:2rem 1.5rem 1rem}
article{max-width:var(--frame);margin:0 auto;border-top:1px solid var(--line);padding:.6rem 1.5rem;break-inside:avoid}
article header{color:var(--muted)}
p{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0}
</style>`)
