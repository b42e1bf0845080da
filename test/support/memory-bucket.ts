/** A bucket in memory, as far as objects are listed, read, written and removed. */
import type { Answer, Requests } from "../../src/stores/objects/bucket.ts"
import { createHash } from "node:crypto"

interface Kept {
  readonly name: string
  readonly id: string
  /** `undefined`: it only says that the object was removed. */
  readonly body: Buffer | undefined
}

interface MemoryBucket {
  readonly requests: Requests
  /** What the bucket has, markers of removals left out. */
  readonly versions: () => ReadonlyArray<{ readonly name: string; readonly isLatest: boolean; readonly text: string }>
  /** So many more requests are answered, and no other one after them. */
  readonly stopAfter: (requests: number) => void
}

interface MemoryBucketOptions {
  readonly keepsVersions: boolean
  /** How many versions one answer lists. */
  readonly pageSize: number
  /** It is forbidden to read them. */
  readonly hidesVersions?: boolean
}

const prefix = "a folder/"

export const memoryBucket = ({ hidesVersions, keepsVersions, pageSize }: MemoryBucketOptions): MemoryBucket => {
  /** The oldest first. */
  let kept: Array<Kept> = []
  let written = 0
  let left = Number.POSITIVE_INFINITY
  const latestOf = (name: string) => kept.findLast((one) => one.name === name)
  const add = (name: string, body: Buffer | undefined) => {
    if (!keepsVersions) kept = kept.filter((one) => one.name !== name)
    if (keepsVersions || body !== undefined) kept.push({ name, body, id: keepsVersions ? `v${++written}` : "null" })
  }
  const listed = (from: string): string => {
    // A service lists by name, the newest version of each first.
    const all = kept.toReversed().toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
    const start = from === "" ? 0 : all.findIndex(({ id, name }) => `${prefix}${name} ${id}` === from) + 1
    const page = all.slice(start, start + pageSize)
    const elements = page.map((one) => {
      const element = one.body === undefined ? "DeleteMarker" : "Version"
      const isLatest = latestOf(one.name) === one
      return `<${element}><Key>${prefix}${one.name}</Key><VersionId>${one.id}</VersionId><IsLatest>${isLatest}</IsLatest></${element}>`
    })
    const last = page.at(-1)
    const next =
      last === undefined || start + pageSize >= all.length
        ? "<IsTruncated>false</IsTruncated>"
        : `<IsTruncated>true</IsTruncated><NextKeyMarker>${prefix}${last.name}</NextKeyMarker><NextVersionIdMarker>${last.id}</NextVersionIdMarker>`
    return `<ListVersionsResult>${next}${elements.join("")}</ListVersionsResult>`
  }
  const answer = (status: number, body: string | Buffer = "", headers: Record<string, string> = {}): Answer => ({
    status,
    headers: new Headers(headers),
    body: Buffer.from(body)
  })
  const send: Requests["send"] = async (method, name, { body, query = {} } = {}) => {
    if (left-- <= 0) throw new Error("stopped")
    if (name === "") {
      const { "key-marker": key, "version-id-marker": id } = query
      return answer(200, listed(key === undefined ? "" : `${key} ${id}`))
    }
    const { versionId } = query
    const found =
      versionId === undefined ? latestOf(name) : kept.find((one) => one.name === name && one.id === versionId)
    if (method === "GET" && versionId !== undefined && hidesVersions === true) return answer(403)
    if (method === "PUT") add(name, Buffer.from(body!))
    else if (method === "DELETE" && versionId === undefined) add(name, undefined)
    else if (method === "DELETE") kept = kept.filter((one) => one !== found)
    else if (found?.body === undefined) return answer(404)
    else {
      const sum = createHash("sha256").update(found.body).digest("base64")
      const headers = { "content-length": String(found.body.length), "x-amz-checksum-sha256": sum }
      return answer(200, method === "GET" ? found.body : "", headers)
    }
    return answer(200)
  }
  return {
    requests: { place: "s3://b/a folder", bucket: "b", prefix, send },
    versions: () =>
      kept.flatMap((one) =>
        one.body === undefined
          ? []
          : [{ name: one.name, isLatest: latestOf(one.name) === one, text: one.body.toString("utf8") }]
      ),
    stopAfter: (requests) => {
      left = requests
    }
  }
}
