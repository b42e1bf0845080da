import { createHash } from "node:crypto"
import { type IncomingHttpHeaders, request } from "node:http"
import type { Client, Json } from "./client.ts"

export interface LinkRow {
  readonly collection: string
  readonly record: string
  readonly place: string
  readonly url: string
  readonly path: string
  readonly expected: string
  readonly trouble: string
  readonly sha256: string | null
  readonly bytes: number | null
  readonly contentType: string | null
  readonly sentType?: string
  readonly content: number | null
}

/** The links of the account, from the control address. */
export const linksOf = async (client: Pick<Client, "fetch">): Promise<ReadonlyArray<LinkRow>> => {
  const text = await (await client.fetch("/__sandbox/files")).text()
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LinkRow)
}

export const statsOf = async (client: Pick<Client, "fetch">): Promise<Json> =>
  (await (await client.fetch("/__sandbox/files/stats")).json()) as Json

export interface RawResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Whether the body was as long as its header said. */
  readonly isWhole: boolean
}

/** One request without redirects and decompression. Stops reading after `bytesMax`. */
export const raw = (
  url: string,
  headers: Record<string, string> = {},
  { bytesMax = Infinity, method = "GET" } = {}
): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const parts: Array<Buffer> = []
      let bytes = 0
      const end = (): void =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
          isWhole: response.complete
        })
      response.on("data", (part: Buffer) => {
        parts.push(part)
        bytes += part.length
        if (bytes > bytesMax) sent.destroy()
      })
      response.on("end", end)
      response.on("error", end)
    })
    sent.on("error", reject)
    sent.end()
  })

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")
