import type { Collection, Data } from "../account/collection.ts"
import { malformed, notFound } from "../http/errors.ts"
import type { Service } from "../service.ts"
import { type Files, contentIn, current, digestIn, showLinks, storedForm } from "./files.ts"
import { linkAt, pathOf, storedOrigin } from "./links.ts"
import { linkedCollections } from "./places.ts"
import { type Trouble, troubleNames, troubles } from "./troubles.ts"
import { announcedType } from "./validators.ts"

/** Each link of each record that can be read, and what a client is expected to have of it, one per line. */
export function* linkLines(service: Service): Generator<string> {
  const files = filesOf(service)
  for (const name of linkedCollections) {
    const collection = service.world[name as keyof Service["world"]] as Collection
    for (const row of collection.live()) {
      const texts = [collection.full(row), collection.list(row)]
      // The list of email templates has a shape of its own.
      if (name === "emailTemplates") texts.push(JSON.stringify(collection.data(row)))
      for (const [place, link] of linksIn(texts, files)) {
        yield `${JSON.stringify({ collection: name, record: row.id, place, ...truthOf(link, files) })}\n`
      }
    }
  }
}

/** The links in the texts of a record, by place: the names of members, with `[]` for items and `{}` for ids. */
const linksIn = (texts: ReadonlyArray<string>, files: Files): ReadonlyArray<readonly [place: string, link: string]> => {
  const found = new Map<string, readonly [string, string]>()
  for (const text of new Set(texts)) {
    const walk = (value: unknown, place: string): void => {
      const stored = storedForm(value, files)
      if (stored !== undefined) found.set(`${place} ${stored}`, [place, stored])
      else if (Array.isArray(value)) value.forEach((item) => walk(item, `${place}[]`))
      else if (typeof value === "object" && value !== null) {
        for (const [name, member] of Object.entries(value)) {
          walk(member, place === "" ? name : `${place}.${isId.test(name) ? "{}" : name}`)
        }
      }
    }
    walk(JSON.parse(text), "")
  }
  return [...found.values()]
}

/** The id of a custom field, or that of a file. */
const isId = /^([A-Za-z0-9]{20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

const truthOf = (stored: string, files: Files): Data => {
  const found = linkAt(stored.slice(storedOrigin.length))
  if (found === undefined) return { url: stored, expected: "failed" }
  const link = current(found, files)
  const content = contentIn(files, link)!
  const expected = troubles[link.trouble]
  const shared = { url: showLinks(stored, true, files), path: pathOf(found), expected, trouble: link.trouble }
  if (expected !== "fetched") return { ...shared, sha256: null, bytes: null, contentType: null, content: null }
  return {
    ...shared,
    sha256: digestIn(files, content),
    bytes: content.bytes,
    contentType: content.type,
    sentType: announcedType(link, content),
    content: content.number
  }
}

/** Sets the trouble or the content of the link with a path, as if its file had changed. */
export const changeLink = (body: Data, service: Service): Data => {
  const files = filesOf(service)
  const { content, path, trouble } = body
  if (typeof path !== "string" || linkAt(path) === undefined) throw malformed("path must be that of a link")
  if (trouble !== undefined && !troubleNames.includes(trouble as Trouble)) {
    throw malformed(`trouble must be one of: ${troubleNames.join(", ")}`)
  }
  if (content !== undefined && !(Number.isInteger(content) && Number(content) < files.settings.fileContents)) {
    throw malformed("content must be the number of a content")
  }
  files.changes.set(path, {
    ...files.changes.get(path),
    ...(trouble !== undefined && { trouble: trouble as Trouble }),
    ...(content !== undefined && { content: Number(content) })
  })
  files.seen.delete(path)
  return { changed: path }
}

export const filesOf = ({ files }: Service): Files => {
  if (files === undefined) throw notFound("The account has no files; start it with --files")
  return files
}
