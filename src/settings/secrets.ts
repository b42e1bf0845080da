/** Reads credentials; each is the text itself or a reference: `env:NAME`, `file:/path` or `cmd:command line`. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import type { CredentialSettings } from "./api.ts"
import type { SettingProblem } from "./errors.ts"
import type { Environment } from "./read.ts"
import type { SettingValues } from "./table.ts"

/** A reference says where a secret is and is no secret, except for a command line, which may contain one. */
export const shownSecret = (text: string): string => (/^(env|file):/.test(text) ? text : "<redacted>")

/** Whether the text is the secret itself. */
export const isPlainSecret = (text: string): boolean => !/^(env|file|cmd):/.test(text)

/** Reads each reference once, even if several locations share it. */
export const secretReader = (environment: Environment) => {
  const known = new Map<string, Result.Result<string, string>>()
  return (reference: string, path: string): Result.Result<Redacted.Redacted, SettingProblem> => {
    const secret = known.get(reference) ?? readSecret(reference, environment)
    known.set(reference, secret)
    return Result.mapBoth(secret, {
      onSuccess: (value) => Redacted.make(value),
      onFailure: (cause): SettingProblem => ({ _tag: "SecretUnavailable", path, reference, cause })
    })
  }
}
type SecretReader = ReturnType<typeof secretReader>

/** A token, of the location or of the account, takes precedence over an OAuth app. */
export const credentialsOf = (
  account: SettingValues["account"],
  token: { readonly reference: string | undefined; readonly path: string },
  store: string,
  secret: SecretReader
): Result.Result<CredentialSettings, ReadonlyArray<SettingProblem>> => {
  if (token.reference !== undefined)
    return Result.mapBoth(secret(token.reference, token.path), {
      onSuccess: (value): CredentialSettings => ({ kind: "private", token: value }),
      onFailure: (problem) => [problem]
    })
  const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken } = account
  if (clientId === undefined || clientSecret === undefined || refreshToken === undefined) {
    const app = { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken }
    const missing = Object.entries(app).flatMap(([key, value]) => (value === undefined ? [`account.${key}`] : []))
    return Result.fail([{ _tag: "NoCredentials", missing }])
  }
  const secrets = [
    secret(clientSecret, "account.client_secret"),
    secret(refreshToken, "account.refresh_token")
  ] as const
  const [one, other] = secrets
  return Result.isSuccess(one) && Result.isSuccess(other)
    ? Result.succeed({ kind: "oauth", clientId, store, clientSecret: one.success, refreshToken: other.success })
    : Result.fail(secrets.flatMap((result) => (Result.isFailure(result) ? [result.failure] : [])))
}

const readSecret = (reference: string, environment: Environment): Result.Result<string, string> => {
  const [, kind, rest = ""] = /^(env|file|cmd):(.*)$/s.exec(reference) ?? []
  try {
    switch (kind) {
      case "env":
        return filled(environment[rest] ?? "", "the variable is not set")
      case "file":
        return filled(readFileSync(rest, "utf8"), "the file is empty")
      case "cmd":
        return filled(
          execFileSync("/bin/sh", ["-c", rest], {
            encoding: "utf8",
            stdio: ["ignore", "pipe", "inherit"],
            env: environment
          }),
          "the command printed nothing"
        )
      default:
        return filled(reference, "it is blank")
    }
  } catch (cause) {
    return Result.fail(kind === "cmd" ? "the command failed" : (cause as Error).message)
  }
}

const filled = (secret: string, otherwise: string): Result.Result<string, string> =>
  secret.trim() === "" ? Result.fail(otherwise) : Result.succeed(secret.trim())
