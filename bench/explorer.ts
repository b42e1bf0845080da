/** What somebody waits for who opens the explorer, in milliseconds by what it is. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const launcher = fileURLToPath(new URL("../sluice", import.meta.url))
export const firstRows = (table: string) => `SELECT * FROM ${table} LIMIT 100`

export const openExplorer = async (
  environment: Readonly<Record<string, string>>,
  tables: ReadonlyArray<string>
): Promise<ReadonlyMap<string, number>> => {
  const times = new Map<string, number>()
  const timed = async <A>(name: string, work: () => Promise<A>): Promise<A> => {
    const start = performance.now()
    const result = await work()
    times.set(name, performance.now() - start)
    return result
  }
  const child = spawn(launcher, ["explore"], { env: { PATH: process.env["PATH"], ...environment } })
  try {
    const address = await timed("explorer: its address is printed", async () => {
      for await (const line of createInterface(child.stdout)) {
        const found = /http:\/\/\S+/.exec(line)
        if (found) return new URL(found[0])
      }
      throw new Error("the explorer has printed no address")
    })
    const { origin } = address
    const opened = await timed("explorer: its page", () => fetch(address, { redirect: "manual" }))
    const cookie = opened.headers.get("set-cookie")!.split(";")[0]!
    const ask = async (path: string, body?: object) => {
      const init = body && { method: "POST", body: JSON.stringify(body) }
      const response = await fetch(origin + path, { ...init, headers: { cookie, origin } })
      if (!response.ok) throw new Error(`${path} answered ${response.status}`)
      return response.arrayBuffer()
    }
    await timed("explorer: names and rows of all tables", () => ask("/api/tables"))
    for (const table of tables)
      await timed(`explorer: first rows of ${table}`, () => ask("/api/query", { sql: firstRows(table) }))
    await timed("explorer: columns of all tables", () => ask("/api/catalog"))
    return times
  } finally {
    child.kill()
  }
}
