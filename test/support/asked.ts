import type { Asked } from "../../src/catalog/asked.ts"

/** Settings that ask for nothing beyond what is read anyway. */
export const nothingAsked: Asked = {
  object_keys: [],
  recurring_task_ids: [],
  free_slot_days: 0,
  contact_details: false,
  conversation_messages: false
}
