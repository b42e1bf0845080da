import { changed, content, count, enumeration, identifier, instant, storedFile, text } from "#catalog/fields.ts"
import { defineFiles } from "#catalog/resource.ts"

const personal = { personal: "content" } as const

export const files = defineFiles({
  table: "files",
  description: "Files behind the links of other tables: one row per link of a record, with what became of it.",
  source: "A 2.9, A 4.9, B 2.1, B 2.5 the links in the records",
  scope: "any",
  enabledBy: "files",
  version: "checkedAt",
  person: { owner: { table: "table_name", key: "record_id" } },
  fields: {
    id: identifier("Made of table, record, column and link", { column: "id" }),
    tableName: identifier("Table of the record"),
    recordId: identifier("Key of the record in its table"),
    columnName: identifier("Column that has the link; of a child table, with its name: `message_attachments.url`"),
    position: count("Place among the links of the record in this column, from 0"),
    url: text("The link that was requested", personal),
    link: text("The link without what expires: two links that are alike here lead to the same file", personal),
    status: enumeration(
      ["fetched", "gone", "refused", "too large", "not public", "not chosen", "failed"],
      "What became of it"
    ),
    reason: text("Why it was not fetched", personal),
    path: storedFile("Where the file lies in the output folder; files with the same content share it"),
    bytes: count("Size in bytes; of a file that is too large, as announced"),
    sha256: text("SHA-256 of the file, hexadecimal", personal),
    contentType: text("MIME type that the host gave"),
    foundType: text("MIME type that the first bytes of the file show; NULL if they show none"),
    name: content("Name of the file, where the record has one"),
    etag: identifier("Version of the file, as the host gave it"),
    lastModified: text("When the file was last changed, as the host gave it"),
    fetchedAt: instant("When it was fetched"),
    missingSince: instant("When the host first answered that there is no such file"),
    checkedAt: changed("When it was last requested")
  }
})
