import { type RequestListener, type Server, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileListener, trapListener } from "./files/host.ts"
import { type HttpRequest, type HttpResponse, handle } from "./http/handler.ts"
import { type Alter, listener } from "./http/listener.ts"
import type { SandboxOptions } from "./options.ts"
import { Agency } from "./agency.ts"
import { type Access, accessOf } from "./service.ts"

export interface Sandbox extends Access {
  url: string
  /** The address of the host behind links. Absent without the option `files`. */
  files: string | undefined
  /** Lists the locations of the agency. Absent without an agency. */
  agencyToken: string | undefined
  /** Handles a request without a connection. */
  handle(request: HttpRequest): Promise<HttpResponse>
  /** Serves the same account on another server, with changed responses. */
  listener(alter?: Alter): RequestListener
  close(): Promise<void>
}

/** Starts the service in this process, by default on the loopback interface. Rejects if it cannot listen. */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const agency = new Agency(options)
  const { host, port } = agency.first.settings
  const server = await listen(listener(agency), port, host)
  const url = urlOf(server, host)
  agency.setOrigin(url)
  const servers = [server]
  if (agency.files !== undefined) {
    const files = await listen(fileListener(agency.files), 0, host)
    agency.files.origin = urlOf(files, host)
    servers.push(files)
    // Not every system has this address.
    const trap = await listen(trapListener(agency.files), 0, "127.0.0.2").catch(() => undefined)
    if (trap !== undefined) agency.files.trap = urlOf(trap, "127.0.0.2")
    if (trap !== undefined) servers.push(trap)
  }
  return {
    ...accessOf(agency.first),
    agencyToken: agency.token,
    url,
    files: agency.files?.origin,
    handle: (request) => handle(request, agency.serviceFor(request)),
    listener: (alter) => listener(agency, alter),
    close: async () => {
      agency.close()
      await Promise.all(servers.map(close))
    }
  }
}

/** A server that listens. Rejects if it cannot. */
const listen = async (listener: RequestListener, port: number, host: string): Promise<Server> => {
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, listener)
  server.on("clientError", (_, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, resolve)
  })
  return server
}

const urlOf = (server: Server, host: string): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
