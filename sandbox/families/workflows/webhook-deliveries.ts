import type { Clock } from "../../account/clock.ts"
import type { Settings } from "../../options.ts"
import { type Data, type Entry } from "../../account/collection.ts"
import { Random, streams } from "../../account/random.ts"
import type { Trigger, WebhookStep } from "./workflow-records.ts"
import type { World } from "../../world.ts"

/**
 * Sends the events of published workflows (A 6): JSON by POST to the URL of each custom-webhook step, at least once. Events
 * for one URL are sent in order, one after the other, unless the workflow is `unordered`. A share of `duplicates` is sent
 * twice.
 */
export class Deliveries {
  readonly counts = { pending: 0, delivered: 0, failed: 0, refused: 0 }
  readonly #settings: Settings
  readonly #world: World
  readonly #clock: Clock
  readonly #shown: (text: string) => string
  readonly #random: Random
  readonly #closing = new AbortController()
  /** The last pending delivery to each URL. */
  readonly #lastByUrl = new Map<string, Promise<void>>()

  /** `shown` signs the links of a record. */
  constructor(settings: Settings, world: World, clock: Clock, shown: (text: string) => string) {
    this.#shown = shown
    this.#settings = settings
    this.#world = world
    this.#clock = clock
    this.#random = new Random(settings.seed, streams.delivery, 0)
  }

  /** Starts every published workflow with this trigger, for the given record. */
  trigger(kind: Trigger, record: Data): void {
    const { workflows } = this.#world
    for (const row of workflows.live()) {
      const workflow = workflows.data(row)
      if (workflow["trigger"] === kind && workflow["status"] === "published") this.#start(workflow, kind, record)
    }
  }

  /** Starts a workflow for a contact, independent of its trigger (A 6.7). */
  enroll(workflow: Entry, contact: Entry): void {
    this.#start(this.#world.workflows.data(workflow), "enrollment", this.#world.contacts.data(contact))
  }

  close(): void {
    this.#closing.abort()
  }

  #start(workflow: Data, type: Trigger, record: Data): void {
    const { locationId } = this.#world.context
    for (const step of (workflow["steps"] ?? []) as ReadonlyArray<WebhookStep>) {
      if (step.type !== "custom_webhook") continue
      const event = { ...record, type, locationId, eventId: this.#random.id(), workflowId: workflow["id"] }
      if (this.counts.pending >= maxPending || !this.#isAllowed(step.url)) {
        this.counts.refused++
        continue
      }
      const times = this.#random.chance(Number(workflow["duplicates"] ?? 0)) ? 2 : 1
      for (let time = 0; time < times; time++)
        this.#enqueue(step, this.#shown(JSON.stringify(event)), workflow["unordered"] === true)
    }
  }

  #enqueue(step: WebhookStep, body: string, isUnordered: boolean): void {
    this.counts.pending++
    const before = isUnordered
      ? this.#clock.wait(this.#random.int(120))
      : (this.#lastByUrl.get(step.url) ?? Promise.resolve())
    const sent = before.then(() => this.#send(step, body))
    if (!isUnordered) this.#lastByUrl.set(step.url, sent)
  }

  /** Sends an event, and repeats it a few times unless a 2xx arrives soon (A 6.5). */
  async #send(step: WebhookStep, body: string): Promise<void> {
    for (const pause of pausesMs) {
      if (this.#closing.signal.aborted) break
      await this.#clock.wait(pause)
      if (await this.#isAccepted(step, body)) {
        this.counts.pending--
        this.counts.delivered++
        return
      }
    }
    this.counts.pending--
    this.counts.failed++
  }

  async #isAccepted({ headers, query, url }: WebhookStep, body: string): Promise<boolean> {
    const target = new URL(url)
    for (const [name, value] of Object.entries(query ?? {})) target.searchParams.set(name, value)
    try {
      const response = await fetch(target, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body,
        // A redirect could lead to an address that is not allowed.
        redirect: "manual",
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)])
      })
      await response.body?.cancel()
      return response.ok
    } catch {
      return false
    }
  }

  #isAllowed(url: string): boolean {
    const target = URL.parse(url)
    if (target === null || !/^https?:$/.test(target.protocol)) return false
    return this.#settings.webhooks === "any" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(target.hostname)
  }
}

/** The time limit of an attempt, and the pauses before each attempt; neither is documented (A 6.8). */
const timeoutMs = 2000
const pausesMs = [0, 30, 100, 400]

const maxPending = 10_000
