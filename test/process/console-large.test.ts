/** The console beside work that prints without end: two browsers, a server that is killed meanwhile, and its memory. */
import { assert, describe, it } from "@effect/vitest"
import { copyFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { type IncomingMessage, request } from "node:http"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type Running, knowingApart, start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** Of the built program; the sources take 50 MB more, to be compiled. */
const megabytesMax = 200
const logMegabytes = 500
const resultMegabytes = 50

/** Serves as sluice does; any other command prints a log and a result of such lengths. */
const stub = (main: string) => `
import { writeSync } from "node:fs"
const [command] = process.argv.slice(2)
if (command === "serve") await import(${JSON.stringify(main)})
else if (command === "status") console.log('{"schema":"sluice/error/1","exitCode":1,"error":{"code":"failed","message":"Nothing was synced yet."}}')
else {
  const writeAll = (file, bytes) => { for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at) }
  const lines = Buffer.from('time=x level=info message="one of many lines"\\n'.repeat(22_000))
  for (let megabyte = 0; megabyte < ${logMegabytes}; megabyte++) writeAll(2, lines)
  const result = '{"schema":"sluice/sync/1","exitCode":3,"data":"' + "x".repeat(${resultMegabytes}_000_000) + '"}'
  writeAll(1, Buffer.from(command === "sync" ? '{"schema":"sluice/events/1","time":"2027-01-01T00:00:00Z","event":"finished","exitCode":3,"result":' + result + "}\\n" : result + "\\n"))
  process.exit(3)
}
`

describe("a console whose work prints 500 MB, and a result of 50 MB", () => {
  it("shows its end to two browsers, in bounded memory, although the server was killed meanwhile", async () => {
    const folder = newFolder()
    // The launcher finds the stub where an installed package has the program.
    const { PROGRAM: built } = await knowingApart("locations")
    const main = built === undefined ? join(root, "src/main.ts") : join(dirname(built), "dist/src/main.js")
    const program = join(folder, "package", "sluice")
    mkdirSync(join(folder, "package/dist/src"), { recursive: true })
    writeFileSync(join(folder, "package/dist/src/main.js"), stub(pathToFileURL(main).href))
    copyFileSync(join(root, "sluice"), program)
    copyFileSync(join(root, "package.json"), join(folder, "package/package.json"))
    symlinkSync(join(root, "node_modules"), join(folder, "package/node_modules"))
    let port = "0"
    const serving = async (): Promise<readonly [server: Running, link: URL]> => {
      const server = start(["serve", "--json", "--listen", port], { PROGRAM: program, HOME: folder }, folder)
      while (!server.stdout().includes("\n")) await sleep(20)
      const link = new URL(JSON.parse(server.stdout()).data.url)
      ;({ port } = link)
      return [server, link]
    }
    const sent = (path: string, cookie: string | undefined, body?: object) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const headers = { ...(cookie && { cookie }), ...(body && { origin: `http://127.0.0.1:${port}` }) }
        const method = body ? "POST" : "GET"
        const outgoing = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, resolve)
        outgoing.once("error", reject)
        outgoing.end(body && JSON.stringify(body))
      })
    const textOf = async (incoming: IncomingMessage) => {
      let text = ""
      for await (const part of incoming.setEncoding("utf8")) text += part
      return text
    }
    const peakOf = ({ pid }: Running) =>
      Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024

    const [first, link] = await serving()
    let server = first
    const cookies: Array<string> = []
    for (let browser = 0; browser < 2; browser++) {
      const { headers } = await sent(link.pathname + link.search, undefined)
      cookies.push(headers["set-cookie"]![0]!.split(";")[0]!)
    }
    // One of them never reads what it is sent.
    const [reads, hangs] = await Promise.all(cookies.map((cookie) => sent("/api/events", cookie)))
    reads!.resume().on("error", () => {})
    hangs!.on("error", () => {})
    for (const [task, isKilled] of [
      ["sync", true],
      ["doctor", false]
    ] as const) {
      const answers = await Promise.all(cookies.map((cookie) => sent("/api/start", cookie, { task, values: {} })))
      assert.deepStrictEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 409])
      const { job } = JSON.parse(await textOf(answers.find(({ statusCode }) => statusCode === 200)!))
      const log = join(folder, "output", "console", `job-${job.id}.err`)
      if (isKilled) {
        while ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) < 100_000_000) await sleep(20)
        assert.isBelow(peakOf(first), megabytesMax)
        first.kill("SIGKILL")
        await first.ended
        ;[server] = await serving()
      }
      const found = async () => JSON.parse(await textOf(await sent("/api/job", cookies[0], { id: job.id })))
      let shown = await found()
      while (shown.state !== "ended") {
        await sleep(200)
        shown = await found()
      }
      assert.deepInclude(shown, { exitCode: 3, level: "warn" })
      assert.isAbove(statSync(log).size, logMegabytes * 900_000)
      assert.strictEqual(shown.log.length, 300)
      assert.isBelow(peakOf(server), megabytesMax)
    }
    server.kill("SIGTERM")
    await server.ended
  })
})
