/** Where a run reports what it did, as the settings say. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { SettingProblem } from "./errors.ts"
import type { Environment, Settings } from "./read.ts"
import { secretReader } from "./secrets.ts"

/** Read when it is needed, because a reference may run a command. */
export type SecretText = () => Result.Result<Redacted.Redacted, SettingProblem>

export interface SignalSettings {
  /** Whether heartbeats, alarms or metrics have a place. */
  readonly isOn: boolean
  readonly heartbeat: SecretText | undefined
  readonly webhook: SecretText | undefined
  readonly webhookBody: string | undefined
  readonly mailTo: string | undefined
  readonly sendmail: string
  readonly metricsFile: string | undefined
  readonly lineage: LineageSettings | undefined
  /** Whether the standard variables name an OpenTelemetry collector. */
  readonly isObserved: boolean
}

export interface LineageSettings {
  readonly url: SecretText | undefined
  readonly apiKey: SecretText | undefined
  readonly file: string | undefined
  /** Of the jobs. */
  readonly namespace: string
}

export const signalsOf = ({ values: { signals } }: Settings, environment: Environment): SignalSettings => {
  const secret = secretReader(environment)
  const urlOf = (
    key: "heartbeat_url" | "webhook_url" | "openlineage_url" | "openlineage_api_key"
  ): SecretText | undefined => {
    const reference = signals[key]
    return reference === undefined ? undefined : () => secret(reference, `signals.${key}`)
  }
  const { mail_to: mailTo, metrics_file: metricsFile, webhook_body: webhookBody, sendmail } = signals
  const [heartbeat, webhook] = [urlOf("heartbeat_url"), urlOf("webhook_url")]
  const isOn = [heartbeat, webhook, mailTo, metricsFile].some((one) => one !== undefined)
  const [url, apiKey] = [urlOf("openlineage_url"), urlOf("openlineage_api_key")]
  const { openlineage_file: file, openlineage_namespace: namespace } = signals
  const isTraced = (url ?? file) !== undefined && environment["OPENLINEAGE_DISABLED"] !== "true"
  const lineage = isTraced ? { url, apiKey, file, namespace } : undefined
  return {
    isOn,
    heartbeat,
    webhook,
    webhookBody,
    mailTo,
    sendmail,
    metricsFile,
    lineage,
    isObserved: isObserved(environment)
  }
}

const isObserved = (environment: Environment): boolean =>
  environment["OTEL_SDK_DISABLED"]?.trim().toLowerCase() !== "true" &&
  ["", "_TRACES", "_METRICS", "_LOGS"].some((signal) => environment[`OTEL_EXPORTER_OTLP${signal}_ENDPOINT`]?.trim())
