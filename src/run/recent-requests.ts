/**
 * `recent-requests.json` in the output folder: the requests of the last window and the rate limit, by location. Without it,
 * the next run would take them for requests of another client, and leave slots to it. A killed run does not write the file.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import type { RecentRequests } from "../settings/account.ts"
import type { Budget } from "../stages/api/rate-limiter.ts"
import { writeAtomically } from "../output/files.ts"
import { outputPaths } from "../output/paths.ts"

const ByLocation = Schema.Record(
  Schema.String,
  Schema.Struct({ burst: Schema.Number, windowMs: Schema.Number, answered: Schema.Array(Schema.Number) })
)
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(ByLocation))

interface Account {
  readonly baseUrl: string
  readonly location: string
}
const keyOf = ({ baseUrl, location }: Account) => `${baseUrl} ${location}`

/** `undefined` if there is no file, or if it cannot be read. */
export const recentRequests = Effect.fnUntraced(function* (folder: string) {
  const text = yield* Effect.promise(() => readFile(outputPaths(folder).recentRequests, "utf8").catch(() => ""))
  const found = Option.getOrElse(decode(text), (): typeof ByLocation.Type => ({}))
  return (account: Account): RecentRequests | undefined => found[keyOf(account)]
})

/** The next run is only a little slower without the file, so an error is ignored. */
export const storeRecentRequests = (
  folder: string,
  accounts: ReadonlyArray<Account & { readonly recent: Budget["recent"] }>
) =>
  Effect.gen(function* () {
    const found: Record<string, RecentRequests> = {}
    for (const { recent, ...account } of accounts) found[keyOf(account)] = yield* recent
    yield* Effect.tryPromise(() => writeAtomically(outputPaths(folder).recentRequests, JSON.stringify(found)))
  }).pipe(Effect.ignore)
