/** The value that leaves a resource off, and why that is the default. */
const left = <Value>(off: Value, why: string) => ({ off, why })
const noNames: ReadonlyArray<string> = []

/** The settings that turn on optional resources. */
export const optionalSettings = {
  object_keys: left(noNames, "All objects that the account made are read."),
  recurring_task_ids: left(noNames, "The API does not list recurring tasks."),
  free_slot_days: left<number>(0, "The service computes free slots for the range that is requested."),
  conversation_messages: left<boolean>(
    false,
    "The export contains all messages except review requests and group chats. Conversations that consist only of these are always read one by one."
  ),
  files: left(noNames, "Files take much more space than records, and are fetched from other hosts."),
  further_lists: left<boolean>(false, "No account has shown it yet: it is known from the description of the API only."),
  contact_details: left<boolean>(
    false,
    "The search returns the same record, except in accounts where it omits do-not-disturb settings and attribution."
  )
}

export type OptionalSetting = keyof typeof optionalSettings
export type OptionalSettings = { readonly [Name in OptionalSetting]: (typeof optionalSettings)[Name]["off"] }
export type BooleanSetting = {
  [Name in OptionalSetting]: OptionalSettings[Name] extends boolean ? Name : never
}[OptionalSetting]

/** Where the settings file has it. */
export const optionalPath = (name: OptionalSetting): string => (name === "files" ? "files.fetch" : `account.${name}`)

/** A sentence for people: why the setting is off by default, and how to turn it on. */
export const whyOptional = (name: OptionalSetting): string =>
  `${optionalSettings[name].why} ${name === "further_lists" ? "Left out without" : "Enabled by"} ${optionalPath(name)} (SLUICE_${name.toUpperCase()}).`
