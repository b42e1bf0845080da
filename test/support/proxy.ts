/** Servers that change the responses of a sandbox, or combine several sandboxes into one service. */
import { type RequestListener, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Service } from "./service.ts"

export type Alter = (
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

/** A service with changed JSON responses. */
export const alteredService = (service: Service, alter: Alter) =>
  serve(
    service.listener(({ method, target, body }, response) => {
      if (!response.headers["Content-Type"]?.includes("json")) return response
      const altered = alter({ method, path: target, body: String(body ?? "") }, JSON.parse(String(response.body)))
      return altered instanceof Refusal
        ? { ...response, status: altered.status, body: JSON.stringify(altered.body) }
        : { ...response, body: JSON.stringify(altered) }
    })
  )

/** One address for several accounts, which the token selects; an unknown token goes to the first, which refuses it. */
export const oneAddress = (...services: ReadonlyArray<Service>) => {
  const listenerByToken = new Map(services.map(({ token, listener }) => [`Bearer ${token}`, listener()]))
  const first = services[0]!.listener()
  return serve((request, response) =>
    (listenerByToken.get(String(request.headers.authorization)) ?? first)(request, response)
  )
}

const serve = async (listener: RequestListener) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
