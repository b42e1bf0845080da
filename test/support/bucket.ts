/** A bucket behind a proxy that checks what it receives, as the services do, and can fail. */
import { hash } from "node:crypto"
import { type IncomingHttpHeaders, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { startObjectStore } from "./object-store.ts"

/**
 * - `busy`: it is answered with 503
 * - `denied`: it is answered with 403
 * - `reset`: the connection ends before it arrives
 * - `lost`: it is carried out, and the connection ends before the answer
 * - `changed`: its body is changed on the way
 * - `rotten`: its body is changed when it is stored, and its checksum is forgotten
 */
export type Fault = "busy" | "denied" | "reset" | "lost" | "changed" | "rotten"

export interface BucketRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

export interface Bucket {
  readonly endpoint: string
  /** Answers 503 from now on, or no longer. */
  readonly setDown: (isDown: boolean) => void
  /** What happens to each request from now on. */
  readonly disturb: (faultOf: (request: BucketRequest) => Fault | undefined) => void
  readonly counts: () => { readonly requests: number; readonly refused: number; readonly received: number }
  readonly stop: () => Promise<void>
}

export const startBucket = async (name: string): Promise<Bucket> => {
  const store = await startObjectStore(name)
  let faultOf: (request: BucketRequest) => Fault | undefined = () => undefined
  const counts = { requests: 0, refused: 0, received: 0 }
  const proxy = createServer(async (incoming, outgoing) => {
    counts.requests++
    const { method = "", url = "" } = incoming
    const headers = { ...incoming.headers }
    const fault = faultOf({ method, url, headers })
    const body = await buffer(incoming).catch(() => Buffer.alloc(0))
    counts.received += body.length
    if (fault === "busy") {
      counts.refused++
      outgoing.writeHead(503).end("<Error><Code>SlowDown</Code></Error>")
      return
    }
    if (fault === "denied") {
      outgoing.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>")
      return
    }
    if (fault === "reset") return void outgoing.destroy()
    if (fault === "changed" && body.length > 0) body[0]! ^= 1
    const said = String(headers["x-amz-content-sha256"])
    if (/^[0-9a-f]{64}$/.test(said) && said !== hash("sha256", body)) {
      outgoing.writeHead(400).end("<Error><Code>XAmzContentSHA256Mismatch</Code></Error>")
      return
    }
    if (fault === "rotten" && body.length > 0) {
      body[0]! ^= 1
      delete headers["x-amz-sdk-checksum-algorithm"]
    }
    const onward = request(`${store.url}${url}`, { method, headers }, (answer) => {
      if (fault === "lost") {
        answer.resume()
        answer.once("end", () => outgoing.destroy())
        return
      }
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    onward.end(body)
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  return {
    endpoint: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    setDown: (isDown) => {
      faultOf = () => (isDown ? "busy" : undefined)
    },
    disturb: (fault) => {
      faultOf = fault
    },
    counts: () => ({ ...counts }),
    stop: async () => {
      proxy.close()
      proxy.closeAllConnections()
      store.stop()
    }
  }
}
