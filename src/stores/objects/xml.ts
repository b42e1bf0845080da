/** Reads the few answers of XML that buckets give. */

/** The texts of the elements with this name, in order. */
export const elements = (xml: string, name: string): ReadonlyArray<string> =>
  Array.from(xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g")), ([, text]) =>
    text!.replaceAll(/&(lt|gt|quot|apos|amp|#(\d+));/g, (_, entity: string, number?: string) =>
      number ? String.fromCodePoint(Number(number)) : entities[entity]!
    )
  )
const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" }
