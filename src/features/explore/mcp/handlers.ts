/** What the tools do. */
import { Effect, Semaphore } from "effect"
import { hash } from "node:crypto"
import type { Catalogue } from "../../../catalog/discover.ts"
import { alarmsNow } from "../../../run/alarms-now.ts"
import { type ShownAlarm, shownAlarms } from "../../../console/alarm-lines.ts"
import { explanationOf } from "../../../console/errors.ts"
import { Output } from "../../../console/streams.ts"
import { record } from "../../../command/recorded.ts"
import { statusOnce } from "../../../run/status.ts"
import type { ProfileName } from "../../../settings/masking.ts"
import type { Flags } from "../../../settings/read.ts"
import type { CommandSettings } from "../../../settings/settings.ts"
import { isPlainText } from "../../../stages/publish/masking/meta-tables.ts"
import { DatabaseError, slots } from "../database.ts"
import { limits } from "../limits.ts"
import type { QueryResult } from "../messages.ts"
import type { Release, Releases } from "../releases.ts"
import { type Described, describedBy, tableDescription, tableLines } from "./tables.ts"
import { CallFailed, answerCharactersMax, rowsByDefault, tools } from "./tools.ts"

export interface Handled {
  readonly releases: Releases
  readonly profile: ProfileName
  readonly catalogue: Catalogue
  readonly output: CommandSettings
  /** The settings are read anew for each status. */
  readonly flags: Flags
  /** Whether each query becomes a record of the ledger. */
  readonly isRecorded: boolean
}

export const handlers = ({ catalogue, flags, isRecorded, output, profile, releases }: Handled) =>
  tools.toLayer(
    Effect.gen(function* () {
      const { redacted, withFlags } = yield* Output
      const services = yield* Effect.context<Effect.Services<ReturnType<typeof statusOnce>> | Output>()
      const free = slots(limits.queries)
      // A process that closes a file loses its locks on it, and so the one that another call still needs.
      const opensWarehouse = yield* Semaphore.make(1)
      const descriptions = new WeakMap<Release, Described>()
      const described = async (release: Release, signal: AbortSignal) => {
        const known = descriptions.get(release) ?? (await describedBy(release, signal))
        descriptions.set(release, known)
        return known
      }
      const releaseOf = ({ id, writtenAt }: Release) => ({
        id,
        ...(writtenAt !== undefined && { writtenAt }),
        profile
      })
      /** With the release that is current when the call begins. */
      const onRelease = <A>(call: (release: Release, signal: AbortSignal) => Promise<A>) =>
        Effect.tryPromise({
          try: (signal) => free(signal, async () => call(await releases.current(), signal)),
          catch: failedOf
        })
      const explained = <A, E, R>(work: Effect.Effect<A, E, R>) =>
        work.pipe(
          Effect.catch((error) => {
            const explanation = explanationOf(error)
            if (explanation === undefined) return Effect.die(error)
            const { message, next } = explanation
            return Effect.fail(new CallFailed({ message: redacted(`${message} Next: ${withFlags(next)}`) }))
          })
        )
      const recorded = (detail: Parameters<typeof record>[2]) =>
        isRecorded
          ? explained(record(output.folder, "query", { profile, ...detail })).pipe(Effect.provide(services))
          : Effect.void

      return tools.of({
        list_tables: (chosen) =>
          onRelease(async (release, signal) => ({
            release: releaseOf(release),
            tables: tableLines(await described(release, signal), catalogue, chosen)
          })),
        describe_table: ({ table }) =>
          onRelease(async (release, signal) => ({
            release: releaseOf(release),
            ...tableDescription(await described(release, signal), catalogue, table)
          })),
        query: ({ max_rows: rowsMax = rowsByDefault, sql }) =>
          // A query can contain what somebody typed about a person, so the ledger has its checksum and its tables only.
          Effect.suspend(() => {
            const sha256 = hash("sha256", sql)
            return onRelease(async (release, signal) => {
              const started = performance.now()
              const result = await release.database.query(sql, signal)
              const { columns, cutCells: cutValues } = result
              const bounded = boundedOf(result, rowsMax)
              const elapsedMs = Math.round(performance.now() - started)
              return {
                answer: { release: releaseOf(release), columns, ...bounded, cutValues, elapsedMs },
                read: { served: release.id, tables: result.tables }
              }
            }).pipe(
              Effect.tapError(() => recorded({ sha256, status: "failed" })),
              Effect.tap(({ answer, read }) => recorded({ sha256, ...read, rows: answer.rows.length })),
              Effect.map(({ answer }) => answer)
            )
          }),
        status: () =>
          explained(
            Effect.map(statusOnce(flags), ({ data, next }) => {
              const { alarms, holder, lastRun, leftLocations, oldest, readings, source } = data
              const problems = readings.filter(({ isProblem }) => isProblem)
              return {
                source,
                ...(holder && { holder }),
                ...(lastRun && { lastRun }),
                ...(leftLocations && { leftLocations }),
                ...(oldest && { oldest }),
                problems: problems.map(({ completeAt, location, resource, state, warnings }) => ({
                  location,
                  resource,
                  state,
                  ...(completeAt !== undefined && { completeAt }),
                  warnings: maskedWarnings(profile, warnings)
                })),
                completeReadings: readings.length - problems.length,
                alarms: maskedAlarms(profile, alarms),
                ...(next !== undefined && { next: withFlags(next) })
              }
            })
          ).pipe(opensWarehouse.withPermits(1), Effect.provide(services)),
        alarms: () =>
          explained(
            Effect.map(alarmsNow(output), ({ compared, watched }) => ({
              compared,
              alarms: maskedAlarms(profile, shownAlarms(watched.alarms))
            }))
          ).pipe(opensWarehouse.withPermits(1), Effect.provide(services))
      })
    })
  )

const failedOf = (error: unknown): CallFailed => {
  if (error instanceof CallFailed) return error
  if (error instanceof DatabaseError) return new CallFailed({ message: error.message })
  throw error
}

/** The first rows that fit into an answer. */
const boundedOf = ({ columns, isCut, rows }: QueryResult, rowsMax: number) => {
  let left = answerCharactersMax - lengthOf(columns.flatMap(({ name, type }) => [name, type]))
  if (left < 0) throw new CallFailed({ message: `The query has ${columns.length} columns: name those that you need.` })
  const shown = rows.slice(0, rowsMax).filter((row) => (left -= lengthOf(row)) >= 0)
  return { rows: shown, truncated: isCut || shown.length < rows.length }
}

const lengthOf = (texts: ReadonlyArray<string | null>): number =>
  // Quotes and a comma, or null.
  texts.reduce((sum, text) => sum + (text?.length ?? 1) + 3, 0)

type Alarm = typeof ShownAlarm.Type

/** A run is named by its time, which is about no person. */
const withoutRuns = (text: string): string => text.replaceAll(/\b\d{8}T\d{9}Z\b/g, "")

/**
 * What the status says in words, as a release of the profile has it. The status describes the warehouse, where nothing is
 * masked: a text can quote the service, and a figure can be about few persons.
 */
const maskedWarnings = (profile: ProfileName, warnings: ReadonlyArray<string>): ReadonlyArray<string> =>
  profile === "raw" ? warnings : warnings.filter((one) => isPlainText(withoutRuns(one)))

const maskedAlarms = (profile: ProfileName, alarms: ReadonlyArray<Alarm>): ReadonlyArray<Alarm> =>
  alarms.map((alarm) => {
    const isShown = profile === "raw" || isPlainText(withoutRuns(alarm.message))
    return isShown ? alarm : { ...alarm, message: `not shown with the profile ${profile}; ./sluice check shows it` }
  })
