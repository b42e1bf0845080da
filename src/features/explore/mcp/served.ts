/** Which release an assistant may read: that of a target whose profile masks persons, unless somebody decides otherwise. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { outputPaths, snapshotName } from "../../../output/paths.ts"
import { CommandError, configError, failedError, usageError } from "../../../console/errors.ts"
import { closest, suggestion } from "../../../settings/closest.ts"
import type { ProfileName } from "../../../settings/masking.ts"
import type { CommandSettings } from "../../../settings/settings.ts"
import type { TargetSettings } from "../../../settings/targets.ts"

export interface Served {
  /** A link, which each release replaces. */
  readonly folder: string
  readonly profile: ProfileName
}

export interface ServedFlags {
  readonly target: string | undefined
  readonly profile: ProfileName | undefined
}

/** Fails if nothing may be served, or if there is no release. */
export const servedOf = Effect.fnUntraced(function* (output: CommandSettings, flags: ServedFlags) {
  const served = yield* chosen(output, flags)
  if (existsSync(join(served.folder, snapshotName))) return served
  return yield* failedError(
    `There is no ${join(served.folder, snapshotName)}: nothing was published there yet, or without the format duckdb.`,
    './sluice publish, with "duckdb" in the formats of the settings file'
  )
})

const chosen = (
  { folder, publishing: { targets } }: CommandSettings,
  { profile: given, target: name }: ServedFlags
): Effect.Effect<Served, CommandError> => {
  if (given !== undefined && name !== undefined)
    return usage("--profile and --target cannot both be given.", "Leave one of them out.")
  if (given === "raw") return Effect.succeed({ folder: outputPaths(folder).published, profile: "raw" })
  if (name !== undefined) return named(targets, name)
  const wanted = given ?? "analytics"
  const [first, ...others] = targets.filter(({ formats, profile }) => profile === wanted && formats.includes("duckdb"))
  if (first === undefined) return Effect.fail(nothingMasked(folder, wanted))
  if (others.length === 0) return Effect.succeed(first)
  const names = [first, ...others].map((target) => target.name)
  return usage(`Several targets have the profile ${wanted}: ${names.join(", ")}.`, `./sluice mcp --target ${names[0]}`)
}

const named = (targets: ReadonlyArray<TargetSettings>, name: string): Effect.Effect<Served, CommandError> => {
  const target = targets.find((one) => one.name === name)
  if (target === undefined) {
    const near = closest(
      name,
      targets.map((one) => one.name)
    )
    return usage(`--target ${name}: [[publish]] has no such target${suggestion(near)}`, "./sluice config show")
  }
  return target.profile === "raw"
    ? usage(
        `The target ${name} has the profile raw, so it masks nothing.`,
        "Name another target, or give --profile raw to serve everything."
      )
    : Effect.succeed(target)
}

const usage = (message: string, next: string) => Effect.fail(usageError(message, next))

const nothingMasked = (folder: string, profile: string): CommandError =>
  configError(
    `No target of [[publish]] has the profile ${profile}, and the format duckdb.`,
    `Add these lines to the settings file, then run ./sluice publish:

[masking]
key = "file:/etc/sluice/masking.key" # openssl rand -hex 32 > masking.key; chmod 600 masking.key

[[publish]]
name = "assistant"
folder = "${join(dirname(folder), "assistant")}"
profile = "${profile}"
formats = ["duckdb"]

--profile raw serves everything: names, addresses and messages.`
  )
