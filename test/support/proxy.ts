/** Proxies that change the responses of a sandbox, or combine several sandboxes into one service. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Service } from "./service.ts"

type Alter = (
  request: { readonly method: string; readonly path: string; readonly body: string },
  answer: unknown
) => unknown

/** A response with another status. */
export class Refusal {
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    this.status = status
    this.body = body
  }
}

/** A service with changed responses, and the rate limit that the service names. */
export const alteredService = (service: Service, alter: Alter) => forward(() => service.url, alter, /^x-ratelimit/)

/** One address for several accounts, which the token selects; an unknown token goes to the first, which refuses it. */
export const oneAddress = (...services: ReadonlyArray<Service>) =>
  forward(
    (authorization) => (services.find(({ token }) => authorization === `Bearer ${token}`) ?? services[0]!).url,
    (_, answer) => answer
  )

/** `passed`: the headers of the response that are kept, besides its type. */
const forward = async (upstream: (authorization: string | undefined) => string, alter: Alter, passed = /^$/) => {
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const [method, path] = [request.method!, request.url!]
    const { host: _, "accept-encoding": __, connection: ___, "content-length": ____, ...sent } = request.headers
    const answer = await fetch(upstream(request.headers.authorization) + path, {
      method,
      headers: sent as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) })
    })
    const text = await answer.text()
    const isJson = answer.headers.get("content-type")?.includes("json")
    const altered = isJson
      ? alter({ method, path, body: Buffer.concat(chunks).toString() }, JSON.parse(text))
      : undefined
    const status = altered instanceof Refusal ? altered.status : answer.status
    const headers = [...answer.headers].filter(([name]) => name === "content-type" || passed.test(name))
    response.writeHead(status, Object.fromEntries(headers))
    response.end(isJson ? JSON.stringify(altered instanceof Refusal ? altered.body : altered) : text)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
