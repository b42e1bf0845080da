/** Optional resources, children and details: sluice reads them only if a setting turns them on. */
import type { OptionalSetting, OptionalSettings } from "./optional-settings.ts"
import { type ChildOf, type Resource, type SingleReads, childRequestOf, settingOf } from "./resource.ts"

export const singleReads: ReadonlyArray<SingleReads> = ["night", "never"]

/** The resource without the parts that the settings turn off; undefined if they turn off all of it. */
export const enabledPart = (resource: Resource, settings: OptionalSettings): Resource | undefined => {
  if (!isEnabled(settingOf(resource), settings) || resource.withheld?.isNotRead) return undefined
  if (isNeverRequested(resource)) return listPart(resource)
  switch (resource.kind) {
    case "list": {
      const { detail, childOf, ...list } = resource
      return {
        ...list,
        ...(detail && isEnabled(detail.enabledBy, settings) && { detail }),
        ...(childOf && { childOf: enabledParents(childOf, settings) })
      }
    }
    case "child":
      return { ...resource, childOf: enabledParents(resource.childOf, settings) }
    case "embedded":
    case "files":
      return resource
  }
}

export const isNeverRequested = (resource: Resource): boolean =>
  resource.singleReads === "never" && childRequestOf(resource) !== undefined

/** Its requests for each record cost more than most accounts have of it: they are sent only if the settings say so. */
export const isOffer = ({ singleReads, unproven }: Resource): boolean => unproven === true && singleReads === "never"

/** Where the settings file says when its single records are read. */
export const singleReadsPath = (resource: Resource): string =>
  isOffer(resource)
    ? `off, unless ${offerPath(resource)}`
    : `details = "${resource.singleReads}" in [tables.${resource.table}]`

/** What turns it on. */
export const offerPath = ({ table }: Resource): string => `details = "night" in [tables.${table}]`

export const singleReadsText = (resource: Resource): string =>
  `${childRequestOf(resource)?.label}: requests for each record are ${
    resource.singleReads === "never" ? "never sent" : "sent by one sync a day"
  } (${singleReadsPath(resource)})`

/** What takes no request for each record; undefined if nothing of the resource does. */
export const listPart = (resource: Resource): Resource | undefined => {
  if (resource.kind === "embedded") return resource
  if (resource.kind !== "list") return undefined
  const { detail: _, childOf, ...list } = resource
  return { ...list, ...(childOf && { isListAlone: true }) }
}

const enabledParents = (childOf: ChildOf, settings: OptionalSettings): ChildOf =>
  childOf.partial && settings[childOf.partial.unless] ? underAllParents(childOf) : childOf

const underAllParents = (childOf: ChildOf): ChildOf => {
  const { where: _, partial: __, ...all } = childOf
  return all
}

const isEnabled = (setting: OptionalSetting | undefined, settings: OptionalSettings): boolean => {
  const value = setting === undefined || settings[setting]
  return typeof value === "object" ? value.length > 0 : Number(value) > 0
}
