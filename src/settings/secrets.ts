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

/**
 * Reads each reference once, even if several locations share it, unless it is to be read again: a file or a command may have
 * another secret by then.
 */
export const secretReader = (environment: Environment["Service"]) => {
  const known = new Map<string, Result.Result<string, string>>()
  return (reference: string, path: string, isAgain = false): Result.Result<Redacted.Redacted, UnavailableSecret> => {
    const secret = (isAgain ? undefined : known.get(reference)) ?? readSecret(reference, environment)
    known.set(reference, secret)
    const shown = isPlainSecret(reference) ? "the value" : reference
    if (Result.isFailure(secret))
      return Result.fail(wrong(path, { _tag: "SecretUnavailable", reference: shown, cause: secret.failure }))
    const cause = sentInHeaders.test(path) ? unsendableIn(secret.success) : undefined
    return cause === undefined
      ? Result.succeed(Redacted.make(secret.success))
      : Result.fail(wrong(path, { _tag: "SecretUnsendable", reference: shown, cause }))
  }
}

/** The settings whose secrets requests carry; addresses of databases and keys of masks may have any character. */
const sentInHeaders = /(token|secret|s3_key)$/

/** What a header cannot carry. */
const unsendableIn = (secret: string): string | undefined => {
  if (/[\r\n]/.test(secret)) return "it has a line break inside, so it may be several secrets or a part of a file"
  const codes = Array.from(secret, (character) => character.codePointAt(0)!)
  if (codes.some((code) => code === 127 || (code < 32 && code !== 9))) return "it has a control character"
  return codes.some((code) => code > 255)
    ? "it has a character that no header can carry, such as a typographic quote"
    : undefined
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
