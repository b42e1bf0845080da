/** A bucket of moto, a service with the interface of S3 that we did not write, behind a proxy that can fail. */
import { spawn } from "node:child_process"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { freePort } from "./postgres.ts"
import { pythonWith } from "./python.ts"

/** Undefined if it cannot be installed. */
export const motoPython = pythonWith(["moto[server]==5.2.5"])

export interface Bucket {
  readonly endpoint: string
  /** Answers 503 from now on, or no longer. */
  readonly setDown: (isDown: boolean) => void
  readonly counts: () => { readonly requests: number; readonly refused: number; readonly received: number }
  readonly stop: () => Promise<void>
}

export const startBucket = async (name: string): Promise<Bucket> => {
  const port = await freePort()
  const moto = spawn(join(dirname(motoPython!), "moto_server"), ["-H", "127.0.0.1", "-p", String(port)], {
    stdio: "ignore"
  })
  process.once("exit", () => moto.kill("SIGKILL"))
  const ended = new Promise((resolve) => moto.once("exit", resolve))
  const direct = `http://127.0.0.1:${port}`
  const until = Date.now() + 60_000
  while (!(await fetch(direct).catch(() => undefined))) {
    if (Date.now() > until) throw new Error("moto_server does not start")
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await fetch(`${direct}/${name}`, { method: "PUT" })
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
    const onward = request({ port, host: "127.0.0.1", method, path: url, headers }, (answer) => {
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
      moto.kill("SIGKILL")
      await ended
    }
  }
}
