/** The settings that the file may contain several times: `[[locations]]`, `[[publish]]` and `[[silence]]`. */
import { formatNames } from "../stores/formats/formats.ts"
import { profiles } from "./profiles.ts"
import { alarmName, anyOf, date, enumeration, text, textList } from "./kinds.ts"
import { locationSettings } from "./sections.ts"
import { type Setting, setting } from "./setting.ts"

/** The settings of one of several folders to publish into. */
export const targetSettings = {
  name: setting(text, { description: "Name of the target in messages.", example: "analysts" }),
  folder: setting(text, {
    description: "Folder of the target; becomes a link to its newest release.",
    example: "/srv/analysts/crm"
  }),
  profile: setting(enumeration(profiles), {
    description:
      "What personal data it contains: everything (raw), masked values (masked), keyed pseudonyms (analytics), or no rows about persons (aggregate).",
    example: "analytics"
  }),
  formats: setting(anyOf(["duckdb", ...formatNames]), {
    description: "Formats to publish; without it, output.formats.",
    example: ["duckdb", "parquet"]
  }),
  tables: setting(textList, {
    description: "Tables to publish, with their child tables; without it, all tables.",
    example: ["contacts", "opportunities"]
  })
} satisfies Readonly<Record<string, Setting>>

interface SettingList {
  readonly settings: Readonly<Record<string, Setting>>
  /** Settings that each item must have. */
  readonly required: ReadonlyArray<string>
  /** Completes "[[locations]], once for each …". */
  readonly item: string
  /** One sentence. */
  readonly description: string
}

/** The settings of an alarm that is known and not to be heard of. */
export const silenceSettings = {
  alarm: setting(alarmName, {
    description: "Kind of the alarm, or the alarm itself as ./sluice check names it.",
    example: "freshness:contacts"
  }),
  reason: setting(text, { description: "Why nobody needs to hear of it.", example: "The form is closed." }),
  until: setting(date, { description: "Last day of the silence, in UTC.", example: "2027-01-31" })
} satisfies Readonly<Record<string, Setting>>

export const lists = {
  locations: {
    settings: locationSettings,
    required: ["id"],
    item: "location",
    description: "Several locations in one run, each with its own rate limit."
  },
  publish: {
    settings: targetSettings,
    required: ["name", "folder", "profile"],
    item: "folder",
    description: "Further folders to publish into, each with its profile of personal data: see docs/masking.md."
  },
  silence: {
    settings: silenceSettings,
    required: ["alarm", "reason", "until"],
    item: "alarm",
    description: "Alarms that are shown and not reported, each with a reason and an end: see docs/alarms.md."
  }
} satisfies Readonly<Record<string, SettingList>>

export type ListName = keyof typeof lists
export const listNames = Object.keys(lists) as ReadonlyArray<ListName>
export const listOf = (name: ListName): SettingList => lists[name]
