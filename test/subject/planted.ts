/** A person who is planted in every collection of a sandbox account that can hold one. */
import type { Service } from "../support/service.ts"

export const planted = {
  firstName: "Xenia",
  lastName: "Quillfeather",
  name: "Xenia Quillfeather",
  email: "xenia.quillfeather@planted.example",
  phone: "+14155550199"
} as const

/** Collections whose records can be about a contact, with the table of each. */
export const tableOf = {
  notes: "contact_notes",
  tasks: "tasks",
  opportunities: "opportunities",
  appointments: "appointments",
  conversations: "conversations",
  messages: "messages",
  invoices: "invoices",
  estimates: "estimates",
  orders: "orders",
  transactions: "transactions",
  subscriptions: "subscriptions",
  submissions: "form_submissions",
  survey_submissions: "survey_submissions"
} as const

export interface Planted {
  readonly contact: string
  /** The ids of the planted records by collection. */
  readonly ids: Readonly<Record<string, ReadonlyArray<string>>>
  /** A note of somebody else that contains the address of the person. */
  readonly note: string
}

type Data = Readonly<Record<string, unknown>>
const idOf = (record: Data) => String(record["id"] ?? record["_id"])

/** Copies records of other contacts, with the ids and addresses of the person in their place. */
export const plant = async (
  service: Service,
  collections: ReadonlyArray<string> = Object.keys(tableOf)
): Promise<Planted> => {
  const contacts = await service.records("contacts")
  let count = 0
  const add = async (collection: string, fields: Data, like?: string): Promise<string> => {
    const id = `planted${String(++count).padStart(13, "0")}`
    await service.post("plant", { collection, like: like ?? idOf((await service.records(collection))[0]!), id, fields })
    return id
  }
  const contact = await add("contacts", {
    ...planted,
    contactName: planted.name,
    emailLowerCase: planted.email,
    firstNameLowerCase: "xenia",
    lastNameLowerCase: "quillfeather",
    additionalEmails: [{ email: "x.quill@other.example" }],
    additionalPhones: []
  })
  const ids: Record<string, Array<string>> = {}
  for (const collection of collections) {
    const asListed = new Map((await service.records(`${collection}?form=list`)).map((record) => [idOf(record), record]))
    const records = (await service.records(collection)).map((record) => ({ ...asListed.get(idOf(record)), ...record }))
    const other = contacts.find(({ id }) => records.some((record) => JSON.stringify(record).includes(String(id))))
    const record = records.findLast((one) => JSON.stringify(one).includes(String(other?.["id"])))
    if (other === undefined || record === undefined) throw new Error(`no contact has records in ${collection}`)
    const replaced = [
      [other["id"], contact],
      [other["email"], planted.email],
      [other["phone"], planted.phone],
      [other["contactName"] ?? other["name"], planted.name],
      [other["firstName"], planted.firstName],
      [other["lastName"], planted.lastName]
    ].reduce<string>(
      (text, [from, to]) => (typeof from === "string" && from.length > 2 ? text.replaceAll(from, String(to)) : text),
      JSON.stringify(record)
    )
    const { id: _id, _id: __id, ...fields } = JSON.parse(replaced) as Data
    const conversation = ids["conversations"]?.[0]
    ids[collection] = [
      await add(
        collection,
        { ...fields, ...("conversationId" in fields && conversation && { conversationId: conversation }) },
        idOf(record)
      )
    ]
  }
  const note = await add("notes", { body: `Please call ${planted.name} at ${planted.email}` })
  return { contact, ids, note }
}
