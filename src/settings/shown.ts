/** Every setting with its value and its source, without secrets. */
import type { SettingProblem } from "./errors.ts"
import type { Settings } from "./read.ts"
import { shownSecret } from "./secrets.ts"
import { allSettings } from "./table.ts"

export interface ShownSetting {
  /** `output.folder`. */
  readonly setting: string
  /** Absent if the setting has no value. */
  readonly value?: string
  /** `missing` if a command that reads an account needs it, `not set` if it is optional. */
  readonly from: "flag" | "environment" | "file" | "default" | "missing" | "not set"
  /** The flag, the variable, or the file with the line. */
  readonly place?: string
}

export const shownSettings = (
  { locations, placeOf, silences, sources, targets }: Settings,
  problems: ReadonlyArray<SettingProblem>
): ReadonlyArray<ShownSetting> => {
  const missing = new Set(
    problems.map((problem) =>
      problem._tag === "Missing" ? problem.path : problem._tag === "NoCredentials" ? "account.token" : ""
    )
  )
  const listed = (list: string, items: ReadonlyArray<object>) =>
    items.flatMap((item, index) =>
      Object.entries(item).map(([key, value]): ShownSetting => {
        const setting = `${list}[${index}].${key}`
        return { setting, value: [value].flat().join(", "), from: "file", place: placeOf(setting) }
      })
    )
  return [
    ...allSettings.map(({ path }): ShownSetting => {
      const source = sources.find((one) => one.path === path)
      if (!source) return { setting: path, from: missing.has(path) ? "missing" : "not set" }
      const { from, name, shown } = source
      return { setting: path, value: shown, from, ...(name !== "" && { place: name }) }
    }),
    ...locations.flatMap((location, index) =>
      Object.entries(location).map(([key, value]): ShownSetting => {
        const setting = `locations[${index}].${key}`
        return { setting, value: key === "token" ? shownSecret(value) : value, from: "file", place: placeOf(setting) }
      })
    ),
    ...listed("publish", targets),
    ...listed("silence", silences)
  ]
}
