/** What the check of a bundle found. Both levels fail it: only a bundle of which everything was compared is intact. */

export interface BundleFinding {
  readonly level: "wrong" | "notCompared"
  /** A file, a line of it, or a table. */
  readonly where: string
  readonly what: string
}

export const wrong = (where: string, what: string): BundleFinding => ({ level: "wrong", where, what })
export const notCompared = (where: string, what: string): BundleFinding => ({ level: "notCompared", where, what })

/** Names in a bundle of others may contain line breaks and control characters. */
export const shown = (text: string): string => {
  const quoted = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text).slice(1, -1)
  return quoted.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
