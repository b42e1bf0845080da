/** A bucket behind a proxy that can fail. */
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { startObjectStore } from "./object-store.ts"

export interface Bucket {
  readonly endpoint: string
  /** Answers 503 from now on, or no longer. */
  readonly setDown: (isDown: boolean) => void
  readonly counts: () => { readonly requests: number; readonly refused: number; readonly received: number }
  readonly stop: () => Promise<void>
}

export const startBucket = async (name: string): Promise<Bucket> => {
  const store = await startObjectStore(name)
  let isDown = false
  const counts = { requests: 0, refused: 0, received: 0 }
  const proxy = createServer((incoming, outgoing) => {
    counts.requests++
    if (isDown) {
      counts.refused++
      incoming.resume()
      outgoing.writeHead(503).end()
      return
    }
    incoming.on("data", (chunk: Buffer) => (counts.received += chunk.length))
    const { headers, method, url } = incoming
    const onward = request(`${store.url}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  return {
    endpoint: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    setDown: (down) => {
      isDown = down
    },
    counts: () => ({ ...counts }),
    stop: async () => {
      proxy.close()
      proxy.closeAllConnections()
      store.stop()
    }
  }
}
