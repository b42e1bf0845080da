/**
 * The access token: a private integration token, which is read again once it is rejected, or OAuth tokens, which are
 * refreshed. A refresh
 * token can be used only once, so there is room on disk for its successor before it is requested. If it cannot be
 * stored all the same, it stays in memory, and is stored as soon as that is possible.
 */
import { Clock, Effect, Fiber, Redacted, Result, Schema, type Scope, Semaphore } from "effect"
import { readFile } from "node:fs/promises"
import type { Failure } from "../../values/failure.ts"
import { onDisk, takeRoom, writeDurably } from "../../output/files.ts"
import type { CredentialSettings } from "../../settings/account.ts"
import { withoutSecrets } from "./response-body.ts"
import { BadCredentials, TransportError, type RequestRejected, Unavailable } from "./errors.ts"

type TokenError = BadCredentials | Unavailable | TransportError | RequestRejected | Failure

export interface Credentials {
  /** The current access token; refreshes it first if it expires soon. */
  readonly token: Effect.Effect<string, TokenError>
  /** Texts that no output may contain. Grows when tokens are refreshed. */
  readonly secrets: ReadonlySet<string>
  /**
   * Refreshes, or reads again, a token that the service has rejected. `known`: another request has done so. `none`: the token is
   * still the same. Fails with BadCredentials if the service refuses to refresh it.
   */
  readonly renew: (rejected: string) => Effect.Effect<Renewal, TokenError>
}
export type Renewal = "renewed" | "known" | "none"

/** Sends a form to the token endpoint. Returns the status, and the body if it can be read. */
export type SendForm = (
  path: string,
  form: Readonly<Record<string, string>>
) => Effect.Effect<
  { readonly status: number; readonly body: string | undefined },
  TransportError | RequestRejected | Failure
>

const StoredTokens = Schema.Struct({
  accessToken: Schema.String,
  refreshToken: Schema.String,
  /** Epoch milliseconds. */
  expiresAt: Schema.Number,
  /** When to refresh the tokens; if absent, a minute before they expire. */
  renewAt: Schema.optional(Schema.Number),
  /** The end of the configured refresh token from which these tokens descend. Stored tokens of another one are ignored. */
  origin: Schema.String
})
type Tokens = typeof StoredTokens.Type

/** An object of JSON, whose fields may be missing or have any form: what can be used is used. */
const TokenResponse = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))

/** The first of the fields that is a text; the service uses two spellings. */
const textIn = (response: typeof TokenResponse.Type, ...names: ReadonlyArray<string>): string | undefined =>
  names.map((name) => response[name]).find((value): value is string => typeof value === "string" && value.trim() !== "")

/** What the error of a response says, in each of its usual forms. */
const reasonIn = (response: typeof TokenResponse.Type): string => {
  const texts = ["error", "error_description", "message", "errors"].flatMap((name) => textsIn(response[name]))
  return [...new Set(texts)].join(": ")
}
const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value === "" ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, one]) =>
    /^(error|code|message|description|error_description)$/.test(name) ? textsIn(one) : []
  )
}

/** The end of the scope stores what could not be stored before. */
export const makeCredentials = (settings: CredentialSettings, sendForm: SendForm) =>
  settings.kind === "private" ? Effect.sync(() => makePrivate(settings)) : makeOAuth(settings, sendForm)

/** The file or the command of a rejected token may have a newer one by then. */
const makePrivate = ({
  token,
  readAgain = () => Result.succeed(token)
}: Extract<CredentialSettings, { kind: "private" }>): Credentials => {
  let current = Redacted.value(token)
  const secrets = new Set([current])
  return {
    token: Effect.sync(() => current),
    secrets,
    renew: (rejected) =>
      Effect.sync((): Renewal => {
        if (rejected !== current) return "known"
        const newer = readAgain()
        if (Result.isFailure(newer) || Redacted.value(newer.success) === rejected) return "none"
        current = Redacted.value(newer.success)
        secrets.add(current)
        return "renewed"
      })
  }
}

/** The usual lifetime of an access token: a day less a second. */
const usualLifetimeMs = 86_399_000

/** More than any pair of tokens takes. */
const tokenBytesMax = 16 * 1024
const saveAgainAfterMs = 10_000

const makeOAuth = Effect.fn("api.oauth")(function* (
  settings: Extract<CredentialSettings, { kind: "oauth" }>,
  sendForm: SendForm
): Effect.fn.Return<Credentials, never, Scope.Scope> {
  const tokensLock = yield* Semaphore.make(1)
  const origin = Redacted.value(settings.refreshToken).slice(-8)
  const secrets = new Set([settings.clientSecret, settings.refreshToken].map(Redacted.value))
  let tokens: Tokens | undefined
  const use = (newer: Tokens | undefined) => {
    tokens = newer
    if (newer) secrets.add(newer.accessToken).add(newer.refreshToken)
  }

  let unsavedSince: number | undefined
  const saveAgain = Effect.fnUntraced(function* (now: number) {
    if (unsavedSince === undefined || tokens === undefined) return
    unsavedSince = now
    const saved = yield* Effect.result(
      onDisk(settings.store, "written", () => writeDurably(settings.store, JSON.stringify(tokens)))
    )
    if (saved._tag === "Success") unsavedSince = undefined
  })
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* saveAgain(yield* Clock.currentTimeMillis)
      if (unsavedSince !== undefined)
        yield* Effect.logError(
          `The new refresh token could not be stored in ${settings.store}, and the one before is used up: authorise the app again`
        )
    }).pipe(tokensLock.withPermits(1))
  )

  const renewed = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const room = yield* onDisk(settings.store, "written", () => takeRoom(settings.store, tokenBytesMax))
    const refreshed = yield* requested(now).pipe(
      Effect.onError(() => Effect.promise(() => room.release().catch(() => {})))
    )
    use(refreshed)
    unsavedSince = undefined
    yield* onDisk(settings.store, "written", () => room.write(JSON.stringify(refreshed))).pipe(
      Effect.catch(({ message }) => {
        unsavedSince = now
        return Effect.logWarning(`The new refresh token is not stored yet, and will be tried again: ${message}`)
      })
    )
  })
  // Once the service has used up the old token, a signal must not lose the new one. The time limit of the request still counts.
  const refresh = Effect.uninterruptible(Effect.flatMap(Effect.forkDetach(Effect.interruptible(renewed)), Fiber.join))

  const requested = Effect.fnUntraced(function* (now: number) {
    const sent = tokens?.refreshToken ?? Redacted.value(settings.refreshToken)
    const { status, body } = yield* sendForm("/oauth/token", {
      client_id: settings.clientId,
      client_secret: Redacted.value(settings.clientSecret),
      grant_type: "refresh_token",
      refresh_token: sent
    })
    const response = yield* Schema.decodeUnknownEffect(TokenResponse)(body ?? "").pipe(
      Effect.catch(() => Effect.succeed(undefined))
    )
    const reason = response && reasonIn(response)
    const message = withoutSecrets(`the token endpoint answered ${status} ${reason || "without tokens"}`, secrets)
    // An error of a gateway, or an unreadable response, does not mean that the refresh token is invalid.
    const accessToken = response && textIn(response, "access_token", "accessToken")
    const isTemporary =
      accessToken === undefined &&
      /temporarily_unavailable|server_error|slow_down|timed out|try again/i.test(reason ?? "")
    if (response === undefined || status >= 500 || status === 429 || status === 408 || isTemporary)
      return yield* new TransportError({ message, unsent: false })
    if (/location is not active/i.test(reason ?? ""))
      return yield* new Unavailable({
        message: `the account is paused; its tokens remain valid (${message})`,
        later: true
      })
    if (status >= 300 || accessToken === undefined) return yield* new BadCredentials({ kind: "oauth", message })
    // Without a new refresh token, the one that was sent stays valid (RFC 6749, section 6).
    const refreshToken = textIn(response, "refresh_token", "refreshToken") ?? sent
    const seconds = Number(response["expires_in"] ?? response["expiresIn"])
    const lifetimeMs = seconds > 0 && Number.isFinite(seconds) ? seconds * 1000 : usualLifetimeMs
    // Early enough for requests in flight, but no more than a tenth of the lifetime early.
    const renewAt = now + lifetimeMs - Math.min(60_000, lifetimeMs / 10)
    return { accessToken, refreshToken, expiresAt: now + lifetimeMs, renewAt, origin } satisfies Tokens
  })

  return {
    secrets,
    token: Effect.gen(function* () {
      if (tokens === undefined) use(yield* stored(settings.store, origin))
      const now = yield* Clock.currentTimeMillis
      if (unsavedSince !== undefined && now >= unsavedSince + saveAgainAfterMs) yield* saveAgain(now)
      if (tokens === undefined || now >= (tokens.renewAt ?? tokens.expiresAt - 60_000)) yield* refresh
      return tokens!.accessToken
    }).pipe(tokensLock.withPermits(1)),
    // If the service rejects many requests at once, the first refreshes the token, and the others find the new one.
    renew: (rejected) =>
      Effect.suspend(() =>
        tokens === undefined || tokens.accessToken === rejected
          ? Effect.as(refresh, "renewed" as const)
          : Effect.succeed("known" as const)
      ).pipe(tokensLock.withPermits(1))
  }
})

const stored = (path: string, origin: string): Effect.Effect<Tokens | undefined> =>
  Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(StoredTokens))),
    Effect.map((tokens) => (tokens.origin === origin ? tokens : undefined)),
    Effect.catch(() => Effect.succeed(undefined))
  )
