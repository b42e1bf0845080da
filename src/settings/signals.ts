/** Where a run reports what it did. Everything is off by default. */
import {
  type Section,
  type ValuesOf,
  absolutePath,
  enumeration,
  mailAddress,
  setting,
  text
} from "../values/setting.ts"
import type { Place } from "../alarms/state.ts"
import type { scheduleSection } from "./console.ts"

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
      "Body of that POST, with {title}, {text}, {state} and {level}; without it, a JSON object. See docs/every-night.md for chat programs.",
    example: '{"text": "{text}"}'
  }),
  mail_to: setting(mailAddress, {
    description: "Address that receives a mail when alarms begin or end.",
    example: "operations@example.com"
  }),
  digest: setting(enumeration(["daily", "weekly"]), {
    description:
      "How often a sync also says to these two places how things stand, when all is well: what was read, which alarms stand, when the next run is.",
    example: "daily"
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
  })
} satisfies Section

type SignalValues = ValuesOf<typeof signalsSection>

export interface SignalSettings extends SignalValues {
  /** Whether heartbeats, alarms or metrics have a place. */
  readonly isOn: boolean
  /** The times of `[schedule]` at which `serve` starts a sync, in words; absent without them. */
  readonly runsAt?: string
}

/** The places that get alarms and digests. */
export const placesOf = ({ mailTo, webhookUrl }: Pick<SignalValues, "mailTo" | "webhookUrl">): ReadonlyArray<Place> => [
  ...(webhookUrl === undefined ? [] : (["webhook"] as const)),
  ...(mailTo === undefined ? [] : (["mail"] as const))
]

export const signalsOf = (
  signals: SignalValues,
  { paused, times, timeZone }: ValuesOf<typeof scheduleSection>
): SignalSettings => {
  const { heartbeatUrl, mailTo, metricsFile, webhookUrl } = signals
  return {
    ...signals,
    ...(times.length > 0 &&
      !paused && { runsAt: `${times.join(", ")}${timeZone === undefined ? "" : ` (${timeZone})`}` }),
    isOn: [heartbeatUrl, webhookUrl, mailTo, metricsFile].some((one) => one !== undefined)
  }
}
