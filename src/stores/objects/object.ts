/** Puts files into a bucket, and finds out whether an object is what it should be. */
import { createHash, hash } from "node:crypto"
import { open } from "node:fs/promises"
import { parse } from "node:path"
import { type Requests, BucketError, keyPath } from "./bucket.ts"
import { elements } from "./list.ts"

/** What is known of the content of an object. */
export interface Content {
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
  /** Hexadecimal; a service that reports no SHA-256 reports this as ETag. */
  readonly md5?: string
  /** Those of an object that was sent in parts, as services report them: in base64, and hexadecimal with their number. */
  readonly ofParts?: { readonly sha256: string; readonly md5: string }
}

/** `unknown`: the service reports nothing but the size, which is right. */
export type Compared = "same" | "other" | "missing" | "unknown"

export const partBytes = 16 * 1024 * 1024
/** A service takes 10,000 parts at most. */
const partsMax = 9000
/** A copy of a larger object has to be made in parts. */
const copyBytesMax = 5 * 1024 ** 3
const copiedPartBytes = 1024 ** 3
const partsTogether = 4

const base64 = (hex: string): string => Buffer.from(hex, "hex").toString("base64")

const checksumHeaders = (sha256: string) => ({
  "x-amz-sdk-checksum-algorithm": "SHA256",
  "x-amz-checksum-sha256": base64(sha256)
})

const headOf = ({ send }: Requests, name: string) =>
  send("HEAD", name, { headers: { "x-amz-checksum-mode": "ENABLED" }, accept: [404] })

/** Compares the object with what is known. */
export const compareObject = async (requests: Requests, name: string, content: Content): Promise<Compared> => {
  const { headers, status } = await headOf(requests, name)
  if (status === 404) return "missing"
  if (Number(headers.get("content-length")) !== content.bytes) return "other"
  const found = headers.get("x-amz-checksum-sha256")
  if (found !== null) {
    const [sum, parts] = found.split("-")
    if (sum === base64(content.sha256) || sum === content.ofParts?.sha256) return "same"
    return parts !== undefined && content.ofParts === undefined ? "unknown" : "other"
  }
  const tag = headers.get("etag")?.replaceAll('"', "") ?? ""
  const expected = /^[0-9a-f]{32}$/.test(tag) ? content.md5 : content.ofParts?.md5
  // The ETag of what is encrypted with a key of its own, or was sent in other parts, says nothing about the content.
  const isEncrypted = headers.get("x-amz-server-side-encryption")?.startsWith("aws:kms") ?? false
  const isComparable = /^[0-9a-f]{32}(-\d+)?$/.test(tag) && expected?.split("-")[1] === tag.split("-")[1]
  if (expected === undefined || !isComparable || isEncrypted) return "unknown"
  return tag === expected ? "same" : "other"
}

/** How a file is sent: its content in parts of this size, each read alone. */
export interface Prepared {
  readonly content: Content
  readonly partBytes: number
  readonly parts: number
  readonly read: (part: number) => Promise<Buffer<ArrayBuffer>>
  readonly close: () => Promise<void>
}

/** Reads the file once for its checksums. */
export const prepareFile = async (path: string, least = partBytes): Promise<Prepared> => {
  const file = await open(path, "r")
  try {
    const { size } = await file.stat()
    const bytesOfPart = Math.max(least, Math.ceil(size / partsMax))
    const parts = Math.max(1, Math.ceil(size / bytesOfPart))
    const read = async (part: number) => {
      const length = Math.min(bytesOfPart, size - part * bytesOfPart)
      const buffer = Buffer.alloc(length)
      let done = 0
      while (done < length) {
        const { bytesRead } = await file.read(buffer, done, length - done, part * bytesOfPart + done)
        if (bytesRead === 0) throw new Error(`${path} has become shorter`)
        done += bytesRead
      }
      return buffer
    }
    const whole = { sha256: createHash("sha256"), md5: createHash("md5") }
    const ofParts = { sha256: createHash("sha256"), md5: createHash("md5") }
    for (let part = 0; part < parts; part++) {
      const content = await read(part)
      for (const algorithm of ["sha256", "md5"] as const) {
        whole[algorithm].update(content)
        ofParts[algorithm].update(hash(algorithm, content, "buffer"))
      }
    }
    const content: Content = {
      bytes: size,
      sha256: whole.sha256.digest("hex"),
      md5: whole.md5.digest("hex"),
      ofParts: {
        sha256: ofParts.sha256.digest("base64"),
        md5: `${ofParts.md5.digest("hex")}-${parts}`
      }
    }
    return { content, partBytes: bytesOfPart, parts, read, close: () => file.close() }
  } catch (cause) {
    await file.close()
    throw cause
  }
}

/** Rejects if the object is another one afterwards. */
export const putFile = async (requests: Requests, name: string, prepared: Prepared): Promise<void> => {
  const { content, parts, read } = prepared
  if (parts === 1) await requests.send("PUT", name, { headers: checksumHeaders(content.sha256), body: await read(0) })
  else
    await inParts(requests, name, parts, async (part, query) => {
      const body = await read(part)
      const { headers } = await requests.send("PUT", name, {
        query,
        headers: checksumHeaders(hash("sha256", body)),
        body
      })
      return { tag: headers.get("etag") ?? "", checksum: headers.get("x-amz-checksum-sha256") ?? undefined }
    })
  await mustBe(requests, name, content)
}

export const putBytes = async (requests: Requests, name: string, text: string): Promise<void> => {
  const body = Buffer.from(text)
  const content = { bytes: body.length, sha256: hash("sha256", body), md5: hash("md5", body) }
  await requests.send("PUT", name, { headers: checksumHeaders(content.sha256), body })
  await mustBe(requests, name, content)
}

/** Copies an object inside the bucket: what reads the new name sees the old content or the new one. */
export const copyObject = async (requests: Requests, from: string, to: string, content: Content): Promise<void> => {
  const source = { "x-amz-copy-source": `/${requests.bucket}/${keyPath(requests.prefix + from)}` }
  if (content.bytes < copyBytesMax) await requests.send("PUT", to, { headers: source })
  else
    await inParts(requests, to, Math.ceil(content.bytes / copiedPartBytes), async (part, query) => {
      const first = part * copiedPartBytes
      const range = `bytes=${first}-${Math.min(first + copiedPartBytes, content.bytes) - 1}`
      const { body } = await requests.send("PUT", to, {
        query,
        headers: { ...source, "x-amz-copy-source-range": range }
      })
      const text = body.toString("utf8")
      return { tag: elements(text, "ETag")[0] ?? "", checksum: elements(text, "ChecksumSHA256")[0] }
    })
  await mustBe(requests, to, content)
}

export const removeObject = async ({ send }: Requests, name: string): Promise<void> =>
  void (await send("DELETE", name, { accept: [404] }))

/**
 * Whether an object has another content than all of these, as far as the service says: somebody else has put it there. `bytes`:
 * its size, if it is known. Without a checksum and a size, nothing shows that it is ours, unless it is named by its content.
 */
export const isForeign = async (
  requests: Requests,
  name: string,
  { bytes, sums }: { readonly bytes: number | undefined; readonly sums: ReadonlySet<string> }
): Promise<boolean> => {
  const { headers, status } = await headOf(requests, name)
  if (status === 404) return false
  const found = headers.get("x-amz-checksum-sha256")
  if (found !== null && !found.includes("-")) return !sums.has(Buffer.from(found, "base64").toString("hex"))
  return bytes === undefined ? !sums.has(parse(name).name) : Number(headers.get("content-length")) !== bytes
}

const mustBe = async (requests: Requests, name: string, content: Content): Promise<void> => {
  const found = await compareObject(requests, name, content)
  if (found === "missing" || found === "other")
    throw new BucketError(
      `${requests.place}/${name} is ${found === "missing" ? "missing" : "another content"} after it was written`,
      ""
    )
}

interface SentPart {
  readonly tag: string
  readonly checksum: string | undefined
}

/** The parts become an object at the end, or are removed. */
const inParts = async (
  requests: Requests,
  name: string,
  parts: number,
  put: (part: number, query: Readonly<Record<string, string>>) => Promise<SentPart>
): Promise<void> => {
  const { send } = requests
  const begun = await send("POST", name, {
    query: { uploads: "" },
    headers: { "x-amz-checksum-algorithm": "SHA256" }
  })
  const uploadId = elements(begun.body.toString("utf8"), "UploadId")[0] ?? ""
  try {
    const sent: Array<SentPart> = []
    let next = 0
    const worker = async () => {
      while (next < parts) {
        const part = next++
        sent[part] = await put(part, { partNumber: String(part + 1), uploadId }).catch((cause) => {
          next = parts
          throw cause
        })
      }
    }
    const ended = await Promise.allSettled(Array.from({ length: Math.min(partsTogether, parts) }, worker))
    for (const one of ended) if (one.status === "rejected") throw one.reason
    const listed = sent.map(
      ({ checksum, tag }, part) =>
        `<Part><PartNumber>${part + 1}</PartNumber><ETag>${tag}</ETag>${checksum ? `<ChecksumSHA256>${checksum}</ChecksumSHA256>` : ""}</Part>`
    )
    const body = Buffer.from(`<CompleteMultipartUpload>${listed.join("")}</CompleteMultipartUpload>`)
    // 404: a repeated request, after the first was carried out. The object is compared in any case.
    await send("POST", name, { query: { uploadId }, body, accept: [404] })
  } finally {
    // An upload is also ended if its beginning was repeated, because the answer was lost.
    await abortUploads(requests, name).catch(() => {})
  }
}

/** Removes the parts of uploads that were interrupted. */
export const abortUploads = async ({ prefix, send }: Requests, name: string): Promise<void> => {
  const { body } = await send("GET", "", { query: { uploads: "", prefix: prefix + name } })
  const text = body.toString("utf8")
  const [keys, ids] = [elements(text, "Key"), elements(text, "UploadId")]
  for (const [index, uploadId] of ids.entries())
    if (keys[index] === prefix + name) await send("DELETE", name, { query: { uploadId }, accept: [404] })
}
