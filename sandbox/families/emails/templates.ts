import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { between, choice, described, flag, integer, record, text } from "../../http/shape.ts"
import { type Data, type Entry, type Filter, byUpdated } from "../../account/collection.ts"
import { containsText, windowOf } from "../../http/lists.ts"
import { editorContentUrl } from "./content.ts"
import { emailKind } from "./seeded-emails.ts"
import { find, notFoundById } from "../records.ts"

/** Email templates, and the one list of them and their folders (B 4.1). */
export const emailTemplateRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/emails/locations/:locationId/templates",
    summary: "List templates and folders",
    scope: "emails/templates.readonly",
    location: { in: "path", name: "locationId" },
    isNew: true,
    query: {
      limit: described(between(integer, 1, 20), "Default 10."),
      offset: described(between(integer, 0), "Default 0."),
      search: text,
      sortBy: choice("updatedAt"),
      sortOrder: described(choice("asc", "desc"), "Default desc."),
      archived: described(flag, "Default false."),
      folderId: described(text, "`root` for the top level."),
      include: described(choice("templates", "folders", "all"), "Default all.")
    },
    returns: { items: { type: "array", items: record("EmailTemplateListItem") }, total: integer, traceId: text },
    handle: ({ query, traceId }, service) => {
      const rows = service.world.emailTemplates.sorted(byUpdated, listed(query, service))
      const ordered = query["sortOrder"] === "asc" ? rows : rows.toReversed()
      const items = windowOf(query, ordered).map((row) => listItem(row, service))
      return { items, total: rows.length, traceId }
    }
  },
  {
    method: "GET",
    path: "/emails/locations/:locationId/templates/:templateId",
    summary: "Get a template",
    scope: "emails/templates.readonly",
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
  }
]

const findTemplate = ({ world }: Service, id: string): Entry => {
  const row = find(world.emailTemplates, id, "Template")
  if (row.kind !== emailKind.template) throw notFoundById("Template", id)
  return row
}

/** Folders are never archived, so the archived list has none. */
const listed = (query: Data, { world }: Service): Filter => {
  const { archived = false, folderId, include = "all", search } = query
  const test: Filter["test"] = (row) => {
    const isFolder = row.kind === emailKind.folder
    if (include !== "all" && isFolder !== (include === "folders")) return false
    const data = world.emailTemplates.data(row)
    const parent = data["parentFolderId"] ?? "root"
    return (
      (data["archived"] ?? false) === archived &&
      (folderId === undefined || parent === folderId) &&
      containsText(search, data["name"])
    )
  }
  return { key: JSON.stringify([archived, folderId, include, search]), test }
}

const listItem = (row: Entry, { world }: Service): Data => {
  const { emailTemplates } = world
  const { createdAt, editorType, id, isPlainText, name, parentFolderId, previewUrl, updatedAt } =
    emailTemplates.data(row)
  const shared = { parentFolderId, createdAt, updatedAt }
  if (row.kind === emailKind.template) {
    return { id, name, type: "template", editorType, isPlainText, previewUrl, ...shared }
  }
  const inside = (other: Entry): boolean => emailTemplates.data(other)["parentFolderId"] === id
  const childCount = emailTemplates.live().filter(inside).toArray().length
  return { id, name, type: "folder", childCount, hasChildren: childCount > 0, ...shared }
}
