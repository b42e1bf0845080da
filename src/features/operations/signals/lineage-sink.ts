/** Sends events of OpenLineage to a server and into a file, while the run goes on. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { appendFile, mkdir } from "node:fs/promises"
import { dirname } from "node:path"
import type { LineageSettings } from "../../../settings/signals.ts"
import { post } from "./http.ts"
import type { LineageEvent } from "./lineage.ts"

/** Events of different jobs are sent at the same time; those of one job one after the other. */
const lanes = 4
/** After a failure, this long nothing is sent: a server that is down must not delay the end of the run. */
const pauseMs = 60_000
const closeMsMax = 12_000

export class LineageSink {
  readonly #settings: LineageSettings
  readonly #laneOf = new Map<string, number>()
  readonly #sending: Array<Promise<void>> = Array.from({ length: lanes }, () => Promise.resolve())
  #writing: Promise<void> = Promise.resolve()
  #pausedUntil = 0
  #isClosed = false
  #unsent = 0
  #problem: string | undefined
  #fileProblem: string | undefined

  constructor(settings: LineageSettings) {
    this.#settings = settings
  }

  /** Returns at once. */
  send(event: LineageEvent): void {
    const body = JSON.stringify(event)
    const { file, url } = this.#settings
    if (file !== undefined) this.#writing = this.#writing.then(() => this.#write(file, body))
    if (url === undefined) return
    this.#unsent++
    const { runId } = event.run
    const lane = this.#laneOf.get(runId) ?? this.#laneOf.size % lanes
    this.#laneOf.set(runId, lane)
    this.#sending[lane] = this.#sending[lane]!.then(() => this.#post(body))
  }

  /** Waits for what is on its way, but not for long. Returns a sentence for each place that was not reached. */
  async close(): Promise<ReadonlyArray<string>> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((done) => (timer = setTimeout(done, closeMsMax)))
    await Promise.race([Promise.all([this.#writing, ...this.#sending]), timeout])
    clearTimeout(timer)
    this.#isClosed = true
    const { file } = this.#settings
    const why = this.#problem ?? `it took more than ${closeMsMax / 1000} s`
    return [
      ...(this.#unsent > 0
        ? [`The OpenLineage server was not reached: ${why}. ${this.#unsent} events are missing.`]
        : []),
      ...(this.#fileProblem === undefined ? [] : [`${file} was not written: ${this.#fileProblem}.`])
    ]
  }

  async #post(body: string): Promise<void> {
    if (this.#isClosed || Date.now() < this.#pausedUntil) return
    const { apiKey, url } = this.#settings
    const key = apiKey?.read()
    if (key && Result.isFailure(key)) {
      this.#problem = "its API key cannot be read"
      return
    }
    const headers = key && { authorization: `Bearer ${Redacted.value(key.success)}` }
    const problem = await post(url!, { path: "/api/v1/lineage", body, ...(headers && { headers }) })
    if (problem === undefined) this.#unsent--
    else {
      this.#problem = problem
      this.#pausedUntil = Date.now() + pauseMs
    }
  }

  async #write(file: string, line: string): Promise<void> {
    try {
      await mkdir(dirname(file), { recursive: true })
      await appendFile(file, `${line}\n`)
    } catch (cause) {
      this.#fileProblem = (cause as Error).message
    }
  }
}
