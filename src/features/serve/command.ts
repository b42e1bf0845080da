/** `sluice serve`: a web page that sets up an account, syncs it on a schedule, and shows its runs and tables. */
import { Effect, Redacted, Result } from "effect"
import type { CommandDescriptor } from "effect/cli/Completions"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { openInBrowser, tablesOf } from "../explore/command.ts"
import { writeAtomically } from "../../output/files.ts"
import { outputPaths } from "../../output/paths.ts"
import { defaultFile } from "../../settings/file.ts"
import { type Flags, readSettings } from "../../settings/read.ts"
import { outputSettings } from "../../settings/settings.ts"
import { thisProgram } from "../../run/process.ts"
import type { Listening } from "../../command/flags.ts"
import { Environment } from "../../values/environment.ts"
import { codeOf, messageOf } from "../../values/thrown.ts"
import { configError, failedError } from "../../console/errors.ts"
import { Output } from "../../console/streams.ts"
import { printResult } from "../../console/result.ts"
import { hostText } from "../../network/sessions.ts"
import { hashOf, isHash, newAccess, passwordLengthMin } from "./access.ts"
import { startConsole } from "./console.ts"
import { startSite } from "./site.ts"
import { dictionaryOf } from "../explore/documents.ts"

const usualPort = 8787
const passwordName = "console-password"

/** Where this machine reaches it: each of its addresses is its own, if it listens on all of them. */
export const addressOf = (host: string, port: number): string =>
  `http://${hostText(/^(0\.0\.0\.0|[0:]+)$/.test(host) ? "127.0.0.1" : host)}:${port}/`

/** Without it, a restart needs the new link. */
const keptIn = (file: string) => ({
  text: existsSync(file) ? readFileSync(file, "utf8") : "",
  write: (text: string) => void writeAtomically(file, text).catch(() => {})
})

/** Runs until it is interrupted. */
export const serve = Effect.fn("command.serve")(function* (
  flags: Flags & { readonly listen: Listening; readonly open: boolean; readonly json: boolean },
  commands: () => CommandDescriptor
) {
  const { keepSecret, print, say } = yield* Output
  const environment = yield* Environment
  const config = resolve(flags.config ?? defaultFile)
  // The settings may be written on the page; only a file that is named must exist.
  const named: Flags = { output: flags.output, ...(existsSync(config) && { config }) }
  const output = yield* outputSettings(named, environment)
  const { values } = readSettings(named, environment)
  const own = () => [
    ...(existsSync(config) ? ["--config", config] : []),
    ...(flags.output === undefined ? [] : ["--output", resolve(flags.output)])
  ]
  const passwordOf = Effect.fnUntraced(function* (name: string, secret: typeof values.console.password) {
    if (secret === undefined) return undefined
    const read = secret.read()
    if (Result.isFailure(read))
      return yield* configError(
        `console.${name} cannot be read: ${read.failure.what.cause}.`,
        "./sluice config validate"
      )
    const text = Redacted.value(read.success)
    keepSecret(text)
    if (text.length < passwordLengthMin)
      return yield* configError(
        `A password of the page has ${passwordLengthMin} characters or more.`,
        "Set a longer one; `openssl rand -base64 18` makes one."
      )
    // So that each try costs the same, however the password is written.
    return yield* Effect.promise(() => hashOf(text))
  })
  const owner = yield* passwordOf("password", values.console.password)
  const reader = yield* passwordOf("readonly_password", values.console.readonlyPassword)
  const program = thisProgram()
  const { host = "127.0.0.1", port = usualPort } = { ...flags.listen }
  const isPublic = !["127.0.0.1", "localhost", "::1"].includes(host)
  const passwordFile = join(dirname(config), passwordName)
  const storedPassword = () => {
    try {
      return readFileSync(passwordFile, "utf8").trim()
    } catch (cause) {
      // What cannot be read is a password that nobody has.
      return codeOf(cause) === "ENOENT" ? undefined : ""
    }
  }
  const stored = storedPassword()
  if (stored !== undefined && !isHash(stored))
    return yield* configError(
      `${passwordFile} does not have the password of the page in the form in which the page writes it.`,
      "Remove the file; the page then asks for a new password."
    )
  // A way in that was made for this machine alone does not outlive that.
  const isLocal = !isPublic && values.console.url === undefined && (owner ?? stored ?? reader) === undefined
  const access = newAccess({
    kept: isLocal ? keptIn(join(outputPaths(output.folder).console, "sessions.json")) : undefined,
    passwords: () => ({ owner: owner ?? storedPassword(), reader }),
    url: values.console.url,
    trustedProxies: values.console.trustedProxies,
    isPublic
  })
  const needsPassword = isPublic && owner === undefined && stored === undefined
  const failed = (cause: unknown) =>
    failedError(
      `The page cannot be served at ${host}:${port}: ${messageOf(cause)}.`,
      codeOf(cause) === "EADDRINUSE" ? "Name another port with --listen." : "Correct this, then ./sluice serve."
    )
  const console = yield* Effect.mapError(
    startConsole({
      config,
      output: output.folder,
      outputFlag: flags.output,
      program,
      flags: own,
      environment,
      commands,
      onProblem: (message) => say(`The schedule could not go on: ${message}`, "error")
    }),
    failed
  )
  const site = yield* Effect.mapError(
    startSite({
      console,
      access,
      host,
      port,
      output: output.folder,
      tables: tablesOf(output),
      passwordFile: needsPassword ? passwordFile : undefined,
      dictionary: () => dictionaryOf(program, flags.config, output.folder, environment)
    }),
    ({ cause }) => failed(cause)
  )
  yield* console.begin
  const address = addressOf(host, site.port)
  const hasLink = !isPublic || needsPassword
  const urlOf = (isOnce: boolean) =>
    hasLink ? `${address}?token=${access.newLink(isOnce)}` : (values.console.url ?? address)
  // Where others come in by a password, they may read the log, too.
  const url = urlOf(isPublic || values.console.url !== undefined || access.hasPassword())
  if (flags.json) yield* printResult("serve", { exitCode: 0, data: { url, port: site.port } })
  else print(url)
  const who = needsPassword
    ? "The link is valid once, and its page asks for a password."
    : hasLink && access.hasPassword()
      ? "The link is valid once, on this machine."
      : hasLink
        ? "The link shows the page to this machine only."
        : "The page asks for the password."
  say(`${who} Press Ctrl-C to end.`)
  if (flags.open) yield* openInBrowser(urlOf(true))
  return yield* Effect.never
}, Effect.scoped)
