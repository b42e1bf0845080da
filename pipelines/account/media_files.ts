import { alias, boolean, changed, count, created, id, identifier, openEnum, text } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

export const mediaFiles = defineList({
  table: "media_files",
  description: "Files and folders of the account.",
  source: "C 14 GET /medias/files",
  scope: "medias.readonly",
  unproven: true,
  full: [
    byOffset(
      get("/medias/files", {
        ...altLocation,
        sortBy: "createdAt",
        sortOrder: "asc",
        fetchAll: "true",
        limit: size,
        offset: cursorOr(0)
      }),
      { records: "files", pageSize: 100 }
    )
  ],
  partitions: {
    file: { parameters: { type: "file" }, columns: { type: "file" } },
    folder: { parameters: { type: "folder" }, columns: { type: "folder" } }
  },
  tombstone: "deleted",
  fields: {
    _id: id("File id"),
    id: alias("_id"),
    type: openEnum("`file` or `folder`"),
    name: text("Name", { personal: "content" }),
    parentId: identifier("Folder it lies in"),
    url: text("Link to the file", { role: "file" }),
    path: text("Path at the service"),
    contentType: text("MIME type, where sent"),
    size: count("Size in bytes, where sent"),
    category: openEnum("Kind of file, where sent"),
    isPrivate: boolean("Not public"),
    deleted: boolean("Removed"),
    createdAt: created("When it was added"),
    updatedAt: changed("Last change"),
    ...altFields
  }
})
