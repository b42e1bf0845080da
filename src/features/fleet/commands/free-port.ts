import { createServer } from "node:net"
import { portOf } from "../../../values/port.ts"

/** A port that is free now, and that another program may take meanwhile. */
export const freePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, host, () => {
      const port = portOf(server)
      server.close(() => resolve(port))
    })
  })
