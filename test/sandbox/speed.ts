import { spawn } from "node:child_process"
import { once } from "node:events"
import { Agent, request } from "node:http"

/**
 * Measures the speed of the sandbox: `node test/sandbox/speed.ts --contacts 200000 --tags 2 --custom-values 3`. The server
 * is a separate process on one core, which gets the flags. Prints one line for each list that is read.
 */
const started = performance.now()
const flags = [...process.argv.slice(2), "--limits", "off", "--no-compression"]
const server = spawn(process.execPath, ["sandbox/main.ts", ...flags], { stdio: ["ignore", "pipe", "inherit"] })
const [line] = (await once(server.stdout, "data")) as [Buffer]
const { locationId, token, url } = JSON.parse(line.toString()) as Record<string, string>
console.log(`listening after ${Math.round(performance.now() - started)} ms`)

const agent = new Agent({ keepAlive: true, maxSockets: 8 })
const send = (method: string, path: string, body?: unknown): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { Version: "v3", Authorization: `Bearer ${token}`, "Content-Type": "application/json" }
    const outgoing = request(url + path, { method, agent, headers }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on("end", () => resolve(Buffer.concat(parts).toString()))
    })
    outgoing.on("error", reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })

/** Reads a list by its cursor, one request at a time. */
const walk = async (name: string, next: (text: string) => Promise<string> | undefined, first: Promise<string>) => {
  const begin = performance.now()
  let pages = 0
  let bytes = 0
  let afterFirst = 0
  for (let page: Promise<string> | undefined = first; page !== undefined;) {
    const text: string = await page
    pages++
    bytes += text.length
    if (pages === 1) afterFirst = performance.now()
    page = next(text)
  }
  const seconds = (performance.now() - afterFirst) / 1000
  const rate = Math.round((pages - 1) / seconds)
  const wait = Math.round(afterFirst - begin)
  console.log(`${name}: ${pages} pages, ${rate}/s, ${Math.round(bytes / pages)} bytes each, first after ${wait} ms`)
}

const searchContacts = (searchAfter?: unknown) =>
  send("POST", "/contacts/search", { locationId, pageLimit: 100, ...(searchAfter !== undefined && { searchAfter }) })
const nextContacts = (text: string) => {
  const after = /"searchAfter":(\[[^\]]*\])\}\],"total"/.exec(text.slice(-400))?.[1]
  return after === undefined ? undefined : searchContacts(JSON.parse(after))
}
await walk("contacts, first walk", nextContacts, searchContacts())
await walk("contacts, second walk", nextContacts, searchContacts())

const exportMessages = (cursor?: string) =>
  send(
    "GET",
    `/conversations/messages/export?locationId=${locationId}&limit=100${cursor === undefined ? "" : `&cursor=${cursor}`}`
  )
const nextMessages = (text: string) => {
  const cursor = /"nextCursor":"([^"]+)"/.exec(text.slice(-200))?.[1]
  return cursor === undefined ? undefined : exportMessages(cursor)
}
await walk("messages, first walk", nextMessages, exportMessages())
await walk("messages, second walk", nextMessages, exportMessages())

// Eight requests at once, as sluice reads independent lists concurrently.
const begin = performance.now()
let served = 0
const first = JSON.parse(await searchContacts()) as { contacts: Array<{ searchAfter: unknown }> }
const after = first.contacts.at(-1)!.searchAfter
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (; served < 4000; served++) await searchContacts(after)
  })
)
console.log(`contacts, 8 at once: ${Math.round(served / ((performance.now() - begin) / 1000))} pages/s`)
agent.destroy()
server.kill()
