/** An object store with the interface of S3, in a process of its own. */
import { spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { freePort } from "../../src/output/free-port.ts"
import { pythonWith } from "./python.ts"

const python = pythonWith(["moto[server,s3]==5.2.5"])

/** Whether it can be started; a test then skips, and why is printed. */
export const hasObjectStore = python !== undefined

export interface ObjectStore {
  readonly url: string
  readonly stop: () => void
}

export const startObjectStore = async (bucket: string): Promise<ObjectStore> => {
  const port = await freePort("127.0.0.1")
  const server = spawn(join(dirname(python!), "moto_server"), ["-H", "127.0.0.1", "-p", String(port)], {
    stdio: "ignore"
  })
  process.once("exit", () => server.kill("SIGKILL"))
  const url = `http://127.0.0.1:${port}`
  const until = Date.now() + 60_000
  for (;;) {
    const created = await fetch(`${url}/${bucket}`, { method: "PUT" }).catch(() => undefined)
    if (created?.ok) return { url, stop: () => void server.kill("SIGKILL") }
    if (Date.now() > until || server.exitCode !== null) throw new Error("the object store does not start")
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
