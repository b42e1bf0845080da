/** One run of a location: the sync of one machine, in a process beside the worker, which ends with the worker. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { fileNameOf } from "../../output/names.ts"
import { printedInText } from "../../run/process.ts"
import type { Environment } from "../../values/environment.ts"
import { messageOf } from "../../values/thrown.ts"
import { join } from "node:path"
import { tetherMessage } from "./tether.ts"
import { fleetTokenVariable } from "../../settings/read.ts"
import type { EndedRun, TetheredProcesses, TetheredRun } from "./tethered.ts"

export interface Order {
  readonly location: string
  readonly kind: "sync" | "full" | "all" | "backfill"
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** References to the token and the first refresh token; without them, the settings have one. */
  readonly token: string | undefined
  readonly refreshToken: string | undefined
  /** What a message calls the token. */
  readonly tokenName: string
  /** The folder of all locations. */
  readonly state: string
  /** The settings file of the worker. */
  readonly config: string | undefined
}

export interface Outcome {
  /** Null if a signal ended the process, and nobody knows what it sent last. */
  readonly exitCode: number | null
  /** Whether the process has ended itself, because the worker had not said in time that it owns the location. */
  readonly isCutOff: boolean
  readonly message?: string | undefined
  /** When the service accepts requests again, epoch milliseconds, if it has said so. */
  readonly resumeAt?: number | undefined
  readonly requests?: number | undefined
  readonly requestsLeft?: number | undefined
}

export interface Child extends Pick<TetheredRun, "extend" | "stop"> {
  readonly ended: Effect.Effect<Outcome>
}

/** `since`: when the worker last knew that it owns the location, epoch milliseconds. */
export const startChild = (
  { start }: TetheredProcesses,
  environment: Environment["Service"],
  order: Order,
  since: number,
  onLine: (line: string) => void
): Effect.Effect<Child> =>
  start(environment, { args: argumentsOf(order), environment: variablesOf(order) }, since, onLine).pipe(
    Effect.map(({ ended, ...child }) => ({ ...child, ended: Effect.map(ended, outcomeOf) })),
    Effect.catch((cause) => {
      const ended = Effect.succeed({ exitCode: null, isCutOff: false, message: messageOf(cause) })
      return Effect.succeed({ ended, extend: () => {}, stop: () => {} })
    })
  )

const variablesOf = ({ location, refreshToken, token, tokenName }: Order) => ({
  // One location must not read another's, whatever the variables of the worker say.
  SLUICE_LOCATION_ID: location,
  ...((token ?? refreshToken) !== undefined && { [fleetTokenVariable]: tokenName }),
  ...(token !== undefined && { SLUICE_TOKEN: token }),
  ...(refreshToken !== undefined && { SLUICE_REFRESH_TOKEN: refreshToken })
})

/** The output folder of a location. */
export const folderOf = (state: string, location: string): string => join(state, fileNameOf(location))

const argumentsOf = ({ config, from, kind, location, state, to }: Order): ReadonlyArray<string> => [
  kind === "backfill" ? "backfill" : "sync",
  "--location",
  location,
  "--output",
  folderOf(state, location),
  "--json",
  ...(config === undefined ? [] : ["--config", config]),
  ...(kind === "full" || kind === "all" ? ["--again", kind === "full" ? "lists" : "all"] : []),
  ...(from === undefined ? [] : ["--from", from]),
  ...(to === undefined ? [] : ["--to", to])
]

/** Of the result of `sync` or `backfill`, what the worker stores. */
const Stored = Schema.Struct({
  requests: Schema.Number,
  requestsLeft: Schema.optionalKey(Schema.Number),
  ended: Schema.Array(
    Schema.Struct({ resource: Schema.String, status: Schema.String, resumeAt: Schema.optionalKey(Schema.String) })
  )
})

/** A process that was killed printed nothing, or a part of it. */
const outcomeOf = ({ exitCode, messages, result }: EndedRun): Outcome => {
  const { data: all, error, next } = printedInText(result) ?? {}
  const data = Option.getOrUndefined(Schema.decodeUnknownOption(Stored)(all))
  const times = [error, ...(data?.ended ?? [])].flatMap((one) => (one?.resumeAt === undefined ? [] : [one.resumeAt]))
  const incomplete = (data?.ended ?? []).filter(({ status }) => status === "incomplete").map((end) => end.resource)
  const message =
    error?.message ??
    (incomplete.length > 0 ? `incomplete: ${incomplete.join(", ")}` : undefined) ??
    (exitCode === 0 ? undefined : (messages.trim().split("\n").at(-1) ?? `the process ended with ${exitCode}`))
  return {
    exitCode,
    message: message && `${message}${exitCode === 0 || next === undefined ? "" : ` Next: ${next}`}`.slice(0, 1000),
    resumeAt: times.length === 0 ? undefined : Math.max(...times.map((time) => Date.parse(time))),
    requests: data?.requests,
    requestsLeft: data?.requestsLeft,
    isCutOff: exitCode === null && messages.includes(tetherMessage)
  }
}
