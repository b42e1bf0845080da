import { invalid } from "../../http/errors.ts"
import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { anything, choice, flag, described, email, record, required, text } from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { editorContentUrl } from "./content.ts"
import { emailKind, html } from "./seeded-emails.ts"
import { dropUndefined, addRecord, changeRecord, checkReference, find, notFoundById } from "../records.ts"

const path = "/emails/locations/:locationId/templates"
const [reads, writes] = ["emails/templates.readonly", "emails/templates.write"]
const traced = { traceId: text }
const senders = { previewText: text, subjectLine: text, fromName: text, fromEmail: email, userId: text }

/** Operations on one email template, and the creation of folders (B 4.1). */
export const emailTemplateRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: `${path}`,
    summary: "Create a template",
    scope: writes!,
    location: { in: "path", name: "locationId" },
    isNew: true,
    status: 201,
    body: {
      name: required(text),
      editorType: required(choice("html", "text")),
      editorContent: text,
      parentFolderId: text,
      ...senders
    },
    ignoresNull: true,
    returns: record("EmailTemplate"),
    handle: ({ body, traceId }, service) => {
      const { editorContent, userId, ...fields } = body
      checkReference(service.world.users, userId, "userId")
      return written(create(service, { ...fields, content: editorContent ?? "" }), traceId, service)
    }
  },
  {
    method: "POST",
    path: `${path}/folders`,
    summary: "Create a folder",
    scope: writes!,
    location: { in: "path", name: "locationId" },
    isNew: true,
    status: 201,
    body: { name: required(text), userId: text },
    ignoresNull: true,
    returns: record("EmailTemplateFolder"),
    handle: ({ body, traceId }, service) => {
      const { emailTemplates } = service.world
      checkReference(service.world.users, body["userId"], "userId")
      const row = addRecord(service, emailTemplates, { name: body["name"] }, { kind: emailKind.folder, plain: true })
      return { ...emailTemplates.data(row), traceId }
    }
  },
  {
    method: "POST",
    path: `${path}/import`,
    summary: "Import a template of another provider from its public address",
    scope: writes!,
    location: { in: "path", name: "locationId" },
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
    ignoresNull: true,
    returns: record("EmailTemplate"),
    handle: ({ body, traceId }, service) => {
      const { importUrl, name = "Imported template", parentFolderId, userId } = body
      checkReference(service.world.users, userId, "userId")
      const content = html(String(name), `Imported from ${String(importUrl)}`)
      return written(create(service, { name, parentFolderId, editorType: "html", content }), traceId, service)
    }
  },
  {
    method: "GET",
    path: `${path}/:templateId`,
    summary: "Get a template",
    scope: reads!,
    location: { in: "path", name: "locationId" },
    isNew: true,
    returns: record("EmailTemplate"),
    handle: ({ params, traceId }, service) => {
      const { emailTemplates } = service.world
      const row = findTemplate(service, params["templateId"]!)
      return extend(emailTemplates.full(row), {
        editorContentUrl: editorContentUrl(service, "template", row.id!),
        traceId
      })
    }
  },
  {
    method: "PATCH",
    path: `${path}/:templateId`,
    summary: "Change, move or archive a template",
    scope: writes!,
    location: { in: "path", name: "locationId" },
    isNew: true,
    body: {
      name: text,
      editorContent: text,
      editorType: choice("html", "text"),
      archived: flag,
      parentFolderId: described(anything, "A folder id, or null for the top level."),
      ...senders
    },
    ignoresNull: true,
    returns: record("EmailTemplate"),
    handle: ({ body, params, traceId }, service) => {
      const old = findTemplate(service, params["templateId"]!)
      const { editorContent, subjectLine, userId, ...rest } = body
      checkReference(service.world.users, userId, "userId")
      if ((editorContent === undefined) !== (rest["editorType"] === undefined)) {
        throw invalid("editorContent and editorType must be sent together")
      }
      checkFolder(service, rest["parentFolderId"])
      const type = rest["editorType"] === undefined ? {} : { isPlainText: rest["editorType"] === "text" }
      const fields = { ...dropUndefined({ ...rest, content: editorContent, subject: subjectLine }), ...type }
      const top = rest["parentFolderId"] === null ? { parentFolderId: undefined } : {}
      const row = changeRecord(service, service.world.emailTemplates, old, { ...fields, ...top })
      return {
        ...written(row, traceId, service),
        archived: service.world.emailTemplates.data(row)["archived"]
      }
    }
  },
  {
    method: "DELETE",
    path: `${path}/:templateId`,
    summary: "Delete a template",
    scope: writes!,
    location: { in: "path", name: "locationId" },
    isNew: true,
    returns: { deleted: flag, ...traced },
    handle: ({ params, traceId }, service) => {
      service.world.emailTemplates.remove(findTemplate(service, params["templateId"]!))
      return { deleted: true, traceId }
    }
  }
]

const findTemplate = ({ world }: Service, id: string): Entry => {
  const row = find(world.emailTemplates, id, "Template")
  if (row.kind !== emailKind.template) throw notFoundById("Template", id)
  return row
}

/** Campaigns use the same folders. */
export const checkFolder = ({ world }: Service, id: unknown): void => {
  if (id === undefined || id === null) return
  if (world.emailTemplates.get(String(id))?.kind !== emailKind.folder) {
    throw invalid("parentFolderId is not valid")
  }
}

const create = (service: Service, { subjectLine, ...fields }: Data): Entry => {
  checkFolder(service, fields["parentFolderId"])
  const rest = { isPlainText: fields["editorType"] === "text", subject: subjectLine, deleted: false, archived: false }
  return addRecord(service, service.world.emailTemplates, { ...fields, ...rest }, { plain: true })
}

/** Responses to writes name it `subjectLine`, reads name it `subject` (B 2.1). */
const written = (row: Entry, traceId: string, service: Service): Data => {
  const { archived: _, content: __, previewUrl: ___, subject, ...rest } = service.world.emailTemplates.data(row)
  const url = editorContentUrl(service, "template", row.id!)
  return { ...rest, subjectLine: subject, editorContentUrl: url, traceId }
}
