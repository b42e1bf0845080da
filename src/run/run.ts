/**
 * What surrounds the work of a command that changes the output folder. From the inside out: the report beside the release, the
 * record in the ledger, and the signals, which tell whether all of this succeeded.
 */
import type * as Effect from "effect/Effect"
import type { Catalogue } from "../catalog/discover.ts"
import type { OutputSettings } from "../settings/settings.ts"
import type { Detail, Kind } from "../stores/ledger/record.ts"
import { recorded } from "./recorded.ts"
import type { Reported, Subject } from "./reports.ts"
import { signalled } from "./signalled.ts"
import { withReport } from "./with-report.ts"

export interface RunOptions<A> {
  readonly output: OutputSettings
  readonly catalogue: Catalogue
  /** What the ledger keeps of successful work. */
  readonly detailOf: (done: A) => Detail
}

/** Runs work that requests nothing from the service. */
export const run = <A, E, R>(
  kind: Kind,
  work: Effect.Effect<A, E, R>,
  { output, catalogue, detailOf }: RunOptions<A>
) => recorded(withReport(output, catalogue)(work), output.folder, kind, detailOf)

/** Runs work that reads accounts: it also reports to the places that the settings name. */
export const runAccounts = <A extends { readonly exitCode: number }, E, R>(
  kind: "sync" | "backfill",
  work: Effect.Effect<A, E, R>,
  options: RunOptions<A> & { readonly output: Reported } & Pick<Subject, "accounts">
) => {
  const { accounts, catalogue, output } = options
  return signalled({ command: kind, output, accounts, catalogue })(run(kind, work, options))
}
