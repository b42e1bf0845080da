/** Credentials: which kind the settings give, and secrets by reference. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import type { CredentialSettings } from "./api/credentials.ts"
import { type Failure, settingFailure } from "./failure.ts"

export const credentialSettings = Effect.fnUntraced(function* (
  text: (key: string) => string | undefined,
  store: string
): Effect.fn.Return<CredentialSettings, Failure> {
  const token = text("token")
  if (token !== undefined) return { kind: "private", token: Redacted.make(yield* secret(token, "account.token")) }
  const [clientId, clientSecret, refreshToken] = [text("client_id"), text("client_secret"), text("refresh_token")]
  if (clientId === undefined || clientSecret === undefined || refreshToken === undefined)
    return yield* settingFailure(
      "no credentials: account.token (SLUICE_TOKEN) is missing, and account.client_id, client_secret and refresh_token are not all set"
    )
  return {
    kind: "oauth",
    clientId,
    store,
    clientSecret: Redacted.make(yield* secret(clientSecret, "account.client_secret")),
    refreshToken: Redacted.make(yield* secret(refreshToken, "account.refresh_token"))
  }
})

/** `env:NAME`, `file:/path` or `cmd:command line`; anything else is the secret itself. */
const secret = (reference: string, place: string): Effect.Effect<string, Failure> => {
  const [, kind, rest = ""] = /^(env|file|cmd):(.*)$/s.exec(reference) ?? []
  const read = () => {
    switch (kind) {
      case "env":
        return process.env[rest] ?? ""
      case "file":
        return readFileSync(rest, "utf8")
      case "cmd":
        return execFileSync("sh", ["-c", rest], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
      default:
        return reference
    }
  }
  return Effect.try({ try: () => read().trim(), catch: () => "" }).pipe(
    Effect.catch(() => Effect.succeed("")),
    Effect.filterOrFail(
      (value) => value !== "",
      () => settingFailure(`${place}: ${kind}:${rest} gave nothing`)
    )
  )
}
