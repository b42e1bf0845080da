/** Names of the settings that turn on optional resources. */
import type { OptionalSettings } from "../settings/table.ts"

export type OptionalSetting = keyof OptionalSettings
export type BooleanSetting = {
  [Name in OptionalSetting]: OptionalSettings[Name] extends boolean ? Name : never
}[OptionalSetting]
