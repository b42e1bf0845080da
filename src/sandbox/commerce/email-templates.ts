import { invalid } from "../errors.ts"
import { extend } from "../pages.ts"
import type { Route, Service } from "../route.ts"
import { anything, choice, flag, described, email, record, required, text } from "../shape.ts"
import type { Data, Entry } from "../world/collection.ts"
import { editorContentUrl } from "./email-content.ts"
import { given, operation } from "./operation.ts"
import { emailKind, html } from "./world/emails.ts"
import { addRecord, changeRecord, find, refer, unknown } from "./write.ts"

const path = "/emails/locations/:locationId/templates"
const [reads, writes] = ["emails/templates.readonly", "emails/templates.write"]
const traced = { traceId: text }
const senders = { previewText: text, subjectLine: text, fromName: text, fromEmail: email, userId: text }

/** One email template at a time, and new folders (B 4.1). */
export const emailTemplateRoutes: ReadonlyArray<Route> = [
  operation({
    does: `POST ${path}`,
    summary: "Create a template",
    scope: writes!,
    account: "path",
    isNew: true,
    status: 201,
    body: {
      name: required(text),
      editorType: required(choice("html", "text")),
      editorContent: text,
      parentFolderId: text,
      ...senders
    },
    returns: record("EmailTemplate"),
    handle: ({ body, traceId }, service) => {
      const { editorContent, userId, ...fields } = body
      refer(service.world.users, userId, "userId")
      return written(create(service, { ...fields, content: editorContent ?? "" }), traceId, service)
    }
  }),
  operation({
    does: `POST ${path}/folders`,
    summary: "Create a folder",
    scope: writes!,
    account: "path",
    isNew: true,
    status: 201,
    body: { name: required(text), userId: text },
    returns: record("EmailTemplateFolder"),
    handle: ({ body, traceId }, service) => {
      const { emailTemplates } = service.world.commerce
      refer(service.world.users, body["userId"], "userId")
      const row = addRecord(service, emailTemplates, { name: body["name"] }, { kind: emailKind.folder, plain: true })
      return { ...emailTemplates.data(row), traceId }
    }
  }),
  operation({
    does: `POST ${path}/import`,
    summary: "Import a template of another provider from its public address",
    scope: writes!,
    account: "path",
    isNew: true,
    status: 201,
    body: {
      // The documents hide the names of the two providers behind these.
      importProvider: required(choice("provider_a", "provider_b")),
      importUrl: required({ type: "string", format: "uri" }),
      name: text,
      parentFolderId: text,
      userId: text
    },
    returns: record("EmailTemplate"),
    handle: ({ body, traceId }, service) => {
      const { importUrl, name = "Imported template", parentFolderId, userId } = body
      refer(service.world.users, userId, "userId")
      const content = html(String(name), `Imported from ${String(importUrl)}`)
      return written(create(service, { name, parentFolderId, editorType: "html", content }), traceId, service)
    }
  }),
  operation({
    does: `GET ${path}/:templateId`,
    summary: "Get a template",
    scope: reads!,
    account: "path",
    isNew: true,
    returns: record("EmailTemplate"),
    handle: ({ params, traceId }, service) => {
      const { emailTemplates } = service.world.commerce
      const row = findTemplate(service, params["templateId"]!)
      return extend(emailTemplates.full(row), {
        editorContentUrl: editorContentUrl(service, "template", row.id!),
        traceId
      })
    }
  }),
  operation({
    does: `PATCH ${path}/:templateId`,
    summary: "Change, move or archive a template",
    scope: writes!,
    account: "path",
    isNew: true,
    body: {
      name: text,
      editorContent: text,
      editorType: choice("html", "text"),
      archived: flag,
      parentFolderId: described(anything, "A folder id, or null for the top level."),
      ...senders
    },
    returns: record("EmailTemplate"),
    handle: ({ body, params, traceId }, service) => {
      const old = findTemplate(service, params["templateId"]!)
      const { editorContent, subjectLine, userId, ...rest } = body
      refer(service.world.users, userId, "userId")
      if ((editorContent === undefined) !== (rest["editorType"] === undefined)) {
        throw invalid("editorContent and editorType must be sent together")
      }
      checkFolder(service, rest["parentFolderId"])
      const type = rest["editorType"] === undefined ? {} : { isPlainText: rest["editorType"] === "text" }
      const fields = { ...given({ ...rest, content: editorContent, subject: subjectLine }), ...type }
      const top = rest["parentFolderId"] === null ? { parentFolderId: undefined } : {}
      const row = changeRecord(service, service.world.commerce.emailTemplates, old, { ...fields, ...top })
      return {
        ...written(row, traceId, service),
        archived: service.world.commerce.emailTemplates.data(row)["archived"]
      }
    }
  }),
  operation({
    does: `DELETE ${path}/:templateId`,
    summary: "Delete a template",
    scope: writes!,
    account: "path",
    isNew: true,
    returns: { deleted: flag, ...traced },
    handle: ({ params, traceId }, service) => {
      service.world.commerce.emailTemplates.remove(findTemplate(service, params["templateId"]!))
      return { deleted: true, traceId }
    }
  })
]

const findTemplate = ({ world }: Service, id: string): Entry => {
  const row = find(world.commerce.emailTemplates, id, "Template")
  if (row.kind !== emailKind.template) throw unknown("Template", id)
  return row
}

/** Campaigns are kept in the same folders. */
export const checkFolder = ({ world }: Service, id: unknown): void => {
  if (id === undefined || id === null) return
  if (world.commerce.emailTemplates.get(String(id))?.kind !== emailKind.folder) {
    throw invalid("parentFolderId is not valid")
  }
}

const create = (service: Service, { subjectLine, ...fields }: Data): Entry => {
  checkFolder(service, fields["parentFolderId"])
  const rest = { isPlainText: fields["editorType"] === "text", subject: subjectLine, deleted: false, archived: false }
  return addRecord(service, service.world.commerce.emailTemplates, { ...fields, ...rest }, { plain: true })
}

/** Answers to writes say `subjectLine` where reads say `subject` (B 2.1). */
const written = (row: Entry, traceId: string, service: Service): Data => {
  const {
    archived: _,
    content: __,
    previewUrl: ___,
    subject,
    ...rest
  } = service.world.commerce.emailTemplates.data(row)
  const url = editorContentUrl(service, "template", row.id!)
  return { ...rest, subjectLine: subject, editorContentUrl: url, traceId }
}
