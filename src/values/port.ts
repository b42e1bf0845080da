/** The port of a server that listens: its address is a text only for sockets of files. */
import type { Server } from "node:net"

export const portOf = (server: Server): number => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server does not listen on a port")
  return address.port
}
