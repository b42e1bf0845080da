/** Reads a report as its readers see it: texts and tables. */

/** The text of an HTML fragment, with white space as a browser shows it. */
export const textOf = (html: string): string =>
  html
    .replaceAll(/<(style|script)\b.*?<\/\1>/gs, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, " ")
    .trim()

/** The cells of a table and of its folded rest, by row; without the head, and with the headings of groups. */
export const rowsOf = (html: string, id: string): ReadonlyArray<ReadonlyArray<string>> =>
  [id, `${id}-more`].flatMap((one) => {
    const [, table] = new RegExp(`<table id="${one}"[^>]*>(.*?)</table>`, "s").exec(html) ?? []
    const [, body = ""] = /<tbody>(.*)<\/tbody>/s.exec(table ?? "") ?? []
    return Array.from(body.matchAll(/<tr\b[^>]*>(.*?)<\/tr>/gs), ([, row]) =>
      Array.from(row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs), ([, cell]) => textOf(cell!))
    )
  })

/** `1,234` and `−5` as numbers. */
export const numberIn = (text: string): number => Number(text.replaceAll(",", "").replace("−", "-"))

export const tile = (html: string, id: string): string =>
  new RegExp(`id="tile-${id}">([^<]*)<`).exec(html)?.[1] ?? "no tile"

/** A number that leads to its rows, or one in a table that leads nowhere, as the script of the page makes links of them. */
export interface Lead {
  readonly shown: string
  /** Absent if it leads nowhere. */
  readonly sql: string | undefined
  /** The id of the table, if it stands in one. */
  readonly table: string | undefined
  /** The head of the column. */
  readonly head: string | undefined
}

export const leadsOf = (html: string): ReadonlyArray<Lead> => {
  const leads: Array<Lead> = []
  let [around, table, row, column] = ["", "", [] as ReadonlyArray<string | undefined>, 0]
  let heads: Array<{ readonly name: string; readonly and: string | undefined }> = []
  for (const match of html.matchAll(/<(div|table|tr|th|td|strong|b)\b([^>]*)>/g)) {
    const [opened, tag, attributes = ""] = match
    const data = (name: string, of = attributes) => {
      const value = new RegExp(` data-${name}="([^"]*)"`).exec(of)?.[1]
      return value === undefined ? undefined : textOf(value)
    }
    const content = html.slice(match.index + opened.length).split(new RegExp(`</${tag}\\s*>`), 1)[0]!
    const shown = textOf(content)
    if (tag === "div" && data("base") !== undefined) around = data("base")!
    if (tag === "strong" && data("rows") !== undefined)
      leads.push({ shown, sql: data("rows"), table: undefined, head: undefined })
    if (tag === "table") [table, heads] = [/id="([^"]*)"/.exec(attributes)?.[1] ?? "", []]
    if (tag === "tr") [row, column] = [[data("base"), data("and")], 0]
    if (tag === "th" && attributes.includes('scope="col"')) heads.push({ name: shown, and: data("and") })
    if (tag !== "td" && !(tag === "th" && attributes.includes('scope="row"'))) continue
    const head = heads[column++]!
    if (!attributes.includes('class="number"')) continue
    const [base = around, ...conditions] = [...row, head.and]
    const isBehind = row.some((one) => one !== undefined)
    const composed = isBehind ? [base, ...conditions].filter((one) => one !== undefined).join(" AND ") : undefined
    leads.push({ shown, sql: data("rows", content) ?? composed, table, head: head.name })
  }
  return leads
}
