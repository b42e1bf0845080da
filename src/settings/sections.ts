/**
 * Every setting, once. Reading, error messages, the flags' help, `doctor`, docs/configuration.md, config/example.toml and its JSON
 * Schema come from this table. A new setting is an entry here and its use.
 */
import { formatNames } from "../stores/formats/formats.ts"
import { optionalSettings } from "../catalog/optional-settings.ts"
import { schemaPolicyNames } from "../catalog/schema-policy.ts"
import { personalDataClasses } from "../catalog/personal-data.ts"
import { lakeSettings } from "./lake-settings.ts"
import { alarmSettings } from "./alarms.ts"
import { fleetSettings } from "./fleet-settings.ts"
import { signalSettings } from "./signal-settings.ts"
import {
  anyOf,
  boolean,
  httpAddress,
  numberFrom,
  enumeration,
  keyId,
  oneOfByName,
  periodsByName,
  positiveNumber,
  share,
  text,
  textList,
  period
} from "./kinds.ts"
import { type Setting, setting } from "./setting.ts"

const listenSettings = {
  secret: setting(text, {
    environment: "SLUICE_LISTEN_SECRET",
    secret: true,
    description: "Secret that the events for ./sluice listen carry, or a reference to it.",
    example: "env:LISTEN_SECRET"
  })
}

const pruneSettings = {
  history: setting(period, {
    description: "How long ./sluice prune keeps earlier versions of rows. Without it, they are kept for ever.",
    example: "24 months"
  }),
  compact_vault_after: setting(period, {
    description:
      "Age from which ./sluice prune removes responses from the vault that repeat earlier ones. Without it, they are kept.",
    example: "90 days"
  })
}

/** The schema policies; see catalog/schema-policy.ts. */

/** The settings of one of several locations, in the file. */
export const locationSettings = {
  id: setting(text, { description: "Id of the location to read.", example: "northLocationId" }),
  token: setting(text, {
    secret: true,
    description: "Token of the location; without it, the account's token.",
    example: "env:NORTH_TOKEN"
  }),
  company_id: setting(text, {
    description: "Company that owns the location; without it, the account's company.",
    example: "companyId"
  })
} satisfies Readonly<Record<string, Setting>>

/** By section and key, as in the settings file. */
export const sections = {
  account: {
    base_url: setting(httpAddress, {
      environment: "SLUICE_BASE_URL",
      flag: "baseUrl",
      description: "Address of the API.",
      example: "https://api.example.com"
    }),
    location_id: setting(text, {
      environment: "SLUICE_LOCATION_ID",
      flag: "location",
      description: "Location to read; the flag and the variable take several, separated by commas.",
      example: "locationId"
    }),
    company_id: setting(text, {
      environment: "SLUICE_COMPANY_ID",
      description:
        "Company that owns the location; without it, sluice reads it from the location if the token has access.",
      example: "companyId"
    }),
    token: setting(text, {
      environment: "SLUICE_TOKEN",
      secret: true,
      description: "Private integration token, or a reference to it: env:NAME, file:/path or cmd:command.",
      example: "env:CRM_TOKEN"
    }),
    client_id: setting(text, {
      environment: "SLUICE_CLIENT_ID",
      description: "Client id of an OAuth app, which replaces the token.",
      example: "clientId"
    }),
    client_secret: setting(text, {
      environment: "SLUICE_CLIENT_SECRET",
      secret: true,
      description: "Client secret of the OAuth app, or a reference to it.",
      example: "env:CRM_CLIENT_SECRET"
    }),
    refresh_token: setting(text, {
      environment: "SLUICE_REFRESH_TOKEN",
      secret: true,
      description:
        "First refresh token of the OAuth app; sluice keeps the newest one in tokens.json in the output folder.",
      example: "file:/run/secrets/refresh_token"
    }),
    object_keys: setting(textList, {
      environment: "SLUICE_OBJECT_KEYS",
      description: "Keys of the objects whose fields and folders are read.",
      default: optionalSettings.object_keys.off,
      example: ["custom_objects.project"]
    }),
    recurring_task_ids: setting(textList, {
      environment: "SLUICE_RECURRING_TASK_IDS",
      description: "Ids of the recurring tasks that are read.",
      default: optionalSettings.recurring_task_ids.off,
      example: ["recurringTaskId"]
    }),
    free_slot_days: setting(numberFrom(0), {
      environment: "SLUICE_FREE_SLOT_DAYS",
      description: "Number of days, from now, for which free slots are read; 0 reads none.",
      default: optionalSettings.free_slot_days.off,
      example: 14
    }),
    conversation_messages: setting(boolean, {
      environment: "SLUICE_CONVERSATION_MESSAGES",
      description: "Read the messages of each new or changed conversation with a request of its own.",
      default: optionalSettings.conversation_messages.off
    }),
    contact_details: setting(boolean, {
      environment: "SLUICE_CONTACT_DETAILS",
      description: "Read each new or changed contact with a request of its own.",
      default: optionalSettings.contact_details.off
    })
  },
  budget: {
    reserve_per_day: setting(numberFrom(0), {
      description: "Requests per day that sluice leaves to your other programs.",
      default: 1000
    }),
    burst: setting(positiveNumber, {
      description: "Requests allowed per window, until the service reports its own limit.",
      default: 100
    }),
    window_seconds: setting(positiveNumber, {
      description: "Length of that window, until the service reports its own.",
      default: 10
    })
  },
  output: {
    folder: setting(text, {
      environment: "SLUICE_OUTPUT",
      flag: "output",
      description: "Folder of the vault, the warehouse and the published files.",
      default: "output"
    }),
    formats: setting(anyOf(["duckdb", ...formatNames, "lake"]), {
      environment: "SLUICE_FORMATS",
      description:
        "Formats to publish; lake is for many locations in one place, see docs/lake.md. An empty list publishes nothing; in the variable, write none.",
      default: ["duckdb", "parquet", "csv"]
    }),
    csv_profile: setting(enumeration(["machine", "spreadsheet"]), {
      flag: "csvProfile",
      description: "CSV for programs (machine), or with escaped formulas for spreadsheets (spreadsheet).",
      default: "machine"
    }),
    file_mb_max: setting(positiveNumber, {
      environment: "SLUICE_FILE_MB_MAX",
      description: "Largest recording to download, in megabytes; a larger one is reported as not read.",
      default: 256
    })
  },
  pipelines: {
    folder: setting(text, {
      environment: "SLUICE_PIPELINES",
      description: "Folder of your own definitions, which are read beside those of sluice; see docs/own-pipelines.md.",
      example: "my-pipelines"
    })
  },
  models: {
    build: setting(boolean, {
      environment: "SLUICE_MODELS",
      description: "Build the BI models with each release, in schema bi of crm.duckdb, Parquet and CSV.",
      default: true
    }),
    folder: setting(text, {
      description: "Folder of your own models; its SQL files are built like those of sluice.",
      example: "my-models"
    })
  },
  schema: {
    policy: setting(enumeration(schemaPolicyNames), {
      description:
        "What happens to unknown fields: _extra holds them (evolve), only the vault holds them (discard), or only the vault holds them and the resource is incomplete (freeze).",
      default: "evolve"
    }),
    resources: setting(oneOfByName(schemaPolicyNames), {
      description: "Policy of single resources, which overrides the policy above.",
      default: {},
      example: { invoices: "freeze" }
    }),
    accepted: setting(textList, {
      description: "Fields that a frozen resource may nevertheless send, as table.field.",
      default: [],
      example: ["contacts.loyaltyTier"]
    })
  },
  personal_data: {
    custom_fields: setting(oneOfByName(personalDataClasses), {
      description:
        "Class of personal data of single custom fields, by their key. Without it, a custom field counts as direct.",
      default: {},
      example: { "contact.loyalty_level": "none" }
    })
  },
  retention: {
    periods: setting(periodsByName, {
      description: "How long records of a table are kept; ./sluice retention erases older ones.",
      default: {},
      example: { messages: "24 months" }
    })
  },
  lake: lakeSettings,
  listen: listenSettings,
  prune: pruneSettings,
  masking: {
    key: setting(text, {
      environment: "SLUICE_MASKING_KEY",
      secret: true,
      description:
        "Key of the pseudonyms of the profile analytics, or a reference to it: 32 bytes or more, in hexadecimal or base64.",
      example: "file:/run/secrets/masking_key"
    }),
    key_id: setting(keyId, {
      description: "Name of that key, which every pseudonym contains; a new key needs a new name.",
      default: "k1"
    })
  },
  deletions: {
    max_share: setting(share, {
      description:
        "Largest share of a table's rows that one sync may mark as deleted. If more are missing, it marks none, unless --accept-deletions is given.",
      default: 0.3
    })
  },
  alarms: alarmSettings,
  signals: signalSettings,
  fleet: fleetSettings,
  machine: {
    memory_mb: setting(numberFrom(96), {
      description: "Memory for DuckDB, in megabytes; the process needs 300 to 400 MB more.",
      default: 128
    })
  }
} satisfies Readonly<Record<string, Readonly<Record<string, Setting>>>>
