/** Reports a run to an OpenTelemetry collector: spans from the run to its requests, metrics, and the log. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as OtlpExporter from "effect/observability/OtlpExporter"
import { otlpLayer, protocolOf } from "./otlp.ts"
import { RunMetrics } from "./run-metrics.ts"
import { Environment } from "../../../values/environment.ts"
import { Output } from "../../../console/streams.ts"
import { warn } from "../../../console/findings.ts"
import type { End, Reporter } from "../../../command/features.ts"

/** How long the end waits for what is on its way. A request takes at most 6 s, with its repetition. */
const flushMsMax = 9000

export const beginTelemetry = Effect.gen(function* () {
  const environment = yield* Environment
  const { redacted } = yield* Output
  const nothing: Reporter = { services: Context.empty(), onEvent: undefined, end: () => Effect.void }
  const protocol = protocolOf(environment)
  if (protocol === undefined) {
    yield* warn(["OTEL_EXPORTER_OTLP_PROTOCOL names no protocol of sluice: choose http/protobuf or http/json."])
    return nothing
  }
  let problem: string | undefined
  const scope = yield* Scope.make()
  const registry = Context.make(Metric.MetricRegistry, new Map())
  const built = yield* Layer.buildWithScope(
    otlpLayer(environment, protocol, (one) => (problem = one)),
    scope
  ).pipe(Effect.provideContext(registry), Effect.exit)
  if (Exit.isFailure(built)) {
    yield* warn(["The variables of OpenTelemetry (OTEL_…) cannot be understood, so nothing is sent to its collector."])
    return nothing
  }
  const metrics = new RunMetrics(registry)
  const { flush } = Context.get(built.value, OtlpExporter.Flusher)
  const services = Context.empty().pipe(
    Context.add(Tracer.Tracer, tracerOf(Context.get(built.value, Tracer.Tracer), metrics)),
    Context.add(
      Logger.CurrentLoggers,
      loggersOf(yield* Logger.CurrentLoggers, Context.get(built.value, Logger.CurrentLoggers), redacted)
    )
  )
  const end = Effect.fnUntraced(function* ({ exitCode }: End) {
    metrics.ended(exitCode)
    const closing = yield* Effect.forkDetach(Effect.andThen(flush, Scope.close(scope, Exit.void)))
    const isSent = (yield* Effect.timeoutOption(Fiber.await(closing), flushMsMax))._tag === "Some"
    if (!isSent) problem ??= `it took more than ${flushMsMax / 1000} s`
    if (problem !== undefined) yield* warn([`The OpenTelemetry collector was not reached: ${problem}.`])
  })
  return { services, onEvent: (event) => metrics.after(event), end } satisfies Reporter
})

/** Spans without texts of the service, which may be personal data; and the duration of each request as a metric. */
const tracerOf = (tracer: Tracer.Tracer, metrics: RunMetrics): Tracer.Tracer => ({
  ...tracer,
  span: (options) => {
    const span = tracer.span(options)
    const endSpan = span.end.bind(span)
    span.end = (endTime, exit) => {
      const { startTime } = span.status
      endSpan(endTime, withoutTexts(exit))
      if (span.kind !== "client") return
      const shown = [...span.attributes].filter(([name]) => metricAttributes.has(name))
      const attributes = Object.fromEntries(shown.map(([name, value]) => [name, String(value)]))
      metrics.request(Number(endTime - startTime) / 1e9, attributes)
    }
    return span
  }
})

const metricAttributes = new Set(["http.request.method", "url.template", "http.response.status_code", "server.address"])

const withoutTexts = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return exit
  const error = Cause.squash(exit.cause)
  const tag = typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : "Error"
  const plain = Object.assign(new Error(tag), { name: tag })
  plain.stack = tag
  return Exit.fail(plain)
}

/** The new loggers get what the log shows: without secrets, and without stack traces. */
const loggersOf = (
  current: ReadonlySet<Logger.Logger<unknown, unknown>>,
  all: ReadonlySet<Logger.Logger<unknown, unknown>>,
  redacted: (text: string) => string
): ReadonlySet<Logger.Logger<unknown, unknown>> => {
  const added = [...all].filter((logger) => !current.has(logger))
  const clean = (value: unknown) => (typeof value === "string" ? redacted(value) : value)
  return new Set([
    ...current,
    ...added.map((logger) =>
      Logger.make((entry) => {
        const annotations = Object.entries(entry.fiber.getRef(References.CurrentLogAnnotations))
        const fiber = Object.create(entry.fiber, {
          getRef: {
            value: (reference: Context.Reference<unknown>) =>
              reference === (References.CurrentLogAnnotations as unknown)
                ? Object.fromEntries(annotations.map(([name, value]) => [name, clean(value)]))
                : entry.fiber.getRef(reference)
          }
        })
        return logger.log({ ...entry, fiber, message: [entry.message].flat().map(clean), cause: Cause.empty })
      })
    )
  ])
}
