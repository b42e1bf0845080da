import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { listener } from "./http/listener.ts"
import type { SandboxOptions } from "./options.ts"
import { Agency } from "./agency.ts"
import { type Access, accessOf } from "./service.ts"

export interface Sandbox extends Access {
  url: string
  /** Lists the locations of the agency. Absent without an agency. */
  agencyToken: string | undefined
  close(): Promise<void>
}

/** Starts the service in this process, by default on the loopback interface. Rejects if it cannot listen. */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const agency = new Agency(options)
  const { settings } = agency.first
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, listener(agency))
  server.on("clientError", (_, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(settings.port, settings.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const url = `http://${settings.host.includes(":") ? `[${settings.host}]` : settings.host}:${port}`
  agency.setOrigin(url)
  return {
    ...accessOf(agency.first),
    agencyToken: agency.token,
    url,
    close: () =>
      new Promise((resolve) => {
        agency.close()
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
