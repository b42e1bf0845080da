/** How the API is reached: its address, the credentials and the limits of requests. */
import type * as Redacted from "effect/Redacted"

export type CredentialSettings =
  | { readonly kind: "private"; readonly token: Redacted.Redacted }
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
  /** Larger files are not stored. */
  readonly fileMbMax: number
}

export interface RequestLimits {
  readonly burst: number
  readonly windowMs: number
  /** Requests of each day that are left to other clients: the setting `budget.reserve_per_day`. */
  readonly reservePerDay: number
  /** Requests of each day that a backfill also leaves to syncs. */
  readonly syncsPerDay?: number
  /** When the last requests of the run before were answered, epoch milliseconds: the service still counts them. */
  readonly recent?: ReadonlyArray<number>
  /** Epoch milliseconds after which no request is sent: the flag `--deadline`. */
  readonly deadline?: number | undefined
}

export interface ApiSettings extends ExchangeSettings {
  readonly credentials: CredentialSettings
  readonly limits: RequestLimits
  /** For what is said about the budget. */
  readonly location?: string
}
