import { HttpError, invalid } from "../../http/errors.ts"
import { findContact, updateContact } from "../contacts/contacts.ts"
import type { Route } from "../../http/route.ts"
import { record, required, text } from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"

/** Uploads of files to the custom fields of a contact (B 4.8). */
export const formUploadRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/forms/upload-custom-files",
    summary: "Upload files to custom fields of a contact",
    scope: "forms.write",
    location: { in: "query", name: "locationId" },
    query: { contactId: required(text) },
    form: {},
    returns: record("Contact"),
    errors: [413],
    handle: ({ parts, query }, service) => {
      const { contacts, customFields } = service.world
      const contact = findContact(service, String(query["contactId"]))
      const files = parts.filter((part) => "fileName" in part)
      if (files.length === 0) throw invalid("at least one file should be sent")
      const fileFields = new Map(
        [...customFields.live()]
          .map((row) => customFields.data(row))
          .filter(({ dataType, model }) => dataType === "FILE_UPLOAD" && model === "contact")
          .map((field) => [String(field["id"]), field])
      )
      const valueById = new Map<string, Data>()
      for (const { fileName, mimeType, name, size } of files) {
        const [, fieldId, fileId] = /^([^_]+)_(.+)$/.exec(name) ?? []
        const field = fileFields.get(fieldId ?? "")
        if (field === undefined || fileId === undefined) {
          throw invalid(`${name} does not name a custom field for files and a file`)
        }
        if (size > maxBytes) throw new HttpError(413, `${fileName} is larger than 50 MB`)
        const extension = fileName.slice(fileName.lastIndexOf(".") + 1).toLowerCase()
        if (!allowed.includes(extension) || !accepts(field, extension))
          throw new HttpError(415, `Files of type ${extension} are not allowed`)
        const url = `https://files.example/${fileId}/${encodeURIComponent(fileName)}`
        const meta = { fieldname: name, originalname: fileName, mimetype: mimeType, size }
        valueById.set(fieldId!, { ...valueById.get(fieldId!), [fileId]: { meta, url, documentId: fileId } })
      }
      const old = (contacts.data(contact)["customFields"] ?? []) as ReadonlyArray<Data>
      const kept = old.filter(({ id }) => !valueById.has(String(id)))
      // New files are added to those of the field.
      const values = [...valueById].map(([id, files]) => {
        const before = old.find((value) => value["id"] === id)?.["value"]
        const value = { ...(typeof before === "object" ? before : {}), ...files }
        const most = maxFiles(fileFields.get(id)!)
        if (Object.keys(value).length > most) throw invalid(`the custom field ${id} takes at most ${most} files`)
        return { id, value }
      })
      return contacts.full(updateContact(service, contact, { customFields: [...kept, ...values] }))
    }
  }
]

/** The maximum number of files of a field (A 2.4). */
const maxFiles = ({ isMultiFileAllowed, maxFileLimit }: Data): number =>
  isMultiFileAllowed === false ? 1 : Number(maxFileLimit ?? Infinity)

/** Whether a field accepts a type of file. A field without its own formats accepts all allowed types. */
const accepts = ({ acceptedFormat }: Data, extension: string): boolean => {
  const formats = (acceptedFormat ?? []) as ReadonlyArray<string>
  return formats.length === 0 || formats.some((format) => format.toLowerCase() === `.${extension}`)
}

const maxBytes = 50 * 1024 * 1024

const allowed = "pdf doc docx jpg jpeg png gif csv xls xlsx mp4 mpeg zip rar txt svg".split(" ")
