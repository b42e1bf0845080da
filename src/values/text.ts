/** Figures and lists as messages show them. */

export const number = (value: number): string => Math.round(value).toLocaleString("en-US")
export const percent = (share: number): string => `${Number((100 * share).toFixed(2))} %`
export const megabytes = (bytes: number): string => `${number(bytes / 1_000_000)} MB`
export const hours = (milliseconds: number): string => `${number(milliseconds / 3_600_000)} hours`
export const withoutStop = (text: string): string => text.replace(/\.$/, "")

/** The first five on one line, shortened, and how many more there are. */
export const some = (texts: ReadonlyArray<string>): string =>
  `${texts
    .slice(0, 5)
    .map((text) => text.replaceAll(/\s+/g, " ").slice(0, 80))
    .join(", ")}${texts.length > 5 ? `, and ${texts.length - 5} more` : ""}`
