/** The settings of section `[signals]`: where a run reports what it did. Everything is off by default. */
import { absolutePath, mailAddress, text } from "./kinds.ts"
import { type Setting, setting } from "./setting.ts"

export const signalSettings = {
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
} satisfies Readonly<Record<string, Setting>>
