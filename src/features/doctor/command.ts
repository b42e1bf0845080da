/** `sluice doctor`: finds what would stop a sync before one is tried. */
import { Effect } from "effect"
import { Api } from "../../stages/api/api.ts"
import { levelWords, ok } from "../../values/finding.ts"
import { type DoctorFinding, problem } from "./finding.ts"
import { outputFolder, proxies, secretFile, versions } from "./environment.ts"
import { service } from "./service.ts"
import { receivers, warehouse, withheld } from "./warehouse.ts"
import { exitCodes } from "../../values/failure.ts"
import { SettingsError } from "../../settings/errors.ts"
import type { Flags } from "../../settings/read.ts"
import { checkedSettings } from "../../command/prologue.ts"
import { findingTable } from "../../console/findings.ts"
import { Output, table } from "../../console/streams.ts"
import { onDisk } from "../../output/files.ts"
import { installed } from "../../values/installation.ts"
import { explained, failureExplanation } from "../../console/errors.ts"
import { shown } from "../../console/result.ts"
import { settingsExplanation } from "../../console/setting-errors.ts"

/** What a look at files found; a file that cannot be read is a problem, and the other checks go on. */
const looked = (where: string, path: string, look: () => Promise<ReadonlyArray<DoctorFinding>>) =>
  onDisk(path, "read", look).pipe(Effect.catch((error) => Effect.succeed([problem(where, failureExplanation(error))])))

export const doctor = Effect.fn("command.doctor")(function* (flags: Flags) {
  const { say, withFlags } = yield* Output
  const { settings, all, problems, output, accounts, catalogue } = yield* checkedSettings(flags)
  const found: Array<DoctorFinding> = [
    ...(all.length === 0
      ? [ok("settings", `${settings.sources.length} settings, none of them missing, wrong or unknown`)]
      : all.map((one) => problem("settings", settingsExplanation(new SettingsError({ problems: [one] }))))),
    ...(settings.hasPlainSecret ? yield* looked("settings", settings.file, () => secretFile(settings.file)) : []),
    ...(yield* looked("versions", installed(""), () => versions()))
  ]
  if (settings.problems.length === 0) {
    found.push(...(yield* looked("folder", output.folder, () => outputFolder(output.folder))))
    found.push(...(yield* withheld(output, catalogue)))
    found.push(...(yield* warehouse(output, settings.namedLocations)))
  }
  found.push(...proxies([...new Set(accounts.map(({ api }) => api.baseUrl))]))
  if (problems.length === 0) {
    const where = accounts.length === 1 ? "" : ` for each of ${accounts.length} locations`
    say(`Checking the service with about 30 small requests${where} …`)
    const checked = yield* Effect.forEach(
      accounts,
      (account) =>
        service({ catalogue, account, explained: explained(account) }).pipe(
          Effect.map((all) => (accounts.length === 1 ? all : all.map(withLocation(account.location)))),
          Effect.provide(Api.layer(account.api))
        ),
      { concurrency: 4 }
    )
    found.push(...checked.flat(), ...(yield* receivers(output)))
  }

  const ends = found.find(({ level }) => level === "wrong")?.ends
  const exitCode = ends === undefined ? 0 : exitCodes[ends]
  const left = found.find(({ where }) => where === "locations")
  const next = ends === undefined ? (left?.next ?? "./sluice sync") : "correct the problems above, then ./sluice doctor"
  const sources = settings.sources.map((source) => ({
    key: source.path,
    value: source.shown,
    from: [source.from, source.name].filter(Boolean).join(" ")
  }))
  return shown("doctor", { exitCode, next, data: { lines: found.map(lineOf), settings: sources } }, () => [
    ...findingTable(found, levelWords.doctor, withFlags),
    "",
    ...table(
      ["setting", "value", "from"],
      sources.map(({ key, value, from }) => [key, value, from])
    )
  ])
})

const withLocation =
  (location: string) =>
  (found: DoctorFinding): DoctorFinding => ({ ...found, where: `${found.where} ${location}` })

const lineOf = ({ level, where, what, next, ends }: DoctorFinding) => ({
  state: levelWords.doctor[level],
  check: where,
  what,
  ...(next !== undefined && { todo: next }),
  ...(ends !== undefined && { ends })
})
