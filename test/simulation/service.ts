/** The sandbox as a dispatcher, which answers requests or interrupts them on the virtual clock, without a socket, and notes each. */
import { Dispatcher } from "undici"
import { Clock } from "../../sandbox/account/clock.ts"
import { control } from "../../sandbox/control/control.ts"
import { HttpError } from "../../sandbox/http/errors.ts"
import { ErrorAnswer } from "../../sandbox/http/error-answers.ts"
import { Interruption, applyBefore } from "../../sandbox/http/interruption.ts"
import type { SandboxOptions } from "../../sandbox/options.ts"
import { answer } from "../../sandbox/http/router.ts"
import { type Service, createService } from "../../sandbox/service.ts"
import type { VirtualClock } from "./clock.ts"
import { type Answered, type Glitch, glitched } from "./glitches.ts"
import type { FileHost } from "./host.ts"
import { type Route, routeOf } from "./routes.ts"

class ServiceClock extends Clock {
  private readonly virtual: VirtualClock
  private advancedMs = 0
  constructor(virtual: VirtualClock) {
    super(0)
    this.virtual = virtual
  }
  override now(): number {
    return this.virtual.now() + this.advancedMs
  }
  override advance(milliseconds: number): void {
    this.advancedMs += milliseconds
  }
}

/** A request that was sent. */
export interface Sent {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly body: string
  readonly route: Route | undefined
  /** When the process sent it; epoch milliseconds. The machine may have slept since. */
  readonly sentAt: number
  /** When it arrived; epoch milliseconds. */
  at: number
  /** Whether a fault or a glitch changed its answer, or there was none. */
  isDisturbed: boolean
  /** The answer, once the process has received all of it, and when. */
  received?: Answered
  receivedAt?: number
}

/** Lists that are read page by page, and not in several parts at once. */
const onePages = new Set(["users", "contacts", "orders", "products", "redirects", "coupons", "invoices", "blogs"])

/** Parameters that name a page of a list. */
const positions = new Set(
  "skip offset page cursor startAfter startAfterId startAfterDate searchAfter lastMessageId".split(" ")
)

/**
 * What is requested, without the page: a list that comes a second time is one with the same filters. Nobody could tell if a
 * service answered with the page of another list.
 */
const listOf = ({ pathname, searchParams }: URL, text: string): string => {
  const sent = { ...Object.fromEntries(searchParams), ...(text === "" ? {} : (JSON.parse(text) as object)) }
  const filters = Object.entries(sent).filter(([name]) => !positions.has(name))
  return JSON.stringify([pathname, filters])
}

type Fault = NonNullable<ReturnType<Service["faults"]["next"]>>

interface ServiceSettings {
  readonly options: SandboxOptions
  readonly clock: VirtualClock
  readonly latencyMs: () => number
  readonly random: () => number
  /** Called for every request that is sent; false if the process that sends it is dead. */
  readonly onSend: () => boolean
  /** Whether a power cut could lose the answer, which was received. */
  readonly couldLose: (text: string) => boolean
  /** Answers requests to all other hosts. */
  readonly host: FileHost
  /** The id by which the clients know the location, if not its own: two accounts with the same seed have the same ids. */
  readonly knownAs?: string
}

export class SimulatedService extends Dispatcher {
  readonly service: Service
  readonly location: string
  glitch: Glitch | undefined
  /** The share of answers whose `Date` is none of the service's clock. */
  lies = 0
  /** Error messages repeat the token that was sent. */
  echoesToken = false
  /** Requests that followed an answer which was not durable yet. */
  tooEarly: Array<string> = []
  /** The requests of the present run. */
  sent: Array<Sent> = []
  #answeredBefore: ReadonlySet<string> = new Set()
  private refusedBefore = 0
  private readonly settings: ServiceSettings

  constructor(settings: ServiceSettings) {
    super()
    this.settings = settings
    this.service = createService(settings.options, new ServiceClock(settings.clock))
    this.location = settings.knownAs ?? this.service.world.context.locationId
  }

  /** The collections of which the process has ever received an answer with status 200. */
  answered(): ReadonlySet<string> {
    const now = this.sent.flatMap(({ received, route }) =>
      received?.status === 200 && route ? [route.collection] : []
    )
    return new Set([...this.#answeredBefore, ...now])
  }

  /** How many requests of the present run were over the limit. */
  get refused(): number {
    return this.service.statistics.refused429 - this.refusedBefore
  }

  beginRun(): void {
    this.#answeredBefore = this.answered()
    this.sent = []
    this.tooEarly = []
    this.refusedBefore = this.service.statistics.refused429
  }

  control(method: "GET" | "POST", path: string, body: unknown = {}): string {
    const url = new URL(`http://sandbox/__sandbox/${path}`)
    const result = control({ method, url, headers: {}, text: JSON.stringify(body) }, this.service)
    return typeof result === "string" ? result : [...result].join("")
  }

  /** Every record of a collection that is not deleted, by its id, as a single read returns it. */
  records(collection: string): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
    const lines = this.outward(this.control("GET", `records/${collection}`))
      .split("\n")
      .filter(Boolean)
    return new Map(
      lines.map((line) => {
        const record = JSON.parse(line)
        return [String(record.id ?? record._id), record]
      })
    )
  }

  private inward(text: string): string {
    return text.replaceAll(this.location, this.service.world.context.locationId)
  }
  private outward(text: string): string {
    return text.replaceAll(this.service.world.context.locationId, this.location)
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { clock, host, latencyMs, onSend } = this.settings
    if (!String(options.origin).startsWith("http://service")) return host.dispatch(options, handler)
    let over = false
    const controller = {
      paused: false,
      aborted: false,
      reason: null as Error | null,
      rawHeaders: null,
      rawTrailers: null,
      pause() {},
      resume() {},
      abort: (reason: Error) => end(() => handler.onResponseError?.(controller, reason))
    }
    const end = (how: () => void) => {
      if (over) return
      over = true
      how()
    }
    const reset = () =>
      end(() =>
        handler.onResponseError?.(controller, Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }))
      )
    handler.onRequestStart?.(controller, {})
    const sentAt = clock.now()
    if (over || !onSend()) return true
    const latency = latencyMs()
    const sent: Sent = {
      method: options.method,
      path: options.path,
      body: String(options.body ?? ""),
      route: routeOf(options.method, options.path),
      sentAt,
      at: clock.now(),
      isDisturbed: true
    }
    const before =
      sent.route?.kind === "list" &&
      onePages.has(sent.route?.collection ?? "") &&
      this.sent.findLast((one) => one.received && one.route === sent.route)
    // What was no answer is requested again and never stored, though its text may be part of something else.
    if (
      before &&
      !before.isDisturbed &&
      before.received!.status === 200 &&
      this.settings.couldLose(before.received!.text)
    )
      this.tooEarly.push(`sent before the page before it was durable: ${options.method} ${options.path}`)
    this.sent.push(sent)
    // A request arrives even if the process no longer waits for its response.
    clock.after(latency / 2, () => {
      sent.at = clock.now()
      const served = this.serve(options, sent)
      if (served === "hang") return
      if (served === "reset") return void clock.after(latency / 2, reset)
      const { answered, fault } = served
      const limits = this.service.limiter.headers()
      const headers = {
        ...Object.fromEntries(Object.entries(limits).map(([name, value]) => [name.toLowerCase(), value])),
        "content-type": answered.contentType ?? "application/json",
        ...this.dated(),
        ...(answered.status === 429 &&
          this.service.settings.retryAfter !== undefined && { "retry-after": String(this.service.settings.retryAfter) })
      }
      clock.after(latency / 2 + (fault?.kind === "slow" ? fault.ms : 0), () => {
        if (fault?.kind === "reset-after") return reset()
        if (over) return
        const bytes = Buffer.from(answered.text)
        const half = fault?.kind === "truncate" || fault?.kind === "reset-within"
        handler.onResponseStart?.(controller, answered.status, headers)
        handler.onResponseData?.(controller, half ? bytes.subarray(0, bytes.length >> 1) : bytes)
        if (fault?.kind === "reset-within") return reset()
        if (!half) Object.assign(sent, { received: answered, receivedAt: clock.now() })
        end(() => handler.onResponseEnd?.(controller, {}))
      })
    })
    return true
  }

  private dated(): Readonly<Record<string, string>> {
    const at = (ms: number) => new Date(this.service.clock.now() + ms).toUTCString()
    if (this.lies === 0 || this.settings.random() >= this.lies) return { date: at(0) }
    const days = 86_400_000
    return [{}, { date: "soon" }, { date: at(-3 * days), age: "259200" }, { date: at(3 * days) }, { date: at(-days) }][
      Math.floor(this.settings.random() * 5)
    ]!
  }

  private serve(
    { method, path, headers, body }: Dispatcher.DispatchOptions,
    sent: Sent
  ): { readonly answered: Answered; readonly fault?: Fault } | "hang" | "reset" {
    const { service } = this
    let fault: Fault | undefined
    const interrupt = () => {
      fault = service.faults.next(path.split("?")[0]!, service.clock.now())
      if (fault) applyBefore(fault)
    }
    const url = new URL(this.inward(path), "http://sandbox")
    const arrived = { method, url, headers: headers as Record<string, string>, text: this.inward(String(body ?? "")) }
    try {
      const { body: answeredBody, status = 200 } = answer(arrived, service, interrupt)
      const whole = typeof answeredBody === "string" ? answeredBody : JSON.stringify(answeredBody)
      const sentBody = service.faults.repeated(fault?.kind, listOf(url, arrived.text), whole)
      const right = { status, text: this.outward(String(sentBody)) }
      const answered = this.glitch ? glitched(right, this.glitch, sent.route, this.settings.random) : right
      // The first page of a list repeats none.
      const isHarmless = fault?.kind === "slow" || (fault?.kind === "repeat" && sentBody === whole)
      sent.isDisturbed = (fault !== undefined && !isHarmless) || answered !== right
      return { answered, ...(fault && { fault }) }
    } catch (error) {
      if (error instanceof Interruption) return error.kind === "hang" ? "hang" : "reset"
      if (error instanceof ErrorAnswer) return { answered: { status: 200, text: error.content.body } }
      if (!(error instanceof HttpError)) throw error
      // What the service says about the request itself is no disturbance.
      sent.isDisturbed = fault !== undefined || error.status === 429 || error.status >= 500
      const token = (headers as Record<string, string>)["authorization"]
      const echo = this.echoesToken ? { request: { headers: { authorization: token } } } : {}
      return { answered: { status: error.status, text: this.outward(JSON.stringify({ ...error.body, ...echo })) } }
    }
  }
}
