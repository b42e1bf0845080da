/** `sluice explore`: serves a page on this machine that shows the published tables and runs queries on them. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { hash } from "node:crypto"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { memoryMbMin } from "./limits.ts"
import { type TablesOptions, startExplorer } from "./server.ts"
import { outputPaths, snapshotName } from "../../output/paths.ts"
import type { Flags } from "../../settings/read.ts"
import { type OutputSettings, outputSettings } from "../../settings/settings.ts"
import { thisProgram } from "../../run/process.ts"
import { Environment } from "../../values/environment.ts"
import { messageOf } from "../../values/thrown.ts"
import { configError, failedError, firstSync } from "../../console/errors.ts"
import { Output } from "../../console/streams.ts"
import { printResult } from "../../console/result.ts"
import { dictionaryOf } from "./documents.ts"

export interface ExploreFlags extends Flags {
  readonly listen: number | undefined
  readonly open: boolean
  readonly queries: string | undefined
  readonly json: boolean
}

/** Runs until it is interrupted. */
export const explore = Effect.fn("command.explore")(function* (flags: ExploreFlags) {
  const { print, say } = yield* Output
  const environment = yield* Environment
  const output = yield* outputSettings(flags, environment)
  yield* checkPublished(output)
  const { listen: port } = flags
  const tables = tablesOf(output, flags.queries)
  const startAt = (at: number) =>
    startExplorer({
      ...tables,
      port: at,
      output: output.folder,
      dictionary: () => dictionaryOf(thisProgram(), flags.config, output.folder, environment)
    })
  const explorer = yield* (
    port === undefined ? Effect.catch(startAt(usualPort(tables.published)), () => startAt(0)) : startAt(port)
  ).pipe(
    Effect.mapError(({ cause }) =>
      failedError(
        `127.0.0.1:${port ?? 0} cannot be used: ${messageOf(cause)}.`,
        "Name another port with --listen, or leave the flag out to get a free one."
      )
    )
  )
  const { url } = explorer
  if (flags.json)
    yield* printResult("explore", { exitCode: 0, data: { url, port: explorer.port, queries: tables.queries } })
  else print(url)
  say(`The page shows ${tables.published} to this machine only. Press Ctrl-C to end.`)
  if (flags.open) yield* openInBrowser(explorer.singleUseUrl())
  return yield* Effect.never
}, Effect.scoped)

/** What a site shows of an output folder. `queries`: the folder of the saved queries. */
export const tablesOf = ({ folder, memoryMb, models, pipelines }: OutputSettings, queries?: string): TablesOptions => ({
  published: outputPaths(folder).published,
  memoryMb: Math.max(memoryMb, memoryMbMin),
  queries: queries === undefined ? join(folder, "queries") : resolve(queries),
  links: () => import("./defined-links.ts").then(({ definedLinks }) => definedLinks(pipelines, models?.folder))
})

/** The same for a folder each time: what a browser keeps, it keeps for an address. Below the ports that systems hand out. */
const usualPort = (folder: string): number =>
  20_000 + (Number.parseInt(hash("sha256", folder).slice(0, 8), 16) % 10_000)

const checkPublished = (output: OutputSettings) => {
  const { published, warehouse } = outputPaths(output.folder)
  if (existsSync(join(published, snapshotName))) return Effect.void
  if (!output.formats.includes("duckdb"))
    return configError(
      `There is no ${join(published, snapshotName)}: the setting output.formats is [${output.formats.map((format) => `"${format}"`).join(", ")}], without "duckdb".`,
      'Add "duckdb" to output.formats in the settings file or to SLUICE_FORMATS, then run ./sluice publish.'
    )
  return failedError(
    `Nothing was published into ${published} yet.`,
    existsSync(warehouse) ? "./sluice publish" : firstSync(output.folder)
  )
}

/** The address stays on the terminal if there is no browser. */
export const openInBrowser = Effect.fnUntraced(function* (url: string) {
  const { say } = yield* Output
  const program = process.platform === "darwin" ? "open" : "xdg-open"
  yield* Effect.sync(() => {
    const child = spawn(program, [url], { detached: true, stdio: "ignore" })
    child.once("error", () => say(`${program} is not installed: open the address in a browser.`, "warn"))
    child.unref()
  })
})
