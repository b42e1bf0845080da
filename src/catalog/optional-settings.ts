/** Names of the settings that enable what is not read by default. */
import type { OptionalSettings } from "../settings/table.ts"

export type OptionalSetting = keyof OptionalSettings
export type BooleanSetting = {
  [Name in OptionalSetting]: OptionalSettings[Name] extends boolean ? Name : never
}[OptionalSetting]
