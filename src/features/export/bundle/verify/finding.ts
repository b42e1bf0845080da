/** What the check of a bundle finds. Both levels fail it: only a bundle of which everything was compared is intact. */
import type { Finding } from "../../../../values/finding.ts"

export type BundleFinding = Finding<"wrong" | "notCompared">

/** Names in a bundle of others may contain line breaks and control characters. */
export const shown = (text: string): string => {
  const quoted = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text).slice(1, -1)
  return quoted.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
