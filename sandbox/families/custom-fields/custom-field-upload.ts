import { HttpError, invalid } from "../../http/errors.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { list, object, required, text } from "../../http/shape.ts"

/** POST /locations/{locationId}/customFields/upload (A 4.3). */
export const customFieldUploadRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/locations/:locationId/customFields/upload",
    scope: "locations/customFields.write",
    location: { in: "path", name: "locationId" },
    summary: "Upload files for a custom field",
    form: { id: required(text), maxFiles: text },
    returns: {
      uploadedFiles: object(),
      meta: list(object({ fieldname: text, originalname: text, encoding: text, mimetype: text, url: text }))
    },
    errors: [413],
    handle: (call, service) => upload(call, service)
  }
]

/** Stores the names and sizes of the files, but not the files. */
const upload = ({ parts }: Call, { random, world }: Service): Answer => {
  const value = (name: string): string =>
    parts.map((part) => (part.name === name && "value" in part ? part.value : "")).find((sent) => sent !== "") ?? ""
  const [id, maxFiles] = [value("id"), value("maxFiles")]
  if (id === "") throw invalid("id should not be empty")
  const owners = [world.contacts, world.opportunities, world.customFields]
  if (owners.every((owner) => owner.get(id) === undefined)) throw invalid("id is not valid")
  if (maxFiles !== "" && !/^[1-9]\d*$/.test(maxFiles)) throw invalid("maxFiles must be a number string")
  const files = parts.filter((part) => "fileName" in part)
  if (files.length === 0) throw invalid("at least one file must be sent")
  if (maxFiles !== "" && files.length > Number(maxFiles)) throw invalid(`no more than ${maxFiles} files can be sent`)
  const large = files.find((file) => file.size > maxFileBytes)
  if (large !== undefined) throw new HttpError(413, `The file ${large.fileName} is larger than 5 MB`)
  const meta = files.map((file) => ({
    fieldname: file.name,
    originalname: file.fileName,
    encoding: "7bit",
    mimetype: file.mimeType === "" ? "application/octet-stream" : file.mimeType,
    size: file.size,
    url: `https://files.example/${random.id()}/${encodeURIComponent(file.fileName)}`
  }))
  return { uploadedFiles: Object.fromEntries(meta.map((file) => [file.originalname, file.url])), meta }
}

/** The documents give only the limit of attachments in conversations (A 8). */
const maxFileBytes = 5_000_000
