/** The settings of sections `[listen]` and `[prune]`. */
import { period, text } from "./kinds.ts"
import { setting } from "./setting.ts"

export const listenSettings = {
  secret: setting(text, {
    environment: "SLUICE_LISTEN_SECRET",
    secret: true,
    description: "Secret that the events for ./sluice listen carry, or a reference to it.",
    example: "env:LISTEN_SECRET"
  })
}

export const pruneSettings = {
  history: setting(period, {
    description: "How long ./sluice prune keeps earlier versions of rows. Without it, they are kept for ever.",
    example: "24 months"
  }),
  compact_vault_after: setting(period, {
    description:
      "Age from which ./sluice prune removes responses from the vault that repeat earlier ones. Without it, they are kept.",
    example: "90 days"
  })
}
