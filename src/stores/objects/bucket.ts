/** A bucket of a service with the interface of S3, and the requests to it. An outage of seconds is waited out. */
import * as Redacted from "effect/Redacted"
import { hash } from "node:crypto"
import { throughProxy } from "../../network/proxy.ts"
import { codeOf } from "../../values/thrown.ts"

export interface Bucket {
  /** `s3://bucket/prefix` */
  readonly place: string
  /** Without a key and its secret, they are looked for as the service's own programs do. */
  readonly key: Redacted.Redacted | undefined
  readonly secret: Redacted.Redacted | undefined
  readonly region: string
  readonly endpoint: string | undefined
  /** `AES256`, `aws:kms` or `aws:kms:KEY`: what every request that makes an object says. */
  readonly encryption?: string | undefined
}

export interface Requests {
  /** Of the prefix: `s3://bucket/prefix`. */
  readonly place: string
  /** The name of the bucket, and the prefix with a slash at its end, if there is one. */
  readonly bucket: string
  readonly prefix: string
  /** `name`: of the object, below the prefix; the empty name is the bucket itself. Rejects with the status and the place. */
  readonly send: (method: string, name: string, request?: BucketRequest) => Promise<Answer>
}

export interface BucketRequest {
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  /** Statuses that are answers and no errors, besides those of success. */
  readonly accept?: ReadonlyArray<number>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

export class BucketError extends Error {
  /** The code of the service, such as `AccessDenied`; empty if there was no answer. */
  readonly code: string
  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

/** What makes an object says how it is encrypted: not its parts, which are as what began it. */
const encryptionHeaders = (encryption: string | undefined, method: string, { searchParams }: URL) => {
  const [, kind, key] = /^(AES256|aws:kms)(?::(.+))?$/.exec(encryption ?? "") ?? []
  const makes =
    (method === "PUT" && !searchParams.has("partNumber")) || (method === "POST" && searchParams.has("uploads"))
  if (kind === undefined || !makes) return {}
  const header = "x-amz-server-side-encryption"
  return { [header]: kind, ...(key !== undefined && { [`${header}-aws-kms-key-id`]: key }) }
}

const firstWaitMs = 200
const lastWaitMs = 5000
const requestMs = 60_000
/** A request with a body may take longer: this many bytes a millisecond are slow. */
const slowestBytesPerMs = 100

export interface OpenOptions {
  /** How long a request is repeated. */
  readonly outageMsMax: number
  readonly signal?: AbortSignal
}

export const openBucket = async (
  { encryption, endpoint, key, place, region, secret }: Bucket,
  { outageMsMax, signal }: OpenOptions
): Promise<Requests> => {
  const { AwsClient } = await import("aws4fetch")
  const credentials = await credentialsOf(key, secret)
  const cache = new Map<string, ArrayBuffer>()
  const [, bucket = "", folder = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(place) ?? []
  const prefix = folder === "" ? "" : `${folder}/`
  const root = rootOf(bucket, region, endpoint)

  const attempt = async (method: string, url: URL, { body, headers }: BucketRequest): Promise<Answer> => {
    const client = new AwsClient({ ...(await credentials()), region, service: "s3", retries: 0, cache })
    const limit = AbortSignal.timeout(requestMs + Math.ceil((body?.length ?? 0) / slowestBytesPerMs))
    const answer = await client.fetch(url.href, {
      method,
      headers: {
        ...headers,
        ...encryptionHeaders(encryption, method, url),
        "x-amz-content-sha256": hash("sha256", body ?? "")
      },
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      ...(body !== undefined && { body })
    })
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
  }

  const send: Requests["send"] = async (method, name, request = {}) => {
    const path = name === "" ? "" : keyPath(prefix + name)
    const url = new URL(path === "" ? root : `${root}/${path}`)
    // An address has no `..`: it would be that of another object.
    if (!url.pathname.endsWith(path))
      throw new BucketError(`${JSON.stringify(prefix + name)} is the name of no object`, "")
    url.search = Object.entries(request.query ?? {})
      .map((pair) => pair.map(encoded).join("="))
      .join("&")
    const what = `${method} ${name === "" ? `s3://${bucket}` : `s3://${bucket}/${prefix}${name}`}`
    const until = Date.now() + outageMsMax
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, lastWaitMs)) {
      const answer = await attempt(method, url, request).catch((cause: Error) => cause)
      if (signal?.aborted) throw new BucketError(`${what} was stopped`, "")
      let error: BucketError
      if (answer instanceof Error) {
        const { message } = answer.cause instanceof Error ? answer.cause : answer
        // What is not of the network, such as missing credentials, does not pass.
        error = new BucketError(`${what}: ${message || String(codeOf(answer.cause))}${throughProxy(url.href)}`, "")
        if (!/^(TypeError|TimeoutError|AbortError)$/.test(answer.name)) throw error
      } else {
        const code = serviceCodeOf(method, answer)
        const isAccepted = request.accept?.includes(answer.status) ?? false
        if (isAccepted || (answer.status < 300 && code === undefined)) return answer
        error = new BucketError(`${what} answered ${answer.status} ${code ?? ""}${hintOf(answer)}`.trim(), code ?? "")
        if (!isTemporary(answer.status, code)) throw error
      }
      if (Date.now() + waitMs > until) throw error
      await new Promise((resolve) => setTimeout(resolve, waitMs * (0.75 + Math.random() / 2)))
    }
  }
  return { place: `s3://${bucket}/${prefix}`.replace(/\/$/, ""), bucket, prefix, send }
}

const rootOf = (bucket: string, region: string, endpoint: string | undefined): string => {
  if (endpoint !== undefined) {
    const { origin, pathname } = new URL(endpoint)
    return `${origin}${pathname.replace(/\/$/, "")}/${bucket}`
  }
  // A certificate for names below a domain has no second dot.
  return bucket.includes(".")
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`
}

export const keyPath = (key: string): string => encoded(key).replaceAll("%2F", "/")

/** Services compute the signature of the address as it is here, so nothing of it may be written in two ways. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * Without a key of the settings: the variables `AWS_…`, the profile of `~/.aws`, a role of the container or the machine. The
 * package renews those that expire.
 */
const credentialsOf = async (key: Redacted.Redacted | undefined, secret: Redacted.Redacted | undefined) => {
  if (key !== undefined && secret !== undefined) {
    const fixed = { accessKeyId: Redacted.value(key), secretAccessKey: Redacted.value(secret) }
    return async () => fixed
  }
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node")
  const provide = defaultProvider()
  return async () => {
    const { accessKeyId, secretAccessKey, sessionToken } = await provide()
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
  }
}

/** The code of an error. A copy and the end of an upload in parts may report one with status 200. */
const serviceCodeOf = (method: string, { body, status }: Answer): string | undefined => {
  if (status < 300 && (method === "GET" || method === "HEAD")) return undefined
  const text = body.length > 10_000 ? "" : body.toString("utf8")
  return /<Error>/.test(text) ? (/<Code>(.*?)<\/Code>/.exec(text)?.[1] ?? "") : undefined
}

const hintOf = ({ headers, status }: Answer): string => {
  const region = headers.get("x-amz-bucket-region")
  return region !== null && (status === 301 || status === 400 || status === 307)
    ? `; the bucket is in the region ${region}`
    : ""
}

const isTemporary = (status: number, code: string | undefined): boolean =>
  (status >= 500 && status !== 501) ||
  status === 408 ||
  status === 429 ||
  /^(RequestTimeout|InternalError|SlowDown|ServiceUnavailable|OperationAborted|XAmzContentSHA256Mismatch|BadDigest)$/.test(
    code ?? ""
  )
