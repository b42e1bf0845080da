/** Reports what changed to the places that the settings name. A place that fails is a warning: the run is right without it. */
import * as Effect from "effect/Effect"
import { chmod, mkdir } from "node:fs/promises"
import { dirname } from "node:path"
import type { FailedRun } from "../../../alarms/alarm.ts"
import type { Facts } from "../../../alarms/facts.ts"
import type { Changes } from "../../../alarms/state.ts"
import { unlessRefused, writeAtomically } from "../../../output/files.ts"
import type { SignalSettings } from "../../../settings/signals.ts"
import { post } from "./http.ts"
import { mailText, sendMail } from "./mail.ts"
import { type Message, bodyOf, messageOf } from "./message.ts"
import { metricsText } from "./metrics.ts"

export interface Watched extends Changes {
  readonly now: number
  readonly failed: FailedRun | undefined
}

type Places = Pick<SignalSettings, "webhookUrl" | "webhookBody" | "mailTo" | "sendmail" | "metricsFile">

/** Returns a sentence for each place that could not be reached. */
export const report = (
  { webhookUrl, webhookBody, mailTo, sendmail, metricsFile }: Places,
  watched: Watched,
  facts: Facts | undefined,
  output: string
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const problems = await Promise.all([
      send({ webhookUrl, webhookBody, mailTo, sendmail }, messageOf(watched, output), watched),
      metricsFile && facts && named(metricsFile, write(metricsFile, metricsText(facts, watched.alarms, watched.failed)))
    ])
    return problems.flat().filter((problem) => typeof problem === "string")
  })

/** Returns a sentence for each place that did not get the message. */
export const send = async (
  { webhookUrl, webhookBody, mailTo, sendmail }: Omit<Places, "metricsFile">,
  message: Message | undefined,
  watched: Watched
): Promise<ReadonlyArray<string>> => {
  const problems = await Promise.all([
    message && webhookUrl && named("The webhook", post(webhookUrl, { body: bodyOf(message, watched, webhookBody) })),
    message && mailTo && named("The mail", sendMail(sendmail, mailText(message, mailTo, watched.now)))
  ])
  return problems.filter((problem) => typeof problem === "string")
}

const named = async (place: string, problem: Promise<string | undefined>): Promise<string | undefined> => {
  const found = await problem
  return found === undefined ? undefined : `${place} was not reached: ${found}.`
}

/** The collector runs as another user, and must never read half a file. */
const write = async (path: string, text: string): Promise<string | undefined> => {
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeAtomically(path, text)
    await unlessRefused(() => chmod(path, 0o644))
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}
