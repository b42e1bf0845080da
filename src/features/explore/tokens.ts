/**
 * The words and signs of a SQL text. They only propose where a text can be cut: what is run is a text that DuckDB's own
 * parser has taken for one SELECT.
 */
export interface Token {
  readonly text: string
  readonly from: number
  readonly to: number
  /** In how many parentheses it is. */
  readonly depth: number
}

const pattern =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|[\p{L}_][\p{L}\p{N}_]*|[\d.]+|\S/gu

/** Without comments; quoted texts and names are one token each. */
export const tokensOf = (sql: string): ReadonlyArray<Token> => {
  let depth = 0
  return Array.from(sql.matchAll(pattern)).flatMap(({ 0: text, index }) => {
    if (text.startsWith("--") || text.startsWith("/*")) return []
    if (/^[)\]}]$/.test(text)) depth--
    const token = { text, from: index, to: index + text.length, depth }
    if (/^[([{]$/.test(text)) depth++
    return [token]
  })
}

/** The outermost words of a text, in lower case, are compared with these. */
export const isWord = ({ text, depth }: Token, ...words: ReadonlyArray<string>): boolean =>
  depth === 0 && words.includes(text.toLowerCase())
