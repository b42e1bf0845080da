/** What follows from the settings of sections.ts: their paths, the types of their values, and how a flag is written. */
import * as Struct from "effect/Struct"
import { type OptionalSettings, optionalSettings } from "../catalog/optional-settings.ts"
import type { Kind } from "./kinds.ts"
import { sections } from "./sections.ts"
import type { Setting } from "./setting.ts"

type Sections = typeof sections
type ValueOf<S> = S extends Kind<infer A> ? (S extends { readonly default: unknown } ? A : A | undefined) : never

export type SettingValues = {
  readonly [Section in keyof Sections]: {
    readonly [Key in keyof Sections[Section]]: ValueOf<Sections[Section][Key]>
  }
}

export interface PlacedSetting extends Setting {
  /** The name in messages and in docs/configuration.md: `output.folder`. */
  readonly path: string
  readonly section: string
  readonly key: string
}

export const allSettings: ReadonlyArray<PlacedSetting> = Object.entries(sections).flatMap(([section, settings]) =>
  Object.entries<Setting>(settings).map(([key, one]) => ({ ...one, path: `${section}.${key}`, section, key }))
)

/** `--base-url` of `baseUrl`. */
export const flagText = (flag: string): string =>
  `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** The settings that turn on optional resources. */
export const optionalOf = (account: SettingValues["account"]): OptionalSettings =>
  Struct.pick(account, Struct.keys(optionalSettings))
