/**
 * The access token: a private integration token that stays, or OAuth tokens that are refreshed. A refresh token can be
 * used once and comes with its successor, so the successor is on disk before the new access token is used.
 */
import { Clock, Effect, Redacted, Schema, Semaphore } from "effect"
import { readFile } from "node:fs/promises"
import type { Failure } from "../failure.ts"
import { onDisk, writeDurably } from "../io/files.ts"
import { withoutSecrets } from "./response-body.ts"
import { BadCredentials, TransportError, type RequestRejected, Unavailable } from "./errors.ts"

export type CredentialSettings =
  | { readonly kind: "private"; readonly token: Redacted.Redacted }
  | {
      readonly kind: "oauth"
      readonly clientId: string
      readonly clientSecret: Redacted.Redacted
      readonly refreshToken: Redacted.Redacted
      /** Where the rotated tokens are kept, mode 0600. */
      readonly store: string
    }

type TokenError = BadCredentials | Unavailable | TransportError | RequestRejected | Failure

export interface Credentials {
  readonly token: Effect.Effect<string, TokenError>
  /** Everything that must stand in no output; grows as tokens are renewed. */
  readonly secrets: ReadonlySet<string>
  /**
   * The service refused this token: a newer one, or BadCredentials where there is none to be had. False where another
   * request had renewed it before.
   */
  readonly renew: (refused: string, reason: string) => Effect.Effect<boolean, TokenError>
}

/** Sends a form to the token endpoint; the status of the answer, and its body where it can be read. */
export type SendForm = (
  path: string,
  form: Readonly<Record<string, string>>
) => Effect.Effect<
  { readonly status: number; readonly body: string | undefined },
  TransportError | RequestRejected | Failure
>

const Stored = Schema.Struct({
  accessToken: Schema.String,
  refreshToken: Schema.String,
  /** Epoch milliseconds. */
  expiresAt: Schema.Number,
  /** When it is time for the next; a minute before the end where it is not there. */
  renewAt: Schema.optional(Schema.Number),
  /** The configured token this chain began with: another one in the settings begins a new chain. */
  origin: Schema.String
})
type Tokens = typeof Stored.Type

/** The service spells the fields in two ways. */
const Answer = Schema.Struct({
  access_token: Schema.optional(Schema.String),
  accessToken: Schema.optional(Schema.String),
  refresh_token: Schema.optional(Schema.String),
  refreshToken: Schema.optional(Schema.String),
  expires_in: Schema.optional(Schema.Unknown),
  expiresIn: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.String),
  error_description: Schema.optional(Schema.String),
  message: Schema.optional(Schema.String)
})

export const makeCredentials = (settings: CredentialSettings, sendForm: SendForm): Effect.Effect<Credentials> =>
  settings.kind === "private"
    ? Effect.succeed({
        token: Effect.succeed(Redacted.value(settings.token)),
        secrets: new Set([Redacted.value(settings.token)]),
        renew: (_, message) => Effect.fail(new BadCredentials({ kind: "private", message }))
      })
    : makeOAuth(settings, sendForm)

/** A day less a second. */
const lifetimeMsUsual = 86_399_000

const makeOAuth = Effect.fn("api.oauth")(function* (
  settings: Extract<CredentialSettings, { kind: "oauth" }>,
  sendForm: SendForm
): Effect.fn.Return<Credentials> {
  const single = yield* Semaphore.make(1)
  const origin = Redacted.value(settings.refreshToken).slice(-8)
  const secrets = new Set([settings.clientSecret, settings.refreshToken].map(Redacted.value))
  let tokens: Tokens | undefined
  const take = (newer: Tokens | undefined) => {
    tokens = newer
    if (newer) secrets.add(newer.accessToken).add(newer.refreshToken)
  }

  const refresh = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { status, body } = yield* sendForm("/oauth/token", {
      client_id: settings.clientId,
      client_secret: Redacted.value(settings.clientSecret),
      grant_type: "refresh_token",
      refresh_token: tokens?.refreshToken ?? Redacted.value(settings.refreshToken)
    })
    const answer = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Answer))(body ?? "").pipe(
      Effect.catch(() => Effect.succeed(undefined))
    )
    const reason = [answer?.error, answer?.error_description ?? answer?.message].filter(Boolean).join(": ")
    const message = withoutSecrets(`the token endpoint answered ${status} ${reason || "and no tokens"}`, secrets)
    // A gateway's trouble and what cannot be read say nothing of the refresh token.
    if (answer === undefined || status >= 500 || status === 429 || status === 408)
      return yield* new TransportError({ message, unsent: false })
    if (/location is not active/i.test(reason))
      return yield* new Unavailable({
        message: `the account is paused, its tokens stay good (${message})`,
        later: true
      })
    const accessToken = answer.access_token ?? answer.accessToken
    const refreshToken = answer.refresh_token ?? answer.refreshToken
    if (status >= 300 || accessToken === undefined || refreshToken === undefined)
      return yield* new BadCredentials({ kind: "oauth", message })
    const lifetimeMs = Number(answer.expires_in ?? answer.expiresIn ?? Number.NaN) * 1000 || lifetimeMsUsual
    // Early enough for a request that is on its way, and not before a short life has begun.
    const renewAt = now + lifetimeMs - Math.min(60_000, lifetimeMs / 10)
    const renewed = { accessToken, refreshToken, expiresAt: now + lifetimeMs, renewAt, origin }
    yield* save(settings.store, renewed)
    take(renewed)
  })

  return {
    secrets,
    token: Effect.gen(function* () {
      if (tokens === undefined) take(yield* stored(settings.store, origin))
      const now = yield* Clock.currentTimeMillis
      if (tokens === undefined || now >= (tokens.renewAt ?? tokens.expiresAt - 60_000)) yield* refresh
      return tokens!.accessToken
    }).pipe(single.withPermits(1)),
    // Many requests may be refused at once; the first renews, the others find a newer token.
    renew: (refused) =>
      Effect.suspend(() =>
        tokens === undefined || tokens.accessToken === refused ? Effect.as(refresh, true) : Effect.succeed(false)
      ).pipe(single.withPermits(1))
  }
})

const stored = (path: string, origin: string): Effect.Effect<Tokens | undefined> =>
  Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(Stored))),
    Effect.map((tokens) => (tokens.origin === origin ? tokens : undefined)),
    Effect.catch(() => Effect.succeed(undefined))
  )

const save = (path: string, tokens: Tokens) => onDisk(path, "written", () => writeDurably(path, JSON.stringify(tokens)))
