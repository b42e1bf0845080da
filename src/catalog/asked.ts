/** What is read only where the settings ask for it. */
import type { ChildOf, Resource } from "./resource.ts"

/** Settings that decide what is read, by their names in the settings file. */
export interface Asked {
  readonly object_keys: ReadonlyArray<string>
  readonly recurring_task_ids: ReadonlyArray<string>
  /** Days ahead; 0: none. */
  readonly free_slot_days: number
  readonly contact_details: boolean
  readonly conversation_messages: boolean
}
export type SettingName = keyof Asked
export type BooleanSetting = "contact_details" | "conversation_messages"

/** The resource as far as the settings want it read, if at all. */
export const asAsked = (resource: Resource, asked: Asked): Resource | undefined => {
  if (!isSet(resource.enabledBy, asked)) return undefined
  const { detail, childOf, ...list } = resource
  return {
    ...list,
    ...(detail && isSet(detail.enabledBy, asked) && { detail }),
    ...(childOf && { childOf: childOf.some && asked[childOf.some.unless] ? underAll(childOf) : childOf })
  }
}

/** Under every row, where it would be under some. */
const underAll = (childOf: ChildOf): ChildOf => {
  const { where: _, some: __, ...all } = childOf
  return all
}

const isSet = (setting: SettingName | undefined, asked: Asked): boolean => {
  const value = setting === undefined || asked[setting]
  return typeof value === "object" ? value.length > 0 : Number(value) > 0
}
