/** Lists of names in a sentence. */
import { count } from "./format.ts"

/** `A`, `A and B`, `A, B and 38 others`. */
export const listed = (names: ReadonlyArray<string>, shown = 3): string => {
  const parts =
    names.length > shown ? [...names.slice(0, shown - 1), `${count(names.length - shown + 1)} others`] : names
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}
