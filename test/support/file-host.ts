/** A host of files on this machine: what each path answers is said by a test. It counts what it was asked. */
import { type IncomingMessage, type RequestListener, createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface FileHost {
  readonly url: string
  /** Paths with their answers: a file, or what a listener does. */
  readonly files: Map<string, Buffer | RequestListener>
  /** Of each request, in order: the path with its query. */
  readonly requested: Array<string>
  /** Whether any request had credentials. */
  readonly withToken: () => boolean
  readonly stop: () => void
}

export const startFileHost = async (): Promise<FileHost> => {
  const files = new Map<string, Buffer | RequestListener>()
  const requested: Array<string> = []
  let withToken = false
  const server = createServer((request: IncomingMessage, response) => {
    const url = new URL(request.url ?? "", "http://host")
    requested.push(url.pathname + url.search)
    withToken ||= request.headers["authorization"] !== undefined
    const file = files.get(url.pathname)
    if (file === undefined) return void response.writeHead(404).end()
    if (typeof file === "function") return void file(request, response)
    return void response.writeHead(200, { "content-length": file.length, "content-type": "image/png" }).end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    requested,
    withToken: () => withToken,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
