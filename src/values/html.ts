/** HTML as a value. Every text that is inserted is escaped, because names in an account may contain tags. */

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | undefined | ReadonlyArray<Content>

/** The tag of a template: escapes each text in it. Html stays as it is, and `undefined` inserts nothing. */
export const html = (parts: TemplateStringsArray, ...contents: ReadonlyArray<Content>): Html =>
  new Html(parts.map((part, index) => part.replaceAll(indentation, "\n") + rendered(contents[index])).join(""))

/** Of the source, which would be a third of the file. */
const indentation = /\n\s+/g

const rendered = (content: Content): string => {
  if (content === undefined) return ""
  if (content instanceof Html) return content.text
  return typeof content === "object" ? content.map(rendered).join("") : escaped(String(content))
}

const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?/g, "\n")
    // Control characters are not allowed in HTML; those that change the direction of text could hide or reorder it.
    .replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
