/** The profiles: how much of the personal data a published file contains. */
import type { PseudonymKey } from "./pseudonym-key.ts"

export const profiles = ["raw", "masked", "analytics", "aggregate"] as const
export type ProfileName = (typeof profiles)[number]

/** A profile that replaces values, with the key if it makes pseudonyms. */
export type Masking =
  | { readonly profile: "masked" | "aggregate" }
  | { readonly profile: "analytics"; readonly key: PseudonymKey }
