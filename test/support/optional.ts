import type { OptionalSettings } from "../../src/catalog/optional-settings.ts"

/** Settings that enable no optional resource. */
export const nothingOptional: OptionalSettings = {
  object_keys: [],
  recurring_task_ids: [],
  free_slot_days: 0,
  further_lists: false,
  contact_details: false,
  conversation_messages: false,
  files: []
}
