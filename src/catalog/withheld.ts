/** What the settings keep out of every store, as data beside a definition: `settings/withheld.ts` makes it. */
import type { CustomFieldClasses, PersonalData } from "./personal-data.ts"

export interface Withheld {
  /** Columns, as `table.column`, and child tables. */
  readonly excluded: ReadonlySet<string>
  /** Columns, as `table.column`. */
  readonly hashed: ReadonlySet<string>
  /** Tables whose unknown fields are kept out. */
  readonly withoutUnknown: ReadonlySet<string>
  readonly customFields?: WithheldCustomFields
  /** Nothing of it is read, because its records cannot be stored in part. */
  readonly isNotRead?: true
  /** The days since when what was stored before is kept out, by its names for people. */
  readonly since?: ReadonlyMap<string, string>
}

export interface WithheldCustomFields {
  /** As `<model>.<key>`. */
  readonly keys: ReadonlySet<string>
  readonly classes: ReadonlyArray<PersonalData>
  readonly classOf: CustomFieldClasses
}

export const pathIn = (table: string, column: string): string => `${table}.${column}`

export const withheldIn = ({ excluded, hashed, isNotRead }: Withheld, table: string, column: string) =>
  isNotRead || excluded.has(table) || excluded.has(pathIn(table, column))
    ? "excluded"
    : hashed.has(pathIn(table, column))
      ? "hashed"
      : undefined

export const isWithout = ({ excluded, isNotRead }: Withheld, table: string): boolean =>
  isNotRead === true || excluded.has(table)

/** Whether the values of the custom field with this key are kept out. */
export const isFieldWithheld = ({ keys, classes, classOf }: WithheldCustomFields, key: string): boolean =>
  keys.has(key) || classes.includes(classOf[key] ?? "direct")

/** The key of a custom field without its model. */
export const shortKey = (key: string): string => key.slice(key.indexOf(".") + 1)

/** What is kept out, as people name it: columns, child tables and custom fields. */
export const withheldNames = ({ excluded, hashed, customFields, withoutUnknown }: Withheld): ReadonlyArray<string> => [
  ...excluded,
  ...[...hashed].map((path) => `hash of ${path}`),
  ...[...withoutUnknown].map((table) => `unknown fields of ${table}`),
  ...[...(customFields?.keys ?? [])].map((key) => `custom field ${key}`),
  ...(customFields?.classes ?? []).map((one) => `custom fields of class ${one}`)
]
