/** What a setting is. */
import type { Kind } from "./kinds.ts"

/** The flags of settings, by their names in the program: `baseUrl` is `--base-url`. */
export interface SettingFlags {
  readonly baseUrl?: string | undefined
  readonly location?: string | undefined
  readonly output?: string | undefined
  readonly csvProfile?: string | undefined
}

export interface Setting<A = unknown> extends Kind<A> {
  /** One sentence. */
  readonly description: string
  readonly environment?: string
  readonly flag?: keyof SettingFlags
  /** Its value is never shown; it may be written as a reference (`env:`, `file:`, `cmd:`). */
  readonly secret?: true
  readonly default?: A
  /** The value in config/example.toml. Default: the default of the setting. */
  readonly example?: A
}

export const setting = <A, const Rest extends Omit<Setting<A>, keyof Kind<A>>>(kind: Kind<A>, rest: Rest) => ({
  ...kind,
  ...rest
})
