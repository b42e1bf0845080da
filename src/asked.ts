/** Settings that ask for what is not read anyway, from the file or as text from the environment. */
import { Effect } from "effect"
import type { Asked } from "./catalog/asked.ts"
import { type Failure, settingFailure } from "./failure.ts"

export const askedSettings = Effect.fnUntraced(function* (
  account: Readonly<Record<string, unknown>>
): Effect.fn.Return<Asked, Failure> {
  const days = Number(account["free_slot_days"] ?? 0)
  if (!(days >= 0))
    return yield* settingFailure(`account.free_slot_days: ${String(account["free_slot_days"])} is no number of days`)
  const flags = { contact_details: false, conversation_messages: false }
  for (const name of ["contact_details", "conversation_messages"] as const) {
    const value = String(account[name] ?? false)
    if (value !== "true" && value !== "false")
      return yield* settingFailure(`account.${name}: ${value} is neither true nor false`)
    flags[name] = value === "true"
  }
  return {
    object_keys: words(account["object_keys"]),
    recurring_task_ids: words(account["recurring_task_ids"]),
    free_slot_days: days,
    ...flags
  }
})

/** A list of the file, or words with commas between them of the environment. */
export const words = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value
    : String(value ?? "")
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== "")
