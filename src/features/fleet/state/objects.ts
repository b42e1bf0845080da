/** Objects in a bucket of a service with the interface of S3. An outage of seconds is waited out. */
import * as Redacted from "effect/Redacted"
import type { AwsClient } from "aws4fetch"
import type { Bucket } from "../../../settings/fleet.ts"

export interface Objects {
  /** Undefined if there is none. */
  readonly get: (name: string) => Promise<Buffer | undefined>
  readonly put: (name: string, content: Uint8Array<ArrayBuffer>) => Promise<void>
  readonly remove: (name: string) => Promise<void>
}

const firstWaitMs = 200
const lastWaitMs = 5000
const outageMsMax = 60_000
const requestMsMax = 60_000

export const openBucket = async ({ endpoint, key, place, region, secret }: Bucket): Promise<Objects> => {
  const { AwsClient } = await import("aws4fetch")
  const client = new AwsClient({
    accessKeyId: Redacted.value(key),
    secretAccessKey: Redacted.value(secret),
    region,
    service: "s3",
    retries: 0
  })
  const [, bucket, prefix = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(place)!
  const root =
    endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint.replace(/\/$/, "")}/${bucket}`
  const urlOf = (name: string) => `${root}/${prefix === "" ? "" : `${prefix}/`}${name}`
  return {
    get: async (name) => {
      const response = await send(client, "GET", urlOf(name))
      return response.status === 404 ? undefined : Buffer.from(await response.arrayBuffer())
    },
    put: async (name, content) => void (await send(client, "PUT", urlOf(name), content)),
    remove: async (name) => void (await send(client, "DELETE", urlOf(name)))
  }
}

/** Rejects with the status, or the error of the system, and the name of the object. */
const send = async (
  client: AwsClient,
  method: string,
  url: string,
  body?: Uint8Array<ArrayBuffer>
): Promise<Response> => {
  const until = Date.now() + outageMsMax
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, lastWaitMs)) {
    const answer = await client
      .fetch(url, { method, signal: AbortSignal.timeout(requestMsMax), ...(body !== undefined && { body }) })
      .catch((cause: Error) => cause)
    if (!(answer instanceof Error)) {
      if (answer.ok || (answer.status === 404 && method !== "PUT")) return answer
      const text = await answer.text()
      if (answer.status < 500 && answer.status !== 429)
        throw new Error(`${method} ${url} answered ${answer.status}: ${/<Code>(.*?)<\/Code>/.exec(text)?.[1] ?? ""}`)
    }
    if (Date.now() + waitMs > until)
      throw new Error(
        `${method} ${url}: ${answer instanceof Error ? ((answer.cause as Error | undefined)?.message ?? answer.message) : answer.status}`
      )
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
