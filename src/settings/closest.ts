/** The end of a sentence about an unknown name: the most similar name, or a full stop. */
export const suggestion = (similar: string | undefined): string =>
  similar === undefined ? "." : `; did you mean ${similar}?`

/** The name that is most similar to a misspelt one, if any is similar. */
export const closest = (written: string, names: Iterable<string>): string | undefined => {
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const name of names) {
    const distance = editDistance(written, name)
    if (distance <= Math.max(2, name.length / 4) && distance < (best?.distance ?? Infinity)) best = { name, distance }
  }
  return best?.name
}

/** The number of letters to insert, remove or replace (Levenshtein). */
const editDistance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (let column = 1; column <= other.length; column++)
      next.push(
        Math.min(next[column - 1]! + 1, row[column]! + 1, row[column - 1]! + (other[column - 1] === letter ? 0 : 1))
      )
    row = next
  }
  return row.at(-1)!
}
