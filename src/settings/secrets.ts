/** Reads credentials; each is the text itself or a reference: `env:NAME`, `file:/path` or `cmd:command line`. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import type { Environment } from "../values/environment.ts"
import type { UnavailableSecret } from "../values/setting.ts"
import { wrong } from "../values/finding.ts"

/** A reference says where a secret is and is no secret, except for a command line, which may contain one. */
export const shownSecret = (text: string): string => (/^(env|file):/.test(text) ? text : "<redacted>")

/** Whether the text is the secret itself. */
export const isPlainSecret = (text: string): boolean => !/^(env|file|cmd):/.test(text)

/** Reads each reference once, even if several locations share it. */
export const secretReader = (environment: Environment["Service"]) => {
  const known = new Map<string, Result.Result<string, string>>()
  return (reference: string, path: string): Result.Result<Redacted.Redacted, UnavailableSecret> => {
    const secret = known.get(reference) ?? readSecret(reference, environment)
    known.set(reference, secret)
    return Result.mapBoth(secret, {
      onSuccess: (value) => Redacted.make(value),
      onFailure: (cause): UnavailableSecret => wrong(path, { _tag: "SecretUnavailable", reference, cause })
    })
  }
}

const readSecret = (reference: string, environment: Environment["Service"]): Result.Result<string, string> => {
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
