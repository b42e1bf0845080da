/** The conversations of a person: the messages of each in the order of their times, with recordings and transcripts. */
import { Array as Arr, Effect } from "effect"
import { type Resource, resourceOf } from "../../../catalog/resource.ts"
import { exportedName } from "../../../output/stored-files.ts"
import { documentOf, html, timeHtml } from "../../../pages/html.ts"
import { pageStyle } from "../../../pages/page-style.ts"
import { keysTable } from "./belongings.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { orNull } from "../../../values/rows.ts"
import { selected } from "../../../stores/warehouse/sql.ts"

const instant = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ')`

const orEmpty = (cell: unknown): string => String(cell ?? "")

const messageColumns = {
  location: String,
  conversation: String,
  id: String,
  type: orNull(String),
  direction: orNull(String),
  /** ISO 8601. */
  at: orNull(String),
  subject: orNull(String),
  body: orNull(String),
  from: orNull(String),
  to: orNull(String),
  /** The user who wrote it. */
  user: orNull(String),
  seconds: orNull(Number),
  path: orEmpty,
  attachments: selected<ReadonlyArray<Attached>>,
  contactName: orNull(String),
  email: orNull(String),
  phone: orNull(String)
}

interface Attached {
  readonly name: string | null
  readonly path: string
}

/** `copied`: the names of the files that the export has. */
export const conversationsOf = Effect.fn("subject.conversations")(function* (
  resources: ReadonlyArray<Resource>,
  copied: ReadonlyArray<string>
) {
  const keys = keysTable(resourceOf(resources, "messages"))
  const rows = yield* query(
    messageColumns,
    `SELECT m.location_id AS location, coalesce(m.conversation_id, m.id) AS conversation, m.id, m.message_type AS type, m.direction,
       ${instant("m.date_added")} AS at, coalesce(e.subject, m.subject) AS subject, coalesce(e.body, m.body) AS body, m.from_address AS "from", m.to_address AS "to",
       u.name AS "user", m.call_duration_seconds AS seconds, r.path,
       c.full_name AS contactName, c.email, c.phone,
       coalesce((SELECT json_group_array(json_object('path', f.path, 'name', f.name))
         FROM crm.files AS f WHERE f.location_id = m.location_id AND f.path IS NOT NULL AND f._deleted_at IS NULL
           AND ((f.table_name = 'messages' AND f.record_id = m.id) OR (f.table_name = 'emails' AND f.record_id = l.email_id)))::VARCHAR, '[]') AS attachments,
     FROM crm.messages AS m
     LEFT JOIN (SELECT location_id, message_id, min(email_id) AS email_id FROM crm.message_emails GROUP BY ALL) AS l ON l.location_id = m.location_id AND l.message_id = m.id
     LEFT JOIN crm.emails AS e ON e.location_id = m.location_id AND e.id = l.email_id
     LEFT JOIN crm.users AS u ON u.location_id = m.location_id AND u.id = m.user_id
     LEFT JOIN crm.recordings AS r ON r.location_id = m.location_id AND r.message_id = m.id
     LEFT JOIN crm.conversations AS c ON c.location_id = m.location_id AND c.id = m.conversation_id
     WHERE (m.location_id, m.id) IN (SELECT (location_id, key) FROM ${keys}) ORDER BY m.location_id, conversation, m.date_added, m.id`
  )
  const sentences = Map.groupBy(
    yield* query(
      { message: String, channel: Number, text: orEmpty },
      `SELECT message_id AS message, media_channel AS channel, transcript AS text FROM crm.transcript_sentences
       WHERE (location_id, message_id) IN (SELECT (location_id, key) FROM ${keys}) ORDER BY message_id, start_time, sentence_index`
    ),
    ({ message }) => message
  )
  const copyOf = ({ name, path }: Attached) => {
    const file = exportedName(path)
    return copied.includes(file) ? [{ file, name }] : []
  }
  const messages = rows.map(({ attachments, path, ...message }) => ({
    ...message,
    recording: copyOf({ path, name: null })[0],
    attachments: attachments.flatMap(copyOf),
    transcript: sentences.get(message.id) ?? []
  }))
  return Object.values(Arr.groupBy(messages, ({ conversation, location }) => `${location}\n${conversation}`)).map(
    (messages) => ({ id: messages[0].conversation, location: messages[0].location, messages })
  )
})

type Conversation = Effect.Success<ReturnType<typeof conversationsOf>>[number]

/** A conversation to read. HTML of messages is shown as text, because it could load pictures that report the reader. */
export const threadOf = ({ messages }: Conversation): string => {
  const [{ contactName, email, phone }] = messages
  const title = `Conversation with ${contactName ?? email ?? phone ?? "a contact"}`
  const body = html`<main>
    <h1>${title}</h1>
    ${messages.map(
      ({ at, attachments, body, direction, from, recording, seconds, subject, to, transcript, type, user }) =>
        html`<article>
          <header>
            ${at === null ? "without a time" : timeHtml(at)}, ${direction ?? ""}
            ${type ?? ""}${user === null ? "" : `, ${user}`}${from === null ? "" : `, from ${from}`}${to === null ? "" : ` to ${to}`}
          </header>
          ${subject === null ? undefined : html`<p><b>${subject}</b></p>`}
          ${body === null ? undefined : html`<p>${body}</p>`}
          ${recording ? html`<p><a href="../files/${recording.file}">Recording</a>${seconds === null ? "" : `, ${seconds} s`}</p>` : undefined}
          ${attachments.map(({ file, name }) => html`<p><a href="../files/${file}" download>${name ?? file}</a></p>`)}
          ${transcript.map(({ channel, text }) => html`<p>${`Channel ${channel}: ${text}`}</p>`)}
        </article>`
    )}
  </main>`
  return documentOf(title, threadStyle, body)
}

const threadStyle = `${pageStyle}
:root{--frame:48rem}
body{padding-bottom:3rem}
h1{padding:2rem 0 1rem}
article{border-top:1px solid var(--line);padding:.6rem 0;break-inside:avoid}
article header{color:var(--muted)}
p{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0}
`
