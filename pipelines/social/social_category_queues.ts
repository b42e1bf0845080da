import {
  boolean,
  changed,
  count,
  created,
  enumeration,
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
import { byOffset, defineList } from "#catalog/resource.ts"

export const socialCategoryQueues = defineList({
  table: "social_category_queues",
  description: "Queues from which posts of a category appear by turns.",
  source: "C 18.3 POST /social-media-posting/category/queues/list",
  scope: "socialplanner/category.readonly",
  unproven: true,
  full: [
    byOffset(
      post("/social-media-posting/category/queues/list", { locationId: location, skip: cursorOr(0), limit: size }),
      {
        records: "results.queues",
        beside: { success: "true", statusCode: "ok", message: "text" },
        pageSize: 100,
        total: "results.meta.count"
      }
    )
  ],
  version: "updatedAt",
  fields: {
    _id: id("Queue id"),
    categoryId: ref("social_categories", "Its category"),
    timeSlots: rows("social_queue_slots", "When posts of each queue appear.", {
      dayOfWeek: count("Day of the week, from 0"),
      time: text("Time of the day, HH:mm")
    }),
    enableFuturePosts: boolean("Later posts of the category join it"),
    prioritizeNewContent: boolean("New posts come first"),
    currentOrder: count("Place of the next post"),
    status: enumeration(["active", "paused", "draft"]),
    startDate: instant("When it begins"),
    skipDateTime: json("Times that are left out, as sent"),
    currentPostId: identifier("Post that comes next"),
    totalPosts: count("Posts in it"),
    lastScheduledTime: instant("Last time that was planned"),
    createdBy: ref("users", "Who made it", { column: "created_by_id" }),
    category: ignored,
    createdAt: created("When it was made"),
    updatedAt: changed("Last change")
  }
})
