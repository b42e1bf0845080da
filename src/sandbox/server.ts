import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Tokens } from "./auth.ts"
import { Churn } from "./churn.ts"
import { Clock } from "./clock.ts"
import { Deliveries } from "./deliveries.ts"
import { ExportCursors } from "./export-cursors.ts"
import { Faults } from "./faults.ts"
import { listener } from "./listener.ts"
import { Limiter } from "./limits.ts"
import { type SandboxOptions, settle } from "./options.ts"
import type { Service } from "./route.ts"
import { Schedule } from "./schedule.ts"
import { Statistics } from "./statistics.ts"
import { Random, streams } from "./world/random.ts"
import { type World, createWorld } from "./world/world.ts"

export interface Sandbox {
  url: string
  /** A private integration token, which never expires. */
  token: string
  locationId: string
  companyId: string
  clientId: string
  clientSecret: string
  /** Good for the first refresh; each refresh answers with the next. */
  refreshToken: string
  world: World
  close(): Promise<void>
}

/** Starts the documented service in this process, on the loopback interface. */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const service = createService(options)
  const { settings, tokens, world } = service
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, listener(service))
  server.on("clientError", (_, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(settings.port, settings.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const url = `http://${settings.host.includes(":") ? `[${settings.host}]` : settings.host}:${port}`
  service.origin = url
  return {
    url,
    token: tokens.privateToken,
    locationId: world.setting.locationId,
    companyId: world.setting.companyId,
    clientId: tokens.clientId,
    clientSecret: tokens.clientSecret,
    refreshToken: tokens.refreshToken,
    world,
    close: () =>
      new Promise((resolve) => {
        service.deliveries.close()
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** The service without a socket; on another clock where it is simulated. */
export const createService = (options: SandboxOptions, otherClock?: Clock): Service => {
  const settings = settle(options)
  const clock = otherClock ?? new Clock(settings.now)
  const world = createWorld(settings)
  return {
    settings,
    world,
    clock,
    tokens: new Tokens(settings, world.setting, clock),
    limiter: new Limiter(settings, clock),
    faults: new Faults(settings.faults, settings.seed),
    statistics: new Statistics(),
    schedule: new Schedule(),
    deliveries: new Deliveries(settings, world),
    churn: new Churn(),
    exportCursors: new ExportCursors(clock),
    random: new Random(settings.seed, streams.live, 0),
    origin: ""
  }
}
