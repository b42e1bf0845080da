/** Where a run reports what it did. Everything is off by default. */
import {
  type Secret,
  type Section,
  type ValuesOf,
  absolutePath,
  mailAddress,
  setting,
  text
} from "../values/setting.ts"
import type { Environment } from "../values/environment.ts"

export const signalsSection = {
  heartbeat_url: setting(text, {
    environment: "SLUICE_HEARTBEAT_URL",
    secret: true,
    description:
      "Address that every run calls: with /start when it begins, without it after success, with /77 after exit code 77. Or a reference to it.",
    example: "env:HEARTBEAT_URL"
  }),
  webhook_url: setting(text, {
    environment: "SLUICE_WEBHOOK_URL",
    secret: true,
    description: "Address that receives a POST when alarms begin or end, or a reference to it.",
    example: "env:WEBHOOK_URL"
  }),
  webhook_body: setting(text, {
    description:
      "Body of that POST, with {title}, {text}, {state} and {level}; without it, a JSON object. See docs/signals.md for chat programs.",
    example: '{"text": "{text}"}'
  }),
  mail_to: setting(mailAddress, {
    description: "Address that receives a mail when alarms begin or end.",
    example: "operations@example.com"
  }),
  sendmail: setting(absolutePath, {
    description: "Program that sends this mail; it reads the mail from stdin, with the flags -i -t.",
    default: "/usr/sbin/sendmail"
  }),
  metrics_file: setting(absolutePath, {
    environment: "SLUICE_METRICS_FILE",
    description:
      "File that every run and check writes for the textfile collector of Prometheus; its name ends in .prom.",
    example: "/var/lib/prometheus/node-exporter/sluice.prom"
  }),
  openlineage_url: setting(text, {
    environment: "OPENLINEAGE_URL",
    secret: true,
    description: "Address of an OpenLineage server that every run reports its tables to, or a reference to it.",
    example: "https://lineage.example.com"
  }),
  openlineage_api_key: setting(text, {
    environment: "OPENLINEAGE_API_KEY",
    secret: true,
    description: "API key for this server, or a reference to it.",
    example: "env:LINEAGE_API_KEY"
  }),
  openlineage_file: setting(absolutePath, {
    description: "File to which every run appends its OpenLineage events, one on each line.",
    example: "/var/log/sluice/lineage.ndjson"
  }),
  openlineage_namespace: setting(text, {
    environment: "OPENLINEAGE_NAMESPACE",
    description: "Namespace of the OpenLineage jobs.",
    default: "sluice"
  })
} satisfies Section

type SignalValues = ValuesOf<typeof signalsSection>

export interface SignalSettings extends SignalValues {
  /** Whether heartbeats, alarms or metrics have a place. */
  readonly isOn: boolean
  readonly lineage: LineageSettings | undefined
  /** Whether the standard variables name an OpenTelemetry collector. */
  readonly isObserved: boolean
}

export interface LineageSettings {
  readonly url: Secret | undefined
  readonly apiKey: Secret | undefined
  readonly file: string | undefined
  /** Of the jobs. */
  readonly namespace: string
}

export const signalsOf = (signals: SignalValues, environment: Environment["Service"]): SignalSettings => {
  const { heartbeatUrl, mailTo, metricsFile, webhookUrl } = signals
  const {
    openlineageApiKey: apiKey,
    openlineageFile: file,
    openlineageNamespace: namespace,
    openlineageUrl: url
  } = signals
  const isTraced = (url ?? file) !== undefined && environment["OPENLINEAGE_DISABLED"] !== "true"
  return {
    ...signals,
    isOn: [heartbeatUrl, webhookUrl, mailTo, metricsFile].some((one) => one !== undefined),
    lineage: isTraced ? { url, apiKey, file, namespace } : undefined,
    isObserved: isObserved(environment)
  }
}

const isObserved = (environment: Environment["Service"]): boolean =>
  environment["OTEL_SDK_DISABLED"]?.trim().toLowerCase() !== "true" &&
  ["", "_TRACES", "_METRICS", "_LOGS"].some((signal) => environment[`OTEL_EXPORTER_OTLP${signal}_ENDPOINT`]?.trim())
