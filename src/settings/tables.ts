/** What of a table is never stored. */
import { type Section, setting, textList } from "../values/setting.ts"

export const tableSettings = {
  exclude: setting(textList, {
    description: "Columns and child tables that are never stored.",
    example: ["ssn", "date_of_birth"]
  }),
  only: setting(textList, {
    description:
      "The only columns and child tables that are stored, beside those that sluice needs; no unknown field is stored.",
    alternative: true,
    example: ["first_name", "contact_tags"]
  }),
  hash: setting(textList, {
    description: "Columns of which only a keyed hash is stored; it needs masking.key.",
    example: ["email"]
  })
} satisfies Section
