/** Every line of the pages of an export about a person, computed a second time from drawn records. */
import { assert, describe, it } from "@effect/vitest"
import { threadOf } from "../../src/features/privacy/subject/conversations.ts"
import { type Page, pageOf } from "../../src/features/privacy/subject/page.ts"
import { numberIn, rowsOf, textOf } from "../report/reading.ts"
import { randomFrom } from "../support/random.ts"

const seeds = Array.from({ length: 24 }, (_, seed) => seed + 1)
/** Texts with numbers of their own, so that no field passes for another; some with what HTML would read. */
const drawing = (seed: number) => {
  const random = randomFrom(seed)
  let last = 0
  const below = (count: number) => Math.floor(random() * count)
  const text = (what: string) => `${what} <${last++}> & "x"`
  const orNull = <A>(value: A) => (random() < 0.4 ? null : value)
  const several = <A>(most: number, of: (index: number) => A) =>
    Array.from({ length: below(most + 1) }, (_, i) => of(i))
  const instant = () => new Date(Date.UTC(2026, below(12), 1 + below(28), below(24), below(60))).toISOString()
  return { below, instant, orNull, random, several, text }
}
const exactTimes = (html: string) => Array.from(html.matchAll(/<time datetime="([^"]*)"/g), ([, exact]) => exact!)
/** The text with each time as the page gives it to programs. */
const exactText = (html: string) => textOf(html.replaceAll(/<time datetime="([^"]*)"[^>]*>.*?<\/time>/gs, "$1"))
const linesOf = (html: string, tag: string) =>
  Array.from(html.matchAll(new RegExp(`<${tag}\\b[^>]*>(.*?)</${tag}>`, "gs")), ([, content]) => exactText(content!))
const sectionOf = (html: string, head: string) =>
  html.split(/<section\b/).find((one) => textOf(/<h2>(.*?)<\/h2>/s.exec(one)?.[1] ?? "") === head)
const counted = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`

const drawnPage = (seed: number): Page => {
  const { below, instant, orNull, random, several, text } = drawing(seed)
  return {
    title: text("Data about"),
    asOf: instant(),
    contacts: several(2, (index) => ({
      id: text("id"),
      location: `location ${index}`,
      name: orNull(text("name")),
      emails: several(2, () => text("mail")),
      phones: several(2, () => text("phone")),
      deletedAt: orNull(instant()),
      isMatch: true
    })),
    placeOf: (location) => `place of ${location}`,
    addresses: several(2, () => text("address")),
    coverage: several(4, () => ({
      resource: text("resource"),
      records: below(5),
      mentions: below(3),
      isComplete: random() < 0.5,
      isAsSet: random() < 0.5,
      completeAt: orNull(instant()) ?? undefined,
      finding: text("finding")
    })),
    tables: several(3, (index) => ({
      name: `table_${index}`,
      description: text("what"),
      rows: 3 + below(9) * 400,
      columns: new Map([
        ["at", { description: text("when"), sql: "TIMESTAMPTZ" }],
        ["note", { description: text("note"), sql: "VARCHAR" }]
      ]),
      shown: Array.from({ length: 3 + below(5) }, () => ({ at: orNull(instant()), note: orNull(text("row")) }))
    })),
    held: text("held"),
    links: several(2, () => ({ table: text("of"), url: text("https://link") })),
    files: several(2, (index) => `files/${index}.pdf`),
    conversations: several(2, (index) => `conversations/${index}.html`),
    candidates: random() < 0.3 ? undefined : several(3, () => ({ table: "t", key: text("key"), column: "c" })),
    limits: ["one limit", text("limit")]
  }
}

describe("the page of an export about a person", () => {
  it.each(seeds)("says who is meant, what is held and where was looked: %i", (seed) => {
    const page = drawnPage(seed)
    const html = pageOf(page)
    assert.deepStrictEqual(linesOf(html, "h1"), [page.title])
    assert.include(exactText(html), `about this person, as of ${page.asOf}.`)
    assert.deepStrictEqual(linesOf(sectionOf(html, "Person")!, "p"), [
      ...page.contacts.map(({ deletedAt, emails, id, location, name, phones }) =>
        [
          `${name ?? "Without a name"} , contact ${id} of place of ${location}${deletedAt === null ? "" : `, deleted on ${deletedAt}`}.`,
          ...(emails.length > 0 ? [`Email: ${emails.join(", ")}.`] : []),
          ...(phones.length > 0 ? [`Phone: ${phones.join(", ")}.`] : [])
        ].join(" ")
      ),
      ...(page.contacts.length === 0 ? ["No contact; known by an address."] : []),
      `Searched for: ${page.addresses.length === 0 ? "the contact's id" : page.addresses.join(", ")}.`
    ])
    const others = [
      [page.conversations.length, "conversation", "conversations"],
      [page.files.length, "file", "files"],
      [page.links.length, "link to a file", "links to files"]
    ] as const
    const also = others.filter(([count]) => count > 0).map(([count, one, many]) => counted(count, one, many))
    const [held] = linesOf(sectionOf(html, "What is held")!, "p")
    assert.strictEqual(
      held,
      `${page.held}${also.length === 0 ? "" : `; ${also.join(", ")}, under Conversations and files `}.`
    )
    assert.deepStrictEqual(
      rowsOf(html, "held").map(([table, rows, what]) => [table, numberIn(rows!), what]),
      page.tables.map(({ description, name, rows }) => [name, rows, description])
    )
    const looked = sectionOf(html, "Where was looked")!
    assert.deepStrictEqual(
      rowsOf(looked.replaceAll(/<time datetime="([^"]*)"[^>]*>.*?<\/time>/gs, "$1"), "looked"),
      page.coverage.map(({ completeAt, finding, mentions, resource }) => [
        resource,
        `${finding}${mentions === 0 ? "" : `; ${mentions} more of other contacts contain an address of the person`}`,
        completeAt ?? "never"
      ])
    )
    const said = /may be about the person: (\d+)\./.exec(textOf(looked))?.[1]
    assert.strictEqual(said, page.candidates === undefined ? undefined : String(page.candidates.length))
    assert.deepStrictEqual(linesOf(sectionOf(html, "What this cannot contain")!, "li"), page.limits)
  })

  it.each(seeds)("shows the rows of each table with their descriptions, and leads to each file: %i", (seed) => {
    const page = drawnPage(seed)
    const html = pageOf(page)
    for (const { columns, description, name, rows, shown } of page.tables) {
      const section = sectionOf(html, name)!
      assert.include(html, `<section id="${name}">`)
      assert.deepStrictEqual(linesOf(section, "p"), [
        `${description} ${rows > shown.length ? `The first ${shown.length} of ${rows}; the files have all. ` : ""}JSON , CSV`
      ])
      assert.deepStrictEqual(
        Array.from(section.matchAll(/href="([^"]*)"/g), ([, to]) => to),
        [`data/${name}.json`, `data/${name}.csv`]
      )
      assert.strictEqual(/<details[^>]*\bopen\b/.test(section), shown.length <= 5)
      assert.deepStrictEqual(linesOf(section, "summary"), [counted(shown.length, "row")])
      assert.deepStrictEqual(
        linesOf(section, "dt"),
        shown.flatMap((row) => Object.keys(row))
      )
      assert.deepStrictEqual(
        Array.from(section.matchAll(/<dt title="([^"]*)"/g), ([, title]) => textOf(title!)),
        shown.flatMap((row) => Object.keys(row).map((column) => columns.get(column)!.description))
      )
      assert.deepStrictEqual(
        linesOf(section, "dd"),
        shown.flatMap((row) => Object.values(row).map((value) => value ?? ""))
      )
      assert.lengthOf(exactTimes(section), shown.filter(({ at }) => at !== null).length)
    }
    const files = sectionOf(html, "Conversations and files")
    const paths = [...page.conversations, ...page.files]
    assert.strictEqual(files !== undefined, paths.length + page.links.length > 0)
    assert.deepStrictEqual(linesOf(files ?? "", "li"), [
      ...paths,
      ...page.links.map(({ table, url }) => `${table}: ${url}`)
    ])
    assert.deepStrictEqual(
      Array.from((files ?? "").matchAll(/href="([^"]*)"/g), ([, to]) => to),
      paths
    )
  })
})

it.each(seeds)("a conversation to read has each message with who, when and what: %i", (seed) => {
  const { below, instant, orNull, several, text } = drawing(seed)
  const message = (id: number) => ({
    location: "north",
    conversation: "c",
    id: `m${id}`,
    type: orNull(text("type")),
    direction: orNull(text("direction")),
    at: orNull(instant()),
    subject: orNull(text("subject")),
    body: orNull(text("body")),
    from: orNull(text("from")),
    to: orNull(text("to")),
    user: orNull(text("user")),
    seconds: orNull(below(90)),
    contactName: orNull(text("contact")),
    email: orNull(text("email")),
    phone: orNull(text("phone")),
    recording: orNull({ file: `${id}.mp3`, name: null }) ?? undefined,
    attachments: several(2, (index) => ({ file: `${id}-${index}.pdf`, name: orNull(text("attached")) })),
    transcript: several(2, (index) => ({ message: `m${id}`, channel: index, text: text("said") }))
  })
  const messages = [message(0), ...Array.from({ length: below(3) }, (_, index) => message(index + 1))] as const
  const html = threadOf({ id: "c", location: "north", messages: [...messages] as never })
  const [first] = messages
  const title = `Conversation with ${first.contactName ?? first.email ?? first.phone ?? "a contact"}`
  assert.deepStrictEqual([linesOf(html, "h1"), linesOf(html, "title")], [[title], [title]])
  const articles = Array.from(html.matchAll(/<article>(.*?)<\/article>/gs), ([, content]) => content!)
  assert.deepStrictEqual(
    articles.map((one) => ({ head: linesOf(one, "header"), lines: linesOf(one, "p") })),
    messages.map(
      ({ at, attachments, body, direction, from, recording, seconds, subject, to, transcript, type, user }) => ({
        head: [
          `${at ?? "without a time"}, ${direction ?? ""} ${type ?? ""}${user === null ? "" : `, ${user}`}${from === null ? "" : `, from ${from}`}${to === null ? "" : ` to ${to}`}`
            .replaceAll(/\s+/g, " ")
            .trim()
        ],
        lines: [
          ...(subject === null ? [] : [subject]),
          ...(body === null ? [] : [body]),
          ...(recording === undefined ? [] : [`Recording${seconds === null ? "" : ` , ${seconds} s`}`]),
          ...attachments.map(({ file, name }) => name ?? file),
          ...transcript.map((one) => `Channel ${one.channel}: ${one.text}`)
        ]
      })
    )
  )
  assert.deepStrictEqual(
    articles.map((one) => Array.from(one.matchAll(/href="([^"]*)"/g), ([, to]) => to)),
    messages.map(({ attachments, recording }) =>
      [...(recording === undefined ? [] : [recording]), ...attachments].map(({ file }) => `../files/${file}`)
    )
  )
})
