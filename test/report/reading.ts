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
