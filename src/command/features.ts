/**
 * What features do in a run. They stand above it, so the command line gives them to it (src/cli/run-features.ts), and each
 * loads its code only when it is needed.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { Catalogue } from "../catalog/discover.ts"
import type { AlarmSettings } from "../alarms/silence.ts"
import type { WantedSettings, OutputSettings } from "../settings/settings.ts"
import type { SignalSettings } from "../settings/signals.ts"
import type { Vault } from "../stores/vault/vault.ts"
import type { Warehouse } from "../stores/warehouse/warehouse.ts"
import type { Environment } from "../values/environment.ts"
import type { Failure } from "../values/failure.ts"
import type { Output } from "../console/streams.ts"

export interface Reported extends OutputSettings {
  readonly wanted: WantedSettings
  readonly alarms: AlarmSettings
  readonly signals: SignalSettings
}

/** What a run reports on. */
export interface Subject {
  readonly command: string
  readonly output: Reported
  readonly catalogue: Catalogue
}

/** How a run ended. */
export interface End {
  readonly exitCode: number
  /** A sentence without personal data. */
  readonly text: string
  /** Absent if the run did its work, perhaps in part. */
  readonly failed?: { readonly exitCode: number; readonly message: string; readonly next: string }
  /** Another run worked, or a signal stopped this one: it says nothing about the account. */
  readonly isSilent?: true
}

/** Reports how a run ended. */
export type Report = (end: End) => Effect.Effect<unknown, unknown, Output>

export class RunFeatures extends Context.Service<
  RunFeatures,
  {
    /** Begins the reports to the places that the settings name, of which there is at least one. */
    readonly beginSignals: (subject: Subject) => Effect.Effect<Report, never, Output | Environment>
    /** A vault that stores no record of an erased person. `onRemoved` gets the number of those that were left out. */
    readonly withoutErased: <E, R>(
      vault: Layer.Layer<Vault, E, R>,
      output: string,
      catalogue: Catalogue,
      onRemoved: (count: number) => void
    ) => Layer.Layer<Vault, E | Failure, R | Warehouse>
    /** Writes the report into the current release; nothing if there is none, or if its report is up to date. */
    readonly writeReport: (output: OutputSettings, catalogue: Catalogue) => Effect.Effect<void, unknown, Output>
  }
>()("sluice/command/RunFeatures") {}
