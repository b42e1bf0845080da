/** Names of sheets: at most 31 characters, each once whatever its case, without the characters that Excel reserves. */

const lengthMax = 31

/** Names that the workbook, or Excel, uses itself. */
const reserved = ["about", "history"]

export const sheetNames = (tables: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set(reserved)
  return tables.map((table) => {
    const plain = table.replaceAll(/[[\]:*?/\\]/g, "_").replaceAll(/^'|'$/g, "_") || "Sheet"
    for (let number = 1; ; number++) {
      const suffix = number === 1 ? "" : ` (${number})`
      const name = plain.slice(0, lengthMax - suffix.length).toWellFormed() + suffix
      if (taken.has(name.toLowerCase())) continue
      taken.add(name.toLowerCase())
      return name
    }
  })
}
