/** The sandbox as a dispatcher, which responds to requests or interrupts them on the virtual clock, without a socket. */
import { Dispatcher } from "undici"
import { Clock } from "../../sandbox/account/clock.ts"
import { control } from "../../sandbox/control/control.ts"
import { HttpError } from "../../sandbox/http/errors.ts"
import { Interruption, applyBefore } from "../../sandbox/http/interruption.ts"
import type { SandboxOptions } from "../../sandbox/options.ts"
import { answer } from "../../sandbox/http/router.ts"
import { type Service, createService } from "../../sandbox/service.ts"
import type { VirtualClock } from "./clock.ts"

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

interface Answered {
  readonly status: number
  readonly text: string
  readonly fault?: { readonly kind: string; readonly ms: number }
}

export class SimulatedService extends Dispatcher {
  readonly service: Service
  private readonly clock: VirtualClock
  private readonly latencyMs: () => number
  /** Called for every request that is sent; false if the process that sends it is dead. */
  private readonly onSend: () => boolean

  constructor(options: SandboxOptions, clock: VirtualClock, latencyMs: () => number, onSend: () => boolean) {
    super()
    this.service = createService(options, new ServiceClock(clock))
    this.clock = clock
    this.latencyMs = latencyMs
    this.onSend = onSend
  }

  control(method: "GET" | "POST", path: string, body: unknown = {}): string {
    const url = new URL(`http://sandbox/__sandbox/${path}`)
    const result = control({ method, url, headers: {}, text: JSON.stringify(body) }, this.service)
    return typeof result === "string" ? result : [...result].join("")
  }

  /** Every record of a collection that is not deleted, by its id, as a single read returns it. */
  records(collection: string): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
    const lines = this.control("GET", `records/${collection}`).split("\n").filter(Boolean)
    return new Map(
      lines.map((line) => {
        const record = JSON.parse(line)
        return [String(record.id ?? record._id), record]
      })
    )
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
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
    if (over || !this.onSend()) return true
    const latency = this.latencyMs()
    // A request arrives even if the process no longer waits for its response.
    this.clock.after(latency / 2, () => {
      const answered = this.serve(options)
      if (answered === "hang") return
      if (answered === "reset") return void this.clock.after(latency / 2, reset)
      const { fault, status, text } = answered
      const limits = this.service.limiter.headers()
      const headers = {
        ...Object.fromEntries(Object.entries(limits).map(([name, value]) => [name.toLowerCase(), value])),
        "content-type": "application/json",
        date: new Date(this.service.clock.now()).toUTCString(),
        ...(status === 429 &&
          this.service.settings.retryAfter !== undefined && { "retry-after": String(this.service.settings.retryAfter) })
      }
      this.clock.after(latency / 2 + (fault?.kind === "slow" ? fault.ms : 0), () => {
        if (fault?.kind === "reset-after") return reset()
        if (over) return
        const bytes = Buffer.from(text)
        const half = fault?.kind === "truncate" || fault?.kind === "reset-within"
        handler.onResponseStart?.(controller, status, headers)
        handler.onResponseData?.(controller, half ? bytes.subarray(0, bytes.length >> 1) : bytes)
        if (fault?.kind === "reset-within") return reset()
        end(() => handler.onResponseEnd?.(controller, {}))
      })
    })
    return true
  }

  private serve({ method, path, headers, body }: Dispatcher.DispatchOptions): Answered | "hang" | "reset" {
    const { service } = this
    let fault: ReturnType<Service["faults"]["next"]>
    const interrupt = () => {
      fault = service.faults.next(path, service.clock.now())
      if (fault) applyBefore(fault)
    }
    const arrived = {
      method,
      url: new URL(path, "http://sandbox"),
      headers: headers as Record<string, string>,
      text: String(body ?? "")
    }
    try {
      const { body: answered, status = 200 } = answer(arrived, service, interrupt)
      const text = typeof answered === "string" ? answered : JSON.stringify(answered)
      return { status, text, ...(fault && { fault }) }
    } catch (error) {
      if (error instanceof Interruption) return error.kind === "hang" ? "hang" : "reset"
      if (!(error instanceof HttpError)) throw error
      return { status: error.status, text: JSON.stringify(error.body) }
    }
  }
}
