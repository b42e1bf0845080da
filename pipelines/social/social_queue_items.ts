import {
  boolean,
  content,
  count,
  decimal,
  id,
  identifier,
  ignored,
  instant,
  json,
  ref,
  rows,
  text
} from "#catalog/fields.ts"
import { cursorOr, location, post, size } from "#catalog/request.ts"
import { byOffset, defineChild } from "#catalog/resource.ts"

export const socialQueueItems = defineChild({
  table: "social_queue_items",
  description: "Posts in each queue, in order.",
  source: "C 18.4 POST /social-media-posting/category/queues/{queueId}/items",
  scope: "socialplanner/category.readonly",
  unproven: true,
  singleReads: "never",
  childOf: {
    table: "social_category_queues",
    column: "queue_id",
    refreshAfter: "7 days",
    strategy: byOffset(
      post("/social-media-posting/category/queues/{queueId}/items", {
        locationId: location,
        skip: cursorOr(0),
        limit: size
      }),
      { records: "results.items", pageSize: 100, total: "results.meta.count" }
    )
  },
  fields: {
    _id: id("Item id"),
    queueId: ref("social_category_queues", "Its queue"),
    order: decimal("Place in the queue", { column: "sort_order" }),
    postId: ref("social_posts", "The post"),
    variations: rows("social_queue_texts", "Texts of each post, which appear by turns.", {
      _id: identifier("Id of the text", { column: "id" }),
      content: content("The text"),
      mentions: json("Who is mentioned, as sent", { personal: "direct" }),
      ogTags: json("Preview of a link, as sent")
    }),
    primaryImage: text("Picture, as a link", { role: "file" }),
    errors: json("Why it did not appear, as sent", { personal: "content" }),
    scheduledDateTime: instant("When it is to appear"),
    scheduledVariationIndex: count("Text that comes next, from 0"),
    isSkipped: boolean("It is left out"),
    post: ignored
  }
})
