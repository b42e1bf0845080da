/**
 * What the status says in words, as a release of the profile has it. The status describes the warehouse, where nothing is
 * masked: a text can quote the service, and a figure can be about few persons.
 */
import type { ShownAlarm } from "../../../run/console/alarm-lines.ts"
import type { ProfileName } from "../../../settings/masking.ts"
import { isPlainText } from "../../../stages/publish/masking/meta-tables.ts"

type Alarm = typeof ShownAlarm.Type

/** A run is named by its time, which is about no person. */
const withoutRuns = (text: string): string => text.replaceAll(/\b\d{8}T\d{9}Z\b/g, "")

export const maskedWarnings = (profile: ProfileName, warnings: ReadonlyArray<string>): ReadonlyArray<string> =>
  profile === "raw" ? warnings : profile === "aggregate" ? [] : warnings.filter((one) => isPlainText(withoutRuns(one)))

export const maskedAlarms = (profile: ProfileName, alarms: ReadonlyArray<Alarm>): ReadonlyArray<Alarm> =>
  alarms.map((alarm) => {
    const isShown = profile === "raw" || (profile !== "aggregate" && isPlainText(withoutRuns(alarm.message)))
    return isShown ? alarm : { ...alarm, message: `not shown with the profile ${profile}; ./sluice check shows it` }
  })
