/** The statistics of three kinds of campaigns: tables that differ only in their parents. */
import { count, decimal, identifier, object, openEnum, snakeCase } from "./fields.ts"
import { get } from "./request.ts"
import { type ChildOf, defineChild, oneRecord } from "./resource.ts"

/** How often the emails of a campaign were sent, opened and so on (C 7.3). */
const counts = {
  sent: "Emails delivered, accepted or bounced",
  accepted: "Emails accepted by the receiving server",
  delivered: "Emails delivered",
  opened: "Emails opened",
  clicked: "Emails with a link that was clicked",
  replied: "Emails answered",
  unsubscribed: "Receivers who unsubscribed",
  complained: "Complaints about spam",
  permanentFail: "Bounces for good",
  temporaryFail: "Bounces for now",
  rejected: "Emails that were rejected",
  failed: "Emails that were not sent"
}
const rates = {
  openRate: "Per cent of the delivered that were opened",
  clickRate: "Per cent of the delivered with a click",
  replyRate: "Per cent of the delivered that were answered",
  unsubscribeRate: "Per cent of the delivered after which the receiver unsubscribed",
  complaintRate: "Per cent of the delivered with a complaint",
  bounceRate: "Per cent of the sent that bounced"
}

const columnsOf = (sentences: Readonly<Record<string, string>>, field: typeof count) =>
  Object.fromEntries(
    Object.entries(sentences).map(([name, sentence]) => [name, field(sentence, { column: snakeCase(name) })])
  )

/** Statistics of campaigns: one request for each row of `table` that has sent something. */
export const campaignStatistics = (
  statistics: string,
  source: string,
  parents: Pick<ChildOf, "table" | "where"> & Partial<ChildOf>
) =>
  defineChild({
    table: statistics,
    description: `How often the emails of ${parents.table} were delivered, opened, clicked and answered, in all.`,
    source: "C 7.3 GET /emails/locations/{locationId}/campaigns/stats/{source}/{sourceId}",
    scope: "emails/stats.readonly",
    unproven: true,
    singleReads: "never",
    key: ["source_id"],
    // The numbers grow for weeks. Nothing was sent yet if there are none.
    childOf: {
      column: "source_id",
      ids: "source_id",
      refreshAfter: "4 days",
      noneIsError: true,
      strategy: oneRecord({
        request: get(`/emails/locations/{locationId}/campaigns/stats/${source}/{sourceId}`),
        record: ""
      }),
      ...parents
    },
    fields: {
      source: openEnum("Kind of campaign"),
      sourceId: identifier("Id the statistics are kept under; `source_id` of the campaign or version"),
      stats: object({ ...columnsOf(counts, count), ...columnsOf(rates, decimal) })
    }
  })
