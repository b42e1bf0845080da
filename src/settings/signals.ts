/** Where a run reports what it did, as the settings say. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { SettingProblem } from "./errors.ts"
import type { Environment, Settings } from "./read.ts"
import { secretReader } from "./secrets.ts"

/** Read when it is needed, because a reference may run a command. */
export type SecretUrl = () => Result.Result<Redacted.Redacted, SettingProblem>

export interface SignalSettings {
  /** Whether there is anything to report to. */
  readonly isOn: boolean
  readonly heartbeat: SecretUrl | undefined
  readonly webhook: SecretUrl | undefined
  readonly webhookBody: string | undefined
  readonly mailTo: string | undefined
  readonly sendmail: string
  readonly metricsFile: string | undefined
}

export const signalsOf = ({ values: { signals } }: Settings, environment: Environment): SignalSettings => {
  const secret = secretReader(environment)
  const urlOf = (key: "heartbeat_url" | "webhook_url"): SecretUrl | undefined => {
    const reference = signals[key]
    return reference === undefined ? undefined : () => secret(reference, `signals.${key}`)
  }
  const { mail_to: mailTo, metrics_file: metricsFile, webhook_body: webhookBody, sendmail } = signals
  const [heartbeat, webhook] = [urlOf("heartbeat_url"), urlOf("webhook_url")]
  const isOn = [heartbeat, webhook, mailTo, metricsFile].some((one) => one !== undefined)
  return { isOn, heartbeat, webhook, webhookBody, mailTo, sendmail, metricsFile }
}
