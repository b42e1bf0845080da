/** Tells the browsers that are open what happens, by server-sent events. */
import type { ServerResponse } from "node:http"
import { HttpError } from "../explore/http.ts"

/** A browser that reads nothing is given up before what waits for it takes memory. */
const waitingBytesMax = 4_000_000
const browsersMax = 50
/** Proxies close a connection on which nothing happens. */
const beatMs = 20_000

export class Events {
  readonly #browsers = new Set<ServerResponse>()
  readonly #beat = setInterval(() => this.#write(":\n\n"), beatMs).unref()

  /** Sends `first` at once, and everything that follows until the browser goes away. */
  open(response: ServerResponse, first: ReadonlyArray<readonly [event: string, data: unknown]>): void {
    if (this.#browsers.size >= browsersMax) throw new HttpError(503, "later", "Too many pages are open.")
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" })
    for (const [event, data] of first) response.write(message(event, data))
    this.#browsers.add(response)
    response.once("close", () => this.#browsers.delete(response))
  }

  get isWatched(): boolean {
    return this.#browsers.size > 0
  }

  send(event: string, data: unknown): void {
    if (this.isWatched) this.#write(message(event, data))
  }

  close(): void {
    clearInterval(this.#beat)
    for (const response of this.#browsers) response.end()
  }

  #write(text: string): void {
    for (const response of this.#browsers)
      if (response.writableLength > waitingBytesMax) response.destroy()
      else response.write(text)
  }
}

/** JSON has no line feed of its own. */
const message = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
