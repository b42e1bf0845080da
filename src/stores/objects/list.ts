/** Lists what a bucket has. */
import type { Requests } from "./bucket.ts"

export interface Version {
  /** Below the prefix. */
  readonly name: string
  readonly id: string
  readonly isLatest: boolean
}

/**
 * All objects below the prefix, with their earlier versions, and without those that only say that something was removed.
 * `undefined` if the service does not permit to list versions; one that keeps none has the latest.
 */
export const listVersions = async (requests: Requests): Promise<ReadonlyArray<Version> | undefined> => {
  const { prefix, send } = requests
  const found: Array<Version> = []
  let markers: Readonly<Record<string, string>> = {}
  for (;;) {
    const { body, status } = await send("GET", "", {
      query: { versions: "", prefix, ...markers },
      accept: [403, 405, 501]
    })
    if (status === 403) return undefined
    if (status >= 400) {
      const latest = await listObjects(requests)
      return latest && Array.from(latest.keys(), (name) => ({ name, id: "", isLatest: true }))
    }
    const text = body.toString("utf8")
    for (const [, version] of text.matchAll(/<Version>(.*?)<\/Version>/gs))
      found.push({
        name: one(version!, "Key").slice(prefix.length),
        id: one(version!, "VersionId"),
        isLatest: one(version!, "IsLatest") === "true"
      })
    if (one(text, "IsTruncated") !== "true") return found
    markers = {
      "key-marker": one(text, "NextKeyMarker"),
      "version-id-marker": one(text, "NextVersionIdMarker")
    }
  }
}

/** The bytes of all objects below the prefix, by name, a request for each 1,000. `undefined` if they may not be listed. */
export const listObjects = async ({ prefix, send }: Requests): Promise<ReadonlyMap<string, number> | undefined> => {
  const found = new Map<string, number>()
  let token: Readonly<Record<string, string>> = {}
  for (;;) {
    const { body, status } = await send("GET", "", { query: { "list-type": "2", prefix, ...token }, accept: [403] })
    if (status === 403) return undefined
    const text = body.toString("utf8")
    for (const [, object] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs))
      found.set(one(object!, "Key").slice(prefix.length), Number(one(object!, "Size")))
    if (one(text, "IsTruncated") !== "true") return found
    token = { "continuation-token": one(text, "NextContinuationToken") }
  }
}

const one = (xml: string, name: string): string => elements(xml, name)[0] ?? ""

/** The texts of the elements with this name, in order. */
export const elements = (xml: string, name: string): ReadonlyArray<string> =>
  Array.from(xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g")), ([, text]) =>
    text!.replaceAll(/&(lt|gt|quot|apos|amp|#(\d+));/g, (_, entity: string, number?: string) =>
      number ? String.fromCodePoint(Number(number)) : entities[entity]!
    )
  )
const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" }
