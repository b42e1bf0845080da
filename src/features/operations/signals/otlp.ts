/** Traces, metrics and logs to an OpenTelemetry collector, as the variables of its specification say. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Otlp from "effect/observability/Otlp"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import type { Environment } from "../../../settings/read.ts"
import { sluiceVersion } from "../../../values/version.ts"
import { deliver } from "./http.ts"

/** Exporters that nobody chose are `otlp`, as the specification says; here, an exporter has to be named. */
const defaults = {
  OTEL_SERVICE_NAME: "sluice",
  OTEL_TRACES_EXPORTER: "otlp",
  OTEL_METRICS_EXPORTER: "otlp",
  OTEL_LOGS_EXPORTER: "otlp"
}

/** The variables of OpenTelemetry; an empty one counts as not set. The service name of the attributes takes precedence. */
const variablesOf = (environment: Environment): Readonly<Record<string, string>> => {
  const given = Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith("OTEL_") && value !== undefined && value.trim() !== "" ? [[name, value.trim()] as const] : []
  )
  const { OTEL_SERVICE_NAME: serviceName, ...others } = defaults
  const isNamed = /(^|,)\s*service\.name\s*=/.test(environment["OTEL_RESOURCE_ATTRIBUTES"] ?? "")
  return { ...others, ...(!isNamed && { OTEL_SERVICE_NAME: serviceName }), ...Object.fromEntries(given) }
}

const protocols = {
  "http/protobuf": OtlpSerialization.layerProtobuf,
  "http/json": OtlpSerialization.layerJson
}

/** `undefined`: sluice does not speak the protocol. */
export const protocolOf = (environment: Environment) => {
  const protocol = environment["OTEL_EXPORTER_OTLP_PROTOCOL"]?.trim() || "http/protobuf"
  return Object.hasOwn(protocols, protocol) ? (protocol as keyof typeof protocols) : undefined
}

/** `onProblem` is called for each request that failed; the exporter then drops what it holds, and pauses for a minute. */
export const otlpLayer = (
  environment: Environment,
  protocol: keyof typeof protocols,
  onProblem: (problem: string) => void
) =>
  Otlp.layerFromConfig({ resource: { serviceVersion: sluiceVersion } }).pipe(
    Layer.provide([protocols[protocol], Layer.succeed(HttpClient.HttpClient, clientOf(onProblem))]),
    Layer.provide(Layer.succeed(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(variablesOf(environment))))
  )

/** Bounded in time. A failure is a defect, so the exporter does not try again by itself. */
const clientOf = (onProblem: (problem: string) => void) =>
  HttpClient.make((request, url) =>
    Effect.promise(async () => {
      const { body, headers } = request
      const bytes = body._tag === "Uint8Array" ? (body.body as Uint8Array<ArrayBuffer>) : ""
      const type = body._tag === "Uint8Array" && { "content-type": body.contentType }
      const problem = await deliver(url, { headers: { ...headers, ...type }, body: bytes })
      if (problem === undefined) return HttpClientResponse.fromWeb(request, new Response())
      onProblem(problem)
      throw new Error(problem)
    })
  )
