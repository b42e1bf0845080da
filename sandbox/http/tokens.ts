import type { Clock } from "../account/clock.ts"
import { HttpError } from "./errors.ts"
import type { Integration } from "./limits.ts"
import type { Settings } from "../options.ts"
import { Random, streams } from "../account/random.ts"
import type { AccountContext } from "../account/context.ts"

/** The private token of the location with these settings. */
export const privateTokenOf = ({ seed }: Settings): string => privateToken(new Random(seed, streams.token, 0))

const privateToken = (random: Random): string => `pit-${random.id()}${random.id()}`

/** The first refresh token of the location with these settings. */
export const refreshTokenOf = ({ seed }: Settings): string => `refresh-${new Random(seed, streams.token, 1).id()}`

/** The credentials of both integrations: a private token, which never expires, and the app's, which refreshes issue. */
export class Tokens {
  privateToken: string
  readonly clientId: string
  readonly clientSecret: string
  /** The refresh token for the next refresh; each is valid once (field-notes 1). */
  refreshToken: string
  readonly #expiryByToken = new Map<string, number>()
  readonly #missingScopes = new Set<string>()
  readonly #random: Random
  readonly #clock: Clock
  readonly #settings: Settings
  readonly #context: AccountContext

  constructor(settings: Settings, context: AccountContext, clock: Clock) {
    this.#settings = settings
    this.#context = context
    this.#clock = clock
    this.#random = new Random(settings.seed, streams.token, 0)
    this.privateToken = privateToken(this.#random)
    // All locations of an agency have installed the same app.
    const app = new Random(settings.seed - settings.location, streams.token, 2)
    this.clientId = `client-${app.id()}`
    this.clientSecret = app.id()
    this.refreshToken = refreshTokenOf(settings)
    this.#expiryByToken.set(this.privateToken, Infinity)
  }

  /** Checks the `Authorization` header, with the messages of A 7, and returns the integration of its token. */
  authorize(header: string | undefined): Integration {
    if (header === undefined || header === "") {
      throw new HttpError(401, "No Authorization header found for authentication!")
    }
    const expiry = this.#expiryByToken.get(tokenIn(header))
    if (expiry === undefined || expiry <= this.#clock.now()) throw new HttpError(401, "Invalid JWT")
    return this.integrationOf(header)
  }

  /** The integration of the token in a header; the private one if the token is missing or unknown. */
  integrationOf(header: string | undefined): Integration {
    const token = tokenIn(header)
    return token !== this.privateToken && this.#expiryByToken.has(token) ? "app" : "private"
  }

  /** Whether the token in a header was issued here, even if it has expired. */
  knows(header: string): boolean {
    return this.#expiryByToken.has(tokenIn(header))
  }

  requireScope(scope: string): void {
    if (this.#missingScopes.has(scope)) {
      throw new HttpError(this.#settings.variants.missingScopeStatus, "The token is not authorized for this scope.")
    }
  }

  /** `POST /oauth/token` (A 5.2), whose response and errors differ in form from those of the other operations. */
  exchange(form: URLSearchParams, scopes: Iterable<string>): Record<string, unknown> {
    if (form.get("client_id") !== this.clientId || form.get("client_secret") !== this.clientSecret) {
      throw oauthError(401, "invalid_client", "Invalid client credentials")
    }
    if (form.get("grant_type") !== "refresh_token") {
      throw oauthError(400, "unsupported_grant_type", "Unsupported grant type")
    }
    if (form.get("refresh_token") !== this.refreshToken) {
      throw oauthError(400, "invalid_grant", "Invalid grant: refresh token is invalid")
    }
    const accessToken = `access-${this.#random.id()}${this.#random.id()}`
    this.refreshToken = `refresh-${this.#random.id()}`
    this.#expiryByToken.set(accessToken, this.#clock.now() + this.#settings.tokenLifetime * 1000)
    return {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: this.#settings.tokenLifetime,
      refresh_token: this.refreshToken,
      scope: [...scopes].filter((scope) => !this.#missingScopes.has(scope)).join(" "),
      userType: "Location",
      companyId: this.#context.companyId,
      locationId: this.#context.locationId
    }
  }

  /** Invalidates every access token, including the private one. The refresh token stays valid. */
  revoke(): void {
    this.#expiryByToken.clear()
  }

  /** Makes the access tokens of the app expire after this time; 0 for immediately. */
  expire(inMs: number): void {
    for (const token of this.#expiryByToken.keys()) {
      if (token !== this.privateToken) this.#expiryByToken.set(token, this.#clock.now() + inMs)
    }
  }

  /** Replaces the private token, as its owner does in the product; the one before is invalid at once. */
  rotate(): void {
    this.#expiryByToken.delete(this.privateToken)
    this.privateToken = privateToken(this.#random)
    this.#expiryByToken.set(this.privateToken, Infinity)
  }

  restore(): void {
    this.#expiryByToken.set(this.privateToken, Infinity)
    this.#missingScopes.clear()
  }

  removeScope(scope: string): void {
    this.#missingScopes.add(scope)
  }

  addScope(scope: string): void {
    this.#missingScopes.delete(scope)
  }
}

const tokenIn = (header: string | undefined): string => /^Bearer (\S+)$/i.exec(header ?? "")?.[1] ?? ""

export const oauthError = (status: number, error: string, description: string): HttpError =>
  new HttpError(status, description, { error, error_description: description })
