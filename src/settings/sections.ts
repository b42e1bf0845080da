/**
 * Every setting, once. Reading, error messages, the flags' help, `doctor`, config/example.toml and its JSON
 * Schema come from this table, and so do the types of the values. A new setting is an entry, here or in the file of its section,
 * and its use: what a command gets as settings has `values.budget.burst` of `budget.burst`.
 */
import * as Struct from "effect/Struct"
import { alarmsSection } from "../alarms/alarms.ts"
import { singleReads } from "../catalog/optional.ts"
import { silenceSettings } from "../alarms/silence.ts"
import { personalDataClasses } from "../catalog/personal-data.ts"
import {
  type CamelCase,
  type ItemOf,
  type Section,
  type Setting,
  type ValuesOf,
  anyOf,
  boolean,
  enumeration,
  folder,
  place,
  numberFrom,
  oneOfByName,
  period,
  periodsByName,
  setting,
  text,
  textList
} from "../values/setting.ts"
import { accountSection, budgetSection, deletionsSection, filesSection, locationSettings } from "./account.ts"
import { consoleSection, scheduleSection } from "./console.ts"
import { fleetSection } from "./fleet.ts"
import { maskingSection } from "./masking.ts"
import { schemaSection } from "./schema-policy.ts"
import { signalsSection } from "./signals.ts"
import { fileFormats, targetSettings } from "./targets.ts"

/** By section and key, as in the settings file. */
export const sections = {
  account: accountSection,
  budget: budgetSection,
  output: {
    folder: setting(place, {
      environment: "SLUICE_OUTPUT",
      flag: "output",
      description:
        "Folder of the vault, the warehouse and the published files. Without it, the folder output in the current folder.",
      default: "output",
      example: "/srv/sluice/output"
    }),
    formats: setting(anyOf(fileFormats), {
      environment: "SLUICE_FORMATS",
      description: "Formats to publish. An empty list publishes nothing; in the variable, write none.",
      default: ["duckdb", "parquet", "csv"]
    })
  },
  files: filesSection,
  pipelines: {
    folder: setting(folder, {
      environment: "SLUICE_PIPELINES",
      description: "Folder of your own definitions, which are read beside those of sluice; see docs/own-pipelines.md.",
      example: "../my-pipelines"
    })
  },
  models: {
    build: setting(boolean, {
      environment: "SLUICE_MODELS",
      description: "Build the BI models with each release, in schema bi of crm.duckdb, Parquet and CSV.",
      default: true
    }),
    folder: setting(folder, {
      description: "Folder of your own models; its SQL files are built like those of sluice.",
      example: "../my-models"
    })
  },
  schema: schemaSection,
  personal_data: {
    custom_fields: setting(oneOfByName(personalDataClasses), {
      description:
        "Class of personal data of single custom fields, by their key. Without it, a custom field counts as direct.",
      default: {},
      example: { "contact.loyalty_level": "none" }
    }),
    exclude_classes: setting(anyOf(personalDataClasses.filter((one) => one !== "none")), {
      description: "Classes of personal data that are never stored, in any table; see docs/person.md.",
      default: [],
      example: ["sensitive", "content"]
    }),
    exclude_custom_fields: setting(textList, {
      description: "Custom fields whose values are never stored, in any table, by their key.",
      default: [],
      example: ["contact.passport_number"]
    })
  },
  retention: {
    periods: setting(periodsByName, {
      description: "How long records of a table are kept; ./sluice retention erases older ones.",
      default: {},
      example: { messages: "24 months" }
    })
  },
  listen: {
    secret: setting(text, {
      environment: "SLUICE_LISTEN_SECRET",
      secret: true,
      description: "Secret that the events for ./sluice listen carry, or a reference to it.",
      example: "env:LISTEN_SECRET"
    })
  },
  prune: {
    history: setting(period, {
      description: "How long ./sluice prune keeps earlier versions of rows. Without it, they are kept for ever.",
      example: "24 months"
    }),
    compact_vault_after: setting(period, {
      description:
        "Age from which ./sluice prune removes responses from the vault that repeat earlier ones. Without it, they are kept.",
      example: "90 days"
    })
  },
  masking: maskingSection,
  deletions: deletionsSection,
  alarms: alarmsSection,
  signals: signalsSection,
  fleet: fleetSection,
  schedule: scheduleSection,
  console: consoleSection,
  machine: {
    memory_mb: setting(numberFrom(96), {
      description:
        "Memory for DuckDB, in megabytes; the process needs 300 to 400 MB more. If the machine has it free, a large warehouse, or a single statement, gets up to eight times as much.",
      default: 128
    })
  }
} satisfies Readonly<Record<string, Section>>

type Sections = typeof sections
export type SettingValues = {
  readonly [Name in keyof Sections as CamelCase<Name>]: ValuesOf<Sections[Name]>
}

interface SettingList {
  readonly settings: Section
  /** The items are sections with names of their own, such as `[tables.contacts]`. */
  readonly isNamed?: true
  /** Settings that each item must have. */
  readonly required: ReadonlyArray<string>
  /** Completes "[[locations]], once for each …". */
  readonly item: string
  /** One sentence. */
  readonly description: string
}

/** What of a table is never stored, and when its single records are read. */
const tableSettings = {
  details: setting(enumeration(singleReads), {
    description:
      "When the requests for each record are sent, such as those for notes or the lines of invoices: by one sync a day (night) or never. Without it, by every sync, but not those that plan offers.",
    example: "night"
  }),
  exclude: setting(textList, {
    description: "Columns and child tables that are never stored.",
    example: ["ssn", "date_of_birth"]
  }),
  only: setting(textList, {
    description:
      "The only columns and child tables that are stored, beside those that sluice needs; no unknown field is stored.",
    alternative: true,
    example: ["first_name", "contact_tags"]
  }),
  hash: setting(textList, {
    description: "Columns of which only a keyed hash is stored; it needs masking.key.",
    example: ["email"]
  })
} satisfies Section

/** The settings that the file may contain several times. */
export const lists = {
  locations: {
    settings: locationSettings,
    required: ["id"],
    item: "location",
    description: "Several locations in one run, each with its own rate limit."
  },
  publish: {
    settings: targetSettings,
    required: ["name", "profile"],
    item: "target",
    description:
      "Further folders, buckets, databases and lakes to publish into, each with its profile of personal data: see docs/hand-out.md and docs/destinations.md."
  },
  tables: {
    settings: tableSettings,
    isNamed: true,
    required: [],
    item: "table",
    description:
      "What of a table is never stored (docs/person.md), and when its single records are read (docs/operations.md)."
  },
  silence: {
    settings: silenceSettings,
    required: ["alarm", "reason", "until"],
    item: "alarm",
    description: "Alarms that are shown and not reported, each with a reason and an end: see docs/every-night.md."
  }
} satisfies Readonly<Record<string, SettingList>>

export type ListName = keyof typeof lists
export const listNames: ReadonlyArray<ListName> = Struct.keys(lists)
export const listOf = (name: ListName): SettingList => lists[name]
/** Where an item is in the file: `tables.contacts` or `publish[0]`. */
export const placeOfItem = (list: ListName, index: number, name: unknown): string =>
  listOf(list).isNamed ? `${list}.${String(name)}` : `${list}[${index}]`
export type ListedItems = {
  readonly [Name in ListName]: ReadonlyArray<
    ItemOf<(typeof lists)[Name]["settings"]> &
      ((typeof lists)[Name] extends { readonly isNamed: true } ? { readonly name: string } : unknown)
  >
}

export interface PlacedSetting extends Setting {
  /** The name in messages: `output.folder`. */
  readonly path: string
  readonly section: string
  readonly key: string
}

export const allSettings: ReadonlyArray<PlacedSetting> = Object.entries(sections).flatMap(([section, settings]) =>
  Object.entries<Setting>(settings).map(([key, one]) => ({ ...one, path: `${section}.${key}`, section, key }))
)
