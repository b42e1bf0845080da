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
  const details = String(account["contact_details"] ?? false)
  if (details !== "true" && details !== "false")
    return yield* settingFailure(`account.contact_details: ${details} is neither true nor false`)
  return {
    object_keys: words(account["object_keys"]),
    recurring_task_ids: words(account["recurring_task_ids"]),
    free_slot_days: days,
    contact_details: details === "true"
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
