/** A server that receives what a run reports, and answers as the test says. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly method: string
  readonly path: string
  readonly search: URLSearchParams
  readonly type: string | undefined
  readonly authorization: string | undefined
  readonly encoding: string | undefined
  readonly body: Buffer
}

export interface Receiver {
  readonly url: string
  readonly received: Array<Received>
  /** The status of the answers; `hang` gives none. */
  answer: number | "hang"
  readonly stop: () => void
}

export const startReceiver = async (): Promise<Receiver> => {
  const received: Array<Received> = []
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { pathname: path, searchParams: search } = new URL(request.url!, "http://receiver")
    const { authorization, "content-encoding": encoding, "content-type": type } = request.headers
    received.push({ method: request.method!, path, search, type, authorization, encoding, body: Buffer.concat(chunks) })
    if (receiver.answer !== "hang") response.writeHead(receiver.answer).end()
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: 200,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
  return receiver
}
