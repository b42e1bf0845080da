/** Reads credentials; each is the text itself or a reference: `env:NAME`, `file:/path` or `cmd:command line`. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import type { Environment } from "../values/environment.ts"
import type { UnavailableSecret } from "../values/setting.ts"
import { wrong } from "../values/finding.ts"
import { codeOf, messageOf } from "../values/thrown.ts"
import { nodeChildProcess } from "../values/node.ts"

/** A reference says where a secret is and is no secret, except for a command line, which may contain one. */
export const shownSecret = (text: string): string => (/^(env|file):/.test(text) ? text : "<redacted>")

/** Whether the text is the secret itself. */
export const isPlainSecret = (text: string): boolean => !/^(env|file|cmd):/.test(text)

/** The setting, with the reference that it contains if that is no secret. */
export const namedSecret = (setting: string, reference: string): string =>
  /^(env|file):/.test(reference) ? `${setting} (${reference})` : setting

/** What a message calls the secret: no text of a command, and not the secret itself. */
const nameOf = (reference: string): string =>
  /^(env|file):/.test(reference) ? reference : reference.startsWith("cmd:") ? "what its command prints" : "the value"

/**
 * Reads each reference once, even if several locations share it, unless it is to be read again: a file or a command may have
 * another secret by then.
 */
export const secretReader = (environment: Environment["Service"], commandMs = 60_000) => {
  const known = new Map<string, Result.Result<string, string>>()
  return (reference: string, path: string, isAgain = false): Result.Result<Redacted.Redacted, UnavailableSecret> => {
    const secret = (isAgain ? undefined : known.get(reference)) ?? readSecret(reference, environment, commandMs)
    known.set(reference, secret)
    const failure = (_tag: UnavailableSecret["what"]["_tag"], cause: string) =>
      Result.fail(wrong(path, { _tag, reference: nameOf(reference), cause }))
    if (Result.isFailure(secret)) return failure("SecretUnavailable", secret.failure)
    const cause = mistakeIn(secret.success, path)
    return cause === undefined
      ? Result.succeed(Redacted.make(secret.success))
      : failure("SecretUnusable", `${cause}. Write the secret alone`)
  }
}

/** The settings whose secrets requests carry; addresses of databases and keys of masks may have any character. */
const sentInHeaders = /(token|secret|s3_key)$/
/** What people write beside a token, which has none of these characters and beginnings itself. */
const besideTokens: ReadonlyArray<readonly [pattern: RegExp, what: string]> = [
  [/^(authorization\s*:|(bearer|basic)([\s:%]|$))/i, "it begins with a part of the header, such as Bearer"],
  [/^\w+=[^=]/, "it begins with a name and an equals sign"],
  [/^[$%<{]|[>}]$|^(null|undefined|none)$/i, "it is a placeholder, which nothing has replaced"],
  [/["'`\u00b4\u00ab\u00bb]/, "it has quotation marks"],
  [/[#,;\\]/, "it has a character after it, such as the mark of a comment"]
]

/** Why the text cannot be the secret, if it is sure. No cause contains a part of it. */
const mistakeIn = (secret: string, path: string): string | undefined => {
  if (/^(["'`]).*\1$/s.test(secret)) return "it has quotation marks around it"
  if (!sentInHeaders.test(path)) return undefined
  if (/[\r\n]/.test(secret)) return "it has a line break inside, so it may be several secrets or a part of a file"
  const codes = Array.from(secret, (character) => character.codePointAt(0)!)
  if (codes.some((code) => code === 127 || (code < 32 && code !== 9))) return "it has a control character"
  if (codes.some((code) => code > 255))
    return "it has a character that no header can carry, such as a typographic quote"
  if (/\\[nrt]$/.test(secret)) return "it ends with the two characters of a line end, a backslash and a letter"
  if (/\s(#|\/\/|;|--)/.test(secret)) return "it has a comment after it"
  const beside = path.endsWith("token") ? besideTokens.find(([pattern]) => pattern.test(secret)) : undefined
  if (beside !== undefined) return beside[1]
  if (/^["'`]|["'`]$/.test(secret)) return "it has a quotation mark at one end"
  // Whoever listens to events may have chosen a sentence for both sides.
  return /\s/.test(secret) && path !== "listen.secret" ? "it has a blank inside" : undefined
}

const readSecret = (
  reference: string,
  environment: Environment["Service"],
  commandMs: number
): Result.Result<string, string> => {
  const [, kind, rest = ""] = /^(env|file|cmd):(.*)$/s.exec(reference) ?? []
  switch (kind) {
    case "env":
      return filled(environment[rest] ?? "", "the variable is not set")
    case "file":
      try {
        return filled(readFileSync(rest, "utf8"), "the file is empty")
      } catch (cause) {
        return Result.fail(messageOf(cause))
      }
    case "cmd":
      return printedBy(rest, environment, commandMs)
    default:
      return filled(reference, "it is blank")
  }
}

/** The shell and many programs repeat their command line in an error, so what they write to stderr is not shown. */
const printedBy = (
  command: string,
  environment: Environment["Service"],
  timeout: number
): Result.Result<string, string> => {
  const { error, signal, status, stdout } = nodeChildProcess().spawnSync("/bin/sh", ["-c", command], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env: environment,
    timeout,
    killSignal: "SIGKILL"
  })
  const code = codeOf(error)
  if (code === "ETIMEDOUT") return Result.fail(`the command was stopped after ${timeout / 1000} s`)
  if (code !== undefined) return Result.fail(`the command could not be run (${code})`)
  if (status !== 0)
    return Result.fail(`the command ended with ${signal ?? `exit code ${status}`}; run it by hand to see why`)
  return filled(stdout, "the command printed nothing")
}

const filled = (secret: string, otherwise: string): Result.Result<string, string> =>
  secret.trim() === "" ? Result.fail(otherwise) : Result.succeed(secret.trim())
