import { membersOf } from "#catalog/json.ts"
import { alias, boolean, id, text, changed, created } from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList, succeeded } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"

/** The service may send a tag as an object with an id, as an object without one, or as a text; then its name is the id. */
const withId = (sent: unknown): unknown => {
  if (typeof sent !== "object" || sent === null) return { id: sent, name: sent }
  const { id, _id, tag, name } = membersOf(sent)
  return { ...sent, id: id ?? _id ?? tag ?? name }
}

export const socialTags = defineList({
  table: "social_tags",
  description: "Tags on social posts.",
  source: "B 2.5, B 4.7 GET /social-media-posting/{locationId}/tags",
  scope: "socialplanner/tag.readonly",
  full: [
    byOffset(get("/social-media-posting/{locationId}/tags", { limit: size, skip: cursorOr(0) }), {
      records: "results.tags",
      beside: succeeded,
      total: "results.count"
    })
  ],
  isReshaped: true,
  transform: (sent) => [withId(sent)],
  tombstone: "deleted",
  fields: {
    id: id("Tag id, or the tag itself where it has none"),
    _id: alias("id"),
    name: text("The tag"),
    tag: alias("name"),
    primaryColor: text("Colour of its background"),
    secondaryColor: text("Colour of its text"),
    createdBy: actor("created_by", "Who made it"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    deleted: boolean("Removed")
  }
})
