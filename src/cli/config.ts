/** `sluice config`: shows the settings and where they come from, and checks them without a request. */
import * as Effect from "effect/Effect"
import { exitCodes } from "../values/failure.ts"
import type { Flags, Settings } from "../settings/read.ts"
import { type SettingProblem, isMissing, settingOf } from "../settings/errors.ts"
import { allSettings } from "../settings/sections.ts"
import { counted } from "../values/finding.ts"
import { checkedSettings } from "../command/prologue.ts"
import { table } from "../console/streams.ts"
import { info, shown } from "../console/result.ts"
import { problemSentence } from "../console/setting-errors.ts"

/** Wrong and missing settings do not stop it: the table shows what a command would use. */
export const configShow = Effect.fn("command.configShow")(function* (flags: Flags) {
  const { all: problems, settings } = yield* checkedSettings(flags)
  const found = shownSettings(settings, problems)
  const next = problems.length > 0 ? "./sluice config validate" : "./sluice doctor"
  const data = { file: settings.file, settings: found, problems: problems.length }
  return shown("config-show", { exitCode: 0, next, data }, function* () {
    yield* table(
      ["setting", "value", "from"],
      found.map(({ setting, value, from, place }) => [setting, value ?? "", place ?? from])
    )
    if (problems.length > 0) yield info(`${counted(problems.length, "problem")} in these settings.`)
  })
})

/** Sends no request, but runs the commands of `cmd:` references, as every command that needs the secret does. */
export const configValidate = Effect.fn("command.configValidate")(function* (flags: Flags) {
  const { all, settings } = yield* checkedSettings(flags)
  const sentences = all.map(problemSentence)
  const exitCode = sentences.length === 0 ? 0 : exitCodes.config
  const next = sentences.length === 0 ? "./sluice doctor" : "correct this, then ./sluice config validate"
  const data = { file: settings.file, problems: sentences, settings: all.map(settingOf) }
  return shown("config-validate", { exitCode, next, data }, () =>
    sentences.length === 0 ? ["The settings are valid."] : sentences
  )
})

/** Every setting with its value and its source, without secrets. */
const shownSettings = ({ sources }: Settings, problems: ReadonlyArray<SettingProblem>) => {
  const missing = new Set(problems.filter(isMissing).map(settingOf))
  const paths = new Set([...allSettings, ...sources].map(({ path }) => path))
  return [...paths].map((setting) => {
    const source = sources.find(({ path }) => path === setting)
    // Missing if a command that reads an account needs it.
    const absent = missing.has(setting) ? ("missing" as const) : ("not set" as const)
    return { setting, value: source?.shown, from: source?.from ?? absent, place: source?.name || undefined }
  })
}
