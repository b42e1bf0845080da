import {
  alias,
  choice,
  content,
  flag,
  id,
  instant,
  oneOf,
  ref,
  rows,
  text,
  transport,
  values
} from "#catalog/fields.ts"
import { cursorOr, get, post, size, windowEnd, windowStart } from "#catalog/request.ts"
import { define } from "#catalog/resource.ts"

export const socialPosts = define({
  table: "social_posts",
  description: "Posts on social networks: drafts, scheduled, published and deleted.",
  source: "B 2.5, B 4.7 POST /social-media-posting/{locationId}/posts/list",
  scope: "socialplanner/post.readonly",
  // Posts show no date of change, and which of their dates the window goes by is not documented, so all are read. What is
  // scheduled lies ahead. The service takes its numbers as text. The users have a table of their own.
  full: [
    {
      request: post("/social-media-posting/{location}/posts/list", {
        skip: { ...cursorOr("0"), as: "text" },
        limit: { ...size, as: "text" },
        fromDate: windowStart("iso"),
        toDate: windowEnd("iso"),
        includeUsers: "false"
      }),
      paging: { kind: "offset" },
      records: "results.posts",
      pageSize: 100,
      probeSize: 500,
      total: "results.count",
      windows: { from: "2000-01-01", aheadDays: 730 }
    }
  ],
  // Deleted posts are shown only where they are asked for.
  passes: {
    all: { columns: { deleted: false } },
    deleted: { parameters: { type: "deleted" }, columns: { deleted: true } }
  },
  tombstone: "deleted",
  single: get("/social-media-posting/{location}/posts/{parent}"),
  fields: {
    id: id("Post id"),
    _id: alias("id"),
    type: oneOf(["post", "story", "reel"]),
    summary: content("Text of the post"),
    status: choice("`draft`, `scheduled`, `published`, `failed`, `in_review`, …"),
    scheduleDate: instant("When it is to appear"),
    userId: ref("users", "Who wrote it"),
    deleted: flag("Removed"),
    locationId: ref("locations", "The location", { column: "location_id" }),
    traceId: transport,
    accountIds: values(
      "social_post_accounts",
      "Accounts each post goes to.",
      "account_id",
      ref("social_accounts", "The account")
    ),
    media: rows("social_post_media", "Pictures and videos of each post.", {
      url: text("Link to it", { personal: "content" }),
      type: text("MIME type")
    })
  }
})
