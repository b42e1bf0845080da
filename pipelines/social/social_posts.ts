import { alias, openEnum, content, boolean, id, instant, json, enumeration, ref, rows, text } from "#catalog/fields.ts"
import { values, changed, created, identifier } from "#catalog/fields.ts"
import { cursorOr, get, post, size, windowEnd, windowStart } from "#catalog/request.ts"
import { byOffset, defineList, succeeded } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"

export const socialPosts = defineList({
  table: "social_posts",
  description: "Posts on social networks: drafts, scheduled, published and deleted.",
  source: "B 2.5, B 4.7 POST /social-media-posting/{locationId}/posts/list",
  scope: "socialplanner/post.readonly",
  // No change timestamp is documented, nor the date by which the window filters, so every sync reads all posts. The window
  // ends in two years because posts are scheduled ahead. The service expects numbers as text. Users have their own table.
  full: [
    byOffset(
      post("/social-media-posting/{locationId}/posts/list", {
        skip: { ...cursorOr("0"), as: "text" },
        limit: { ...size, as: "text" },
        fromDate: windowStart("iso"),
        toDate: windowEnd("iso"),
        includeUsers: "false"
      }),
      {
        records: "results.posts",
        beside: succeeded,
        total: "results.count",
        windows: { from: "2000-01-01", ahead: "730 days" }
      }
    )
  ],
  // The list contains deleted posts only if they are requested.
  partitions: {
    all: { columns: { deleted: false } },
    deleted: { parameters: { type: "deleted" }, columns: { deleted: true } }
  },
  version: "updatedAt",
  tombstone: "deleted",
  getOne: { request: get("/social-media-posting/{locationId}/posts/{postId}"), record: "results.post" },
  fields: {
    id: id("Post id"),
    _id: alias("id"),
    type: enumeration(["post", "story", "reel"]),
    summary: content("Text of the post"),
    status: openEnum("`draft`, `scheduled`, `published`, `failed`, `in_review`, …"),
    platform: openEnum("The network"),
    accountId: ref(
      "social_accounts",
      "Account it goes to, if the service sends a post for each; social_post_accounts has them otherwise"
    ),
    parentPostId: ref("social_posts", "Post it is a part of"),
    postId: identifier("Id of the post at the network"),
    scheduleDate: instant("When it is to appear"),
    displayDate: instant("Date shown with it"),
    publishedAt: instant("When it appeared"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    error: text("Why it did not appear", { personal: "content" }),
    insights: json("Figures of the network, as sent"),
    source: openEnum("What made it"),
    categoryId: ref("social_categories", "Its category"),
    createdBy: actor("created_by", "Who made it"),
    tags: values("social_post_tags", "Tags of each post.", "tag_id", ref("social_tags", "The tag")),
    userId: ref("users", "Who wrote it"),
    deleted: boolean("Removed"),
    accountIds: values(
      "social_post_accounts",
      "Accounts each post goes to.",
      "account_id",
      ref("social_accounts", "The account")
    ),
    media: rows("social_post_media", "Pictures and videos of each post.", {
      url: text("Link to it", { role: "file" }),
      type: text("MIME type"),
      id: identifier("Id of the file, where sent", { column: "media_id" }),
      caption: content("Text shown with it"),
      thumbnail: text("Preview, as a link", { role: "file" })
    })
  }
})
