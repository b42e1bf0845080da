import { createHmac } from "node:crypto"

/** How storage hosts sign a link. Each has a time of its own form, and a signature that covers path and time. */
export const signatureStyles = ["amz", "goog", "sas", "keyPair"] as const
export type SignatureStyle = (typeof signatureStyles)[number]

/** How long a signed link is valid. */
export const signedMs = 3_600_000

/** The query of a link that was signed at `now`, in whole seconds. */
export const signedQuery = (style: SignatureStyle, path: string, now: number, secret: string): string => {
  const at = Math.floor(now / 1000) * 1000
  const signature = signatureOf(path, at + signedMs, secret)
  const basic = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "")
  const seconds = signedMs / 1000
  switch (style) {
    case "amz": {
      const scope = encodeURIComponent(`AKIASANDBOX/${basic.slice(0, 8)}/us-east-1/s3/aws4_request`)
      const parts = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${scope}&X-Amz-Date=${basic}`
      return `${parts}&X-Amz-Expires=${seconds}&X-Amz-SignedHeaders=host&X-Amz-Signature=${signature}`
    }
    case "goog": {
      const scope = encodeURIComponent(`files@sandbox.example/${basic.slice(0, 8)}/auto/storage/goog4_request`)
      const parts = `X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=${scope}&X-Goog-Date=${basic}`
      return `${parts}&X-Goog-Expires=${seconds}&X-Goog-SignedHeaders=host&X-Goog-Signature=${signature}`
    }
    case "sas": {
      const until = encodeURIComponent(new Date(at + signedMs).toISOString().replace(/\.\d+/, ""))
      return `sv=2024-11-04&se=${until}&sr=b&sp=r&sig=${signature}`
    }
    case "keyPair":
      return `Expires=${(at + signedMs) / 1000}&Signature=${signature}&Key-Pair-Id=KSANDBOX`
  }
}

/** Whether a link may be read at `now`. */
export const checkSignature = (path: string, query: URLSearchParams, now: number, secret: string): SignatureStatus => {
  const until = expiryOf(query)
  const sent = names.map((name) => query.get(name)).find((value) => value !== null)
  if (until === undefined || Number.isNaN(until) || sent === undefined) return "missing"
  if (sent !== signatureOf(path, until, secret)) return "wrong"
  return now < until ? "valid" : "expired"
}

type SignatureStatus = "valid" | "missing" | "wrong" | "expired"

const expiryOf = (query: URLSearchParams): number | undefined => {
  const dated = query.get("X-Amz-Date") ?? query.get("X-Goog-Date")
  if (dated !== null) {
    const [, day, time] = /^(\d{8})T(\d{6})Z$/.exec(dated) ?? []
    const text = `${day?.replace(/(....)(..)/, "$1-$2-")}T${time?.replace(/(..)(..)/, "$1:$2:")}Z`
    return Date.parse(text) + Number(query.get("X-Amz-Expires") ?? query.get("X-Goog-Expires")) * 1000
  }
  if (query.has("se")) return Date.parse(query.get("se")!)
  return query.has("Expires") ? Number(query.get("Expires")) * 1000 : undefined
}

const names = ["X-Amz-Signature", "X-Goog-Signature", "sig", "Signature"]

const signatureOf = (path: string, until: number, secret: string): string =>
  createHmac("sha256", secret).update(`${path} ${until}`).digest("hex")
