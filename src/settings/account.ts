/** The settings of an account: how the API is reached, with which credentials, and within which limits. */
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import { type OptionalSettings, optionalSettings } from "../catalog/optional-settings.ts"
import {
  type Secret,
  type Section,
  type ValuesOf,
  boolean,
  camelCase,
  httpAddress,
  numberFrom,
  pattern,
  positiveNumber,
  setting,
  share,
  text,
  textList
} from "../values/setting.ts"
import { wrong } from "../values/finding.ts"
import type { SettingProblem } from "./errors.ts"

const currency = pattern("an ISO 4217 code such as EUR", /^[A-Z]{3}$/)

/** The currencies that the settings state, for locations of which the service sends none. */
export interface StatedCurrencies {
  readonly account: string | undefined
  readonly byLocation: ReadonlyMap<string, string>
}

export const accountSection = {
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
  currency: setting(currency, {
    environment: "SLUICE_CURRENCY",
    description: "Currency of the account's amounts in the models, where the service sends none; nothing is guessed.",
    example: "EUR"
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
  api_version: setting(text, {
    environment: "SLUICE_API_VERSION",
    description:
      "Version of the API that is requested. If the service refuses it for a family of routes, another one is tried once.",
    default: "v3"
  }),
  object_keys: setting(textList, {
    environment: "SLUICE_OBJECT_KEYS",
    description:
      "Keys of the objects whose fields, folders and records are read. Without it, all that the account made.",
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
  further_lists: setting(boolean, {
    environment: "SLUICE_FURTHER_LISTS",
    description:
      "Read the lists that no account has shown yet; one that the account does not have is requested once a month.",
    default: true
  }),
  contact_details: setting(boolean, {
    environment: "SLUICE_CONTACT_DETAILS",
    description: "Read each new or changed contact with a request of its own.",
    default: optionalSettings.contact_details.off
  })
} satisfies Section

/** One of several locations, in the file. */
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
  }),
  currency: setting(currency, {
    description: "Currency of the location's amounts in the models; without it, the account's.",
    example: "EUR"
  })
} satisfies Section

export const budgetSection = {
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
} satisfies Section

export const deletionsSection = {
  max_share: setting(share, {
    description:
      "Largest share of a table's rows that one sync may mark as deleted. If more are missing, it marks none, unless --accept-deletions is given.",
    default: 0.3
  })
} satisfies Section

export const filesSection = {
  fetch: setting(textList, {
    environment: "SLUICE_FILES",
    description:
      "The files behind links that are fetched: all, custom_fields, or tables with links, such as message_attachments; see docs/tables.md.",
    default: optionalSettings.files.off,
    example: ["message_attachments", "custom_fields"]
  }),
  max_bytes: setting(positiveNumber, {
    environment: "SLUICE_FILES_MAX_BYTES",
    description: "Largest file to fetch, recordings included; a larger one is reported.",
    default: 268_435_456
  }),
  max_total_bytes: setting(positiveNumber, {
    description: "Space that the files of the output folder may take. Without it, only the disk is a limit.",
    example: 100_000_000_000
  }),
  types: setting(textList, {
    description: "MIME types that are fetched, such as image/*; without it, all. What the first bytes show counts.",
    example: ["image/*", "application/pdf"]
  })
} satisfies Section

type AccountValues = ValuesOf<typeof accountSection>
type BudgetValues = ValuesOf<typeof budgetSection>

export type CredentialSettings =
  | {
      readonly kind: "private"
      readonly token: Redacted.Redacted
      /** Reads the token again, once the service has rejected it. */
      readonly readAgain?: () => ReturnType<Secret["read"]>
    }
  | {
      readonly kind: "oauth"
      readonly clientId: string
      readonly clientSecret: Redacted.Redacted
      readonly refreshToken: Redacted.Redacted
      /** The file that stores the current tokens, with mode 0600. */
      readonly store: string
    }

export interface ExchangeSettings {
  readonly baseUrl: string
  /** A response that sends no byte for this long has failed. By default a minute. */
  readonly idleMs?: number
  /** A larger file is not stored. */
  readonly fileBytesMax: number
  /** Whether no list was ever read from this address: if nothing answers there, it is wrong, and not down for now. */
  readonly isNew?: () => boolean
}

/** The last requests of the run before, which the service still counts, and its rate limit. */
export interface RecentRequests {
  readonly burst: number
  readonly windowMs: number
  /** When each request was answered, epoch milliseconds. */
  readonly answered: ReadonlyArray<number>
}

export interface RequestLimits extends Pick<BudgetValues, "burst" | "reservePerDay"> {
  readonly windowMs: number
  /** Requests of each day that a backfill also leaves to syncs. */
  readonly syncsPerDay?: number
  readonly recent?: RecentRequests | undefined
  /** Epoch milliseconds after which no request is sent: the flag `--deadline`. */
  readonly deadline?: number | undefined
}

export interface ApiSettings extends ExchangeSettings {
  readonly credentials: CredentialSettings
  readonly limits: RequestLimits
  /** Of the API; `v3`, unless the settings have another one. */
  readonly version?: string
  /** Its record is the control of refusals, and its id names it in messages about the budget. */
  readonly location?: string
}

/** The settings that turn on optional resources. */
export const optionalOf = ({
  account,
  files
}: {
  readonly account: AccountValues
  readonly files: ValuesOf<typeof filesSection>
}): OptionalSettings =>
  Object.fromEntries(
    Struct.keys(optionalSettings).map((name) => [name, name === "files" ? files.fetch : account[camelCase(name)]])
    // Each setting has the type of the value that leaves it off.
  ) as unknown as OptionalSettings

/** A token takes precedence over an OAuth app. `store`: see CredentialSettings. */
export const credentialsOf = (
  { clientId, clientSecret, refreshToken, token }: AccountValues,
  store: string
): Result.Result<CredentialSettings, ReadonlyArray<SettingProblem>> => {
  if (token !== undefined)
    return Result.mapBoth(token.read(), {
      onSuccess: (value): CredentialSettings => ({ kind: "private", token: value, readAgain: () => token.read(true) }),
      onFailure: (problem) => [problem]
    })
  if (clientId === undefined || clientSecret === undefined || refreshToken === undefined) {
    const app = { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken }
    const missing = Object.entries(app).flatMap(([key, value]) => (value === undefined ? [`account.${key}`] : []))
    return Result.fail([wrong("account.token", { _tag: "NoCredentials", missing })])
  }
  const secrets = [clientSecret.read(), refreshToken.read()] as const
  const [one, other] = secrets
  return Result.isSuccess(one) && Result.isSuccess(other)
    ? Result.succeed({ kind: "oauth", clientId, store, clientSecret: one.success, refreshToken: other.success })
    : Result.fail(secrets.flatMap((result) => (Result.isFailure(result) ? [result.failure] : [])))
}
